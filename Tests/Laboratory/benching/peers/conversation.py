"""How a peer is spoken to: it says {"ready": true} when its processes run, then answers each line of JSON with one."""
import json
import os
import pathlib
import sys
import time


def serve(make):
    """`make(pictures, renditions, folder)` returns when everything is made; the time it takes is the answer."""
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        started = time.monotonic()
        try:
            make(task["pictures"], task["renditions"], task["folder"])
            answer = {"seconds": time.monotonic() - started}
        except Exception as error:
            answer = {"error": repr(error)}
        failed = pathlib.Path(task["folder"], "failed")
        if failed.exists():
            answer = {"error": failed.read_text().splitlines()[0]}
        print(json.dumps(answer), flush=True)


def wait_for(count, folder, workers, seconds=300):
    """Waits until so many pictures are done, while the processes that make them run."""
    done, limit = f"{folder}/done", time.monotonic() + seconds
    while True:
        try:
            if os.stat(done).st_size >= count:
                return
        except FileNotFoundError:
            pass
        if any(worker.poll() is not None for worker in workers):
            raise RuntimeError("a worker has ended")
        if time.monotonic() > limit:
            raise TimeoutError(f"not done after {seconds} s")
        time.sleep(0.002)
