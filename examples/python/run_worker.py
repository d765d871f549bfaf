#!/usr/bin/env python3
"""A worker for runs: SKERRY_KEY=… python3 run_worker.py http://127.0.0.1:7480/ns/acme shout"""
import json, os, signal, sys, threading, time, urllib.request, uuid

stopping = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stopping.set())


def post(path, **document):
    """Sends a request, and again with the same Idempotency-Key while that may help."""
    headers = {"Authorization": "Bearer " + os.environ["SKERRY_KEY"], "Idempotency-Key": str(uuid.uuid4())}
    request = urllib.request.Request(sys.argv[1] + "/api/v2/quanta" + path, json.dumps(document).encode(), headers)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except OSError as e:  # refused with a code, or without an answer
            if getattr(e, "code", 503) == 409:
                return {"cancel_requested": True}  # the quantum is another's, or over
            if getattr(e, "code", 503) not in (429, 503) or stopping.is_set():
                raise
            time.sleep(float(getattr(e, "headers", {}).get("Retry-After", 1)))


def keep(quantum, over):
    """Heartbeats at a third of the lease until the quantum is over, lost or cancelled."""
    while not over.wait(quantum["ttl_ms"] / 3000):
        if post(f"/{quantum['id']}:heartbeat", fence=quantum["fence"])["cancel_requested"]:
            over.set()


def work(item, over):
    """The work itself: waits as the item says, and shouts. Work that takes long looks at over."""
    try:
        over.wait(item["payload"].get("seconds", 0))
        return {"id": item["id"], "status": "succeeded", "result": {"text": item["payload"]["text"].upper()}}
    except Exception as e:
        return {"id": item["id"], "status": "failed", "error": {"code": "worker_error", "message": repr(e)}}


while not stopping.is_set():
    answer = post(":claim", pool="durable", kinds=[sys.argv[2]], wait_ms=5000)
    held = [(quantum, threading.Event()) for quantum in [answer.get("quantum"), *answer.get("also", [])] if quantum]
    for one in held:
        threading.Thread(target=keep, args=one, daemon=True).start()
    try:
        for quantum, over in held:
            for item in quantum["items"]:
                if not over.is_set() and not stopping.is_set():
                    post(f"/{quantum['id']}:commit", fence=quantum["fence"], results=[work(item, over)])
    finally:
        for quantum, over in held:
            over.set()
            post(f"/{quantum['id']}:release", fence=quantum["fence"])
