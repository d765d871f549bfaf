#!/usr/bin/env python3
"""A worker in Python's standard library: it claims, heartbeats and submits.

    SKERRY_KEY=… python3 worker.py http://127.0.0.1:7480/ns/acme shout
"""
import base64, json, os, random, sys, threading, time, urllib.error, urllib.parse, urllib.request, uuid

base, kind, clock = sys.argv[1] + "/api/v2", sys.argv[2], time.monotonic
identity = {"Authorization": "Bearer " + os.environ["SKERRY_KEY"]}


def post(path, document, until=float("inf")):
    """Sends a request, and again with the same Idempotency-Key while that may help."""
    headers = identity | {"Idempotency-Key": str(uuid.uuid4())}
    request = urllib.request.Request(base + path, json.dumps(document).encode(), headers)
    while True:
        pause = 1.0
        try:
            with urllib.request.urlopen(request, timeout=max(0.1, min(60, until - clock()))) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            refusal = json.load(e)["error"]
            if not refusal["retryable"]:
                raise RuntimeError(refusal["code"]) from e
            pause = refusal.get("retry_after_ms", 1000) / 1000
        except OSError:
            pass  # the answer was lost, or the server is starting again
        pause *= random.uniform(1, 1.2)  # so that a refused crowd does not come back as one
        if clock() + pause > until:
            raise RuntimeError("no answer in time")
        time.sleep(pause)


def keep(claim, sent, done, lost):
    """Heartbeats at a third of what is left of the lease, counted from before the request."""
    try:
        deadline = sent + claim["ttl_ms"] / 1000
        while not done.wait((deadline - clock()) / 3):
            sent = clock()
            beat = post(f"/claims/{claim['id']}:heartbeat", {"fence": claim["fence"]}, until=deadline)
            if beat["cancel_requested"]:
                raise RuntimeError("cancelled")
            deadline = sent + beat["ttl_ms"] / 1000
    except RuntimeError as e:
        print("lease lost:", e, file=sys.stderr)
        lost.set()


def read(given):
    """An input's bytes: inline, or behind a link."""
    if "body" in given:
        return given["body"].encode()
    if "body_base64" in given:
        return base64.b64decode(given["body_base64"])
    link = urllib.parse.urljoin(base, given["href"])
    with urllib.request.urlopen(urllib.request.Request(link, headers=identity), timeout=60) as answer:
        return answer.read()


def work(claim, lost):
    """The work itself: waits as the brief says, and shouts. Work that takes long looks at lost."""
    lost.wait(claim["verb"]["brief"].get("seconds", 0))
    return b"".join(read(given) for given in claim["inputs"]).decode().upper()


while True:
    sent = clock()
    for claim in post("/claims", {"kinds": [kind], "wait_ms": 30000})["claims"]:
        mine, done, lost = f"/claims/{claim['id']}", threading.Event(), threading.Event()
        beats = threading.Thread(target=keep, args=(claim, sent, done, lost))
        beats.start()
        try:
            text = work(claim, lost)
            if not lost.is_set():
                post(mine + ":submit", {"fence": claim["fence"], "output": {"body": text}})
        except RuntimeError as e:
            print("not accepted:", e, file=sys.stderr)  # for good: on to the next
        except Exception as e:
            post(mine + ":fail", {"fence": claim["fence"], "error": {"message": repr(e)}})
        finally:
            done.set()
            beats.join()
