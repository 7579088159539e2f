"""RQ on a Redis that syncs every write, a worker that does not fork for each core, and pyvips."""
import os
import pathlib
import subprocess
import sys

import redis
from rq import Queue

from conversation import serve, wait_for
from redis_server import running


def main():
    os.chdir(os.environ["BENCH_FOLDER"])
    with running("."):
        queue = Queue(connection=redis.Redis(unix_socket_path="redis.sock"))

        workers = []

        def enqueue(pictures, renditions, folder):
            queue.enqueue_many(
                [Queue.prepare_data("rendering.render_and_tell", (path, renditions, folder), result_ttl=0) for path in pictures]
            )
            wait_for(len(pictures), folder, workers)

        command = [pathlib.Path(sys.executable).parent / "rq", "worker", "--quiet", "--worker-class", "rq.SimpleWorker",
                   "--url", "unix:///proc/self/cwd/redis.sock"]
        workers += [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr) for _ in range(int(sys.argv[1]))]
        try:
            serve(enqueue)
        finally:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.wait()


if __name__ == "__main__":
    main()
