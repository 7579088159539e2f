"""Programs that make thumbnails by what people use: `makers.py pool|huey|rq|thumbor PROCESSES`.

Each says {"ready": true} when its processes run, then answers each line of JSON, {pictures, renditions, folder}, with
one: {} when everything was made, or an error."""
import concurrent.futures
import contextlib
import functools
import http.client
import json
import multiprocessing
import os
import pathlib
import socket
import sys
import threading
import urllib.parse

import lab

BIN = pathlib.Path(sys.executable).parent


def serve(make):
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        answer, failed = {}, pathlib.Path(task["folder"], "failed")
        try:
            make(task["pictures"], task["renditions"], task["folder"])
        except Exception as error:
            answer = {"error": repr(error)}
        if failed.exists():
            answer = {"error": failed.read_text().splitlines()[0]}
        print(json.dumps(answer), flush=True)


def with_processes(commands, make, answers=lambda: True):
    """Serves while these run, once they are ready, and ends them."""
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(lab.server(*words, answers=answers, stdout=sys.stderr)) for words in commands]
        serve(lambda *task: make(started, *task))


def target(path, rendition, folder):
    return pathlib.Path(folder, f"{pathlib.Path(path).stem}-{rendition['file']}")


def render(path, renditions, folder):
    """Thumbnails by pyvips, as its users make them: one call of `thumbnail` for each size."""
    import pyvips

    pyvips.cache_set_max(0)
    for rendition in renditions:
        edge, quality = rendition["edge"], rendition["quality"]
        how = {"crop": "centre"} if rendition["fit"] == "cover" else {"size": "down"}
        image, name = pyvips.Image.thumbnail(path, edge, height=edge, **how), str(target(path, rendition, folder))
        if rendition["format"] == "avif":
            image.heifsave(name, Q=quality, compression="av1", effort=2, bitdepth=8, strip=True)
        else:
            getattr(image, f"{rendition['format']}save")(name, Q=quality, strip=True)


def render_and_tell(path, renditions, folder):
    """Renders, then adds one byte to the folder's `done` (or a line to `failed`), which the waiting program reads."""
    def tell(name, data):
        file = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(file, data)
        os.close(file)

    try:
        render(path, renditions, folder)
    except Exception as error:
        tell("failed", f"{path}: {error!r}".replace("\n", " ").encode() + b"\n")
    finally:
        tell("done", b".")


def wait_for(count, folder, workers):
    """Waits until so many pictures are done, while the processes that make them run."""
    done = pathlib.Path(folder, "done")

    def is_done():
        if any(worker.poll() is not None for worker in workers):
            raise RuntimeError("a worker has ended")
        return done.exists() and done.stat().st_size >= count

    lab.wait_until(is_done, "making the pictures", 300, 0.002)


# The peers


def render_one(task):
    render(*task)


def pool(count):
    """pyvips in a pool of processes, which lose whatever they were doing when they die."""
    with multiprocessing.Pool(count) as processes:
        processes.map(abs, range(64))
        serve(lambda pictures, *more: processes.map(render_one, [(path, *more) for path in pictures], 1))


@functools.cache
def huey_of_consumer():
    from huey import SqliteHuey

    made = SqliteHuey(filename=os.environ["BENCH_FOLDER"] + "/huey.db", fsync=True, timeout=30)
    made.make = made.task()(render_and_tell)
    return made


def __getattr__(name):
    if name == "huey_queue":  # for the consumer
        return huey_of_consumer()
    raise AttributeError(name)


def huey(count):
    """huey on SQLite with fsync, its consumer with a process for each core, and pyvips, which does not sync."""
    def make(workers, pictures, renditions, folder):
        for path in pictures:
            huey_of_consumer().make(path, renditions, folder)
        wait_for(len(pictures), folder, workers)

    # Looks for tasks every 20 ms while idle; its own default lets an idle consumer sleep up to 10 s.
    with_processes([[BIN / "huey_consumer", "makers.huey_queue", "-k", "process", "-w", count, "-d", "0.02",
                     "-m", "0.02", "-b", "1", "-n", "-q"]], make)


def rq(count):
    """RQ on a Redis that syncs every write, a worker that does not fork for each core, and pyvips."""
    import redis
    from rq import Queue

    def make(workers, pictures, *more):
        queue.enqueue_many([Queue.prepare_data("makers.render_and_tell", (path, *more), result_ttl=0)
                            for path in pictures])
        wait_for(len(pictures), more[-1], workers)

    with lab.redis(os.environ["BENCH_FOLDER"]) as address:
        queue = Queue(connection=redis.Redis(unix_socket_path=address))
        worker = [BIN / "rq", "worker", "--quiet", "--worker-class", "rq.SimpleWorker", "--url", f"unix://{address}"]
        with_processes([worker] * count, make)


THUMBOR = """
LOADER = "thumbor.loaders.file_loader"
FILE_LOADER_ROOT_PATH = "/"
STORAGE = "thumbor.storages.no_storage"
RESULT_STORAGE = None
ALLOW_UNSAFE_URL = True
MAX_PIXELS = 500000000
"""


def thumbor(count):
    """thumbor, a process for each core, which reads files and keeps no results; its clients hold their connections,
    twice as many as processes, so that none waits for a client."""
    settings = pathlib.Path(os.environ["BENCH_FOLDER"], "thumbor.conf")
    settings.write_text(THUMBOR)
    local, clients, port = threading.local(), concurrent.futures.ThreadPoolExecutor(count * 2), lab.free_port()

    def save(path, rendition, folder):
        box = rendition["box"]
        fit = box if rendition["fit"] == "cover" else f"fit-in/{box}"
        filters = f"filters:format({rendition['format']}):quality({rendition['quality']})"
        if not hasattr(local, "connection"):
            local.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        local.connection.request("GET", f"/unsafe/{fit}/{filters}/{urllib.parse.quote(path.lstrip('/'))}")
        response = local.connection.getresponse()
        data = response.read()
        if response.status != 200:
            raise RuntimeError(f"{response.status} for {path}")
        target(path, rendition, folder).write_bytes(data)

    def answers():
        with socket.create_connection(("127.0.0.1", port), 1):
            return True

    def make(_, pictures, renditions, folder):
        made = [clients.submit(save, path, rendition, folder) for path in pictures for rendition in renditions]
        for one in made:
            one.result()

    command = [BIN / "thumbor", "-i", "127.0.0.1", "-p", port, "-c", settings, "-l", "error", "--processes", count]
    with_processes([command], make, answers)


if __name__ == "__main__":
    import makers  # under this name, which is that of the tasks, and not as __main__

    getattr(makers, sys.argv[1])(int(sys.argv[2]))
