#!/usr/bin/env python3
"""A worker for durable runs in Python's standard library: counts the words of each item.

    SKERRY_KEY=… python3 run_worker.py http://127.0.0.1:7480/ns/acme words
"""
import json, os, sys, threading, time, urllib.error, urllib.request

base, kind = sys.argv[1] + "/api/v2", sys.argv[2]


def post(path, document):
    """Sends a request, and again while that may help: what a fence committed it may commit again."""
    request = urllib.request.Request(base + path, json.dumps(document).encode(), {"x-api-key": os.environ["SKERRY_KEY"]})
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            refusal = json.load(e)["error"]
            if not refusal["retryable"]:
                raise RuntimeError(refusal["code"]) from e
            time.sleep(refusal.get("retry_after_ms", 1000) / 1000)
        except OSError:
            time.sleep(1)  # the server is starting again; a quantum that was lost comes back after its lease


def keep(quantum, over):
    """Heartbeats at a third of the lease until the work is over, by itself or for good."""
    while not over.wait(quantum["ttl_ms"] / 3000):
        try:
            if post(f"/quanta/{quantum['id']}:heartbeat", {"fence": quantum["fence"]})["cancel_requested"]:
                over.set()
        except RuntimeError:
            over.set()  # lost


def work(item):
    """The work itself: a result is an object; an exception fails the item."""
    return {"words": len(item["payload"]["text"].split())}


while True:
    quantum = post("/quanta:claim", {"pool": "durable", "kinds": [kind], "wait_ms": 30000})["quantum"]
    if not quantum:
        continue
    mine, over = {"fence": quantum["fence"]}, threading.Event()
    threading.Thread(target=keep, args=(quantum, over), daemon=True).start()
    try:
        for item in quantum["items"]:
            if over.is_set():
                break
            try:
                done = {"id": item["id"], "status": "succeeded", "result": work(item)}
            except Exception as e:
                done = {"id": item["id"], "status": "failed", "error": {"message": repr(e)}}
            post(f"/quanta/{quantum['id']}:commit", mine | {"results": [done]})
        else:
            continue
        post(f"/quanta/{quantum['id']}:release", mine)
    except RuntimeError as e:
        print("not accepted:", e, file=sys.stderr)  # somebody else has it: on to the next
    finally:
        over.set()
