"""The programs that make thumbnails: Cameo, and what people use. Each makes the renditions of pictures on all cores,
and says how long that took, how much processor time, of its own and of whatever it started, it used, and {name as
written by a peer: file} (Cameo only if asked to)."""
import concurrent.futures
import contextlib
import http.client
import itertools
import multiprocessing
import os
import pathlib
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import urllib.parse

import lab
from benching import store
from benching.renditions import options_of, vipsthumbnail
from lab import CORES, Unmeasured

BIN = pathlib.Path(sys.executable).parent
LIMIT = 600  # seconds, of one round
NO_EFFORT = "has no setting for the encoder's effort that would make it the same work"


def without_avif_or_svg(job):
    if job.renditions[0].format == "avif":
        return NO_EFFORT
    return "reads SVG only with further packages" if job.set == "drawings" else None


class Maker:
    name, label, is_slow = "", "", False  # slow ones, and those of less interest, are in fewer rounds
    makes_files = True

    def __init__(self, context):
        self.context, self.open, self.processes = context, contextlib.ExitStack(), []  # those that run all the time

    def start(self):
        """Starts what runs all the time. Raises if that cannot be."""

    def cannot(self, job):
        """Why it cannot do a job, or None."""

    def takes(self, job):
        """Whether it has a part in a job."""
        return True

    def make(self, pictures, renditions, folder, wants_files):
        before = self.processor_time()
        _, seconds = lab.timed(self.work, pictures, renditions, folder)
        cpu = self.processor_time() - before
        names = [f"{path.stem}-{rendition.file}" for path in pictures for rendition in renditions]
        return seconds, cpu, {name: str(folder / name) for name in names if (folder / name).exists()}

    def processor_time(self):
        own = lab.own_time(os.getpid()) if self.processes else 0  # of the client of what runs all the time
        return sum(map(lab.processor_time, self.processes)) + own + lab.children_time()

    # What runs all the time.

    def temporary(self):
        return self.open.enter_context(tempfile.TemporaryDirectory(prefix=f"{self.name}-", dir=self.context.work))

    def run(self, *command, answers=lambda: True, **variables):
        """Starts a process in a session of its own, of whose processes none outlives it."""
        log = self.open.enter_context(tempfile.TemporaryFile(dir=self.context.work))
        process = self.open.enter_context(lab.server(
            BIN / command[0], *command[1:], answers=answers, env={**os.environ, **variables}, stdout=log, stderr=log,
            start_new_session=True))
        self.open.callback(os.killpg, process.pid, signal.SIGKILL)
        self.processes.append(process.pid)

    def wait_for(self, count, folder):
        """Waits until so many pictures are done, while the processes that make them run."""
        done, failed = folder / "done", folder / "failed"

        def is_done():
            if any(lab.stat(pid)[0] == "Z" for pid in self.processes):
                raise Unmeasured("a worker has ended")
            return done.exists() and done.stat().st_size >= count

        lab.wait_until(is_done, "making the pictures", LIMIT, 0.002)
        if failed.exists():
            raise Unmeasured(failed.read_text().splitlines()[0])


class Cameo(Maker):
    """From the start of cameo-enqueue until the last job's completion is committed, by a worker that was idle
    before."""

    name, label = "cameo", "Cameo"

    def make(self, pictures, renditions, folder, wants_files):
        bench, queue = store.Bench(self.context.bin, folder), folder / "store"
        warm = bench.tiny(CORES * 2)
        bench.enqueue(queue, warm, "--size", "16x16:jpeg")
        with bench.worker(queue, "--log-level", "critical", "--allow-root", pictures[0].parent) as worker, \
                lab.connect(queue) as db:
            # It has made one picture for each of its renderers, so that they run and wait.
            store.finished(db, 0, len(warm), LIMIT)
            lab.wait_until(lambda: len(lab.children(worker.pid)) >= CORES, "starting the renderers")
            time.sleep(0.5)  # They may be spares that are still starting, which takes them 0.1 s.
            before, started = lab.processor_time(worker.pid) + lab.children_time(), time.monotonic()
            printed = bench.enqueue(queue, pictures, *options_of(renditions))
            store.finished(db, len(warm), len(pictures), LIMIT, pause=0.005)
            seconds = time.monotonic() - started
            cpu = lab.processor_time(worker.pid) + lab.children_time() - before
        uris = [line.split("\t")[2:] for line in printed.splitlines()]
        files = bench.export(queue) if wants_files else {}
        return seconds, cpu, {f"{path.stem}-{rendition.file}": str(files[uri]) for path, of_path in zip(pictures, uris)
                              for rendition, uri in zip(renditions, of_path) if uri in files}


class Vipsthumbnail(Maker):
    name = label = "vipsthumbnail"
    work = staticmethod(vipsthumbnail)

    def start(self):
        if not lab.found("vipsthumbnail"):
            raise Unmeasured("vipsthumbnail is not installed")


class Convert(Maker):
    name, label, is_slow = "convert", "ImageMagick convert", True
    cannot = staticmethod(without_avif_or_svg)

    def start(self):
        # /usr/local/bin may have something else of that name.
        self.program = lab.found("magick", "convert-im6.q16") or shutil.which("convert", path="/usr/bin:/bin")
        if not self.program:
            raise Unmeasured("ImageMagick is not installed")

    def work(self, pictures, renditions, folder):
        lines = []
        for rendition in renditions:
            before, behind = rendition.convert()
            quoted = " ".join(f"'{word}'" for word in behind)
            target = f'"{folder}/$(basename "${{1%.*}}")-{rendition.file}"'
            lines.append(f'"{self.program}" {" ".join(before)} "$1" {quoted} {target}')
        lab.output("xargs", "-0", "-P", CORES, "-n", "1", "sh", "-c", " && ".join(lines), "sh",
                   input="\0".join(map(str, pictures)),
                   env=dict(os.environ, MAGICK_THREAD_LIMIT="1", OMP_NUM_THREADS="1"))


class Pool(Maker):
    """pyvips in a pool of processes, which lose whatever they were doing when they die."""

    name, label = "pool", "pyvips in a pool"

    def start(self):
        others = multiprocessing.active_children()
        self.pool = self.open.enter_context(multiprocessing.get_context("spawn").Pool(CORES))
        self.pool.map(abs, range(64))
        self.processes = [child.pid for child in multiprocessing.active_children() if child not in others]

    def work(self, pictures, renditions, folder):
        from benching.peers import render

        self.share(render, [(path, renditions, folder) for path in pictures])

    def share(self, act, arguments):
        made = self.pool.starmap_async(act, arguments, 1)
        lab.wait_until(lambda: made.wait(1) or made.ready(), "making the pictures", LIMIT)
        made.get()


class Decoder(Pool):
    """Decodes each picture once, for its largest thumbnail, and makes none: what nobody goes below who decodes by
    libvips. A JPEG is decoded as libvips' thumbnailer does, any other at its own size."""

    name, label, is_slow, makes_files = "decoder", "the decoder alone", True, False

    def work(self, pictures, renditions, folder):
        from benching.peers import decode

        self.share(decode, [(path, max(renditions, key=lambda one: one.edge)) for path in pictures])


def optimising(maker):
    """A program that optimises the tables of its JPEGs, as Cameo does: that takes time, and makes them smaller."""
    class Optimising(maker):
        name, label, is_slow = f"{maker.name}-optimising", f"{maker.label}, tables optimised", True

        def takes(self, job):
            return job.renditions[0].format == "jpeg"

        def work(self, pictures, renditions, folder):
            super().work(pictures, [one.optimised() for one in renditions], folder)

    return Optimising


class Huey(Maker):
    """huey on SQLite with fsync, its consumer with a process for each core, and pyvips, which does not sync."""

    name, label = "huey", "huey + pyvips"

    def start(self):
        os.environ["BENCH_FOLDER"] = self.temporary()
        # Looks for tasks every 20 ms while idle; its own default lets an idle consumer sleep up to 10 s.
        self.run("huey_consumer", "benching.peers.huey_queue", "-k", "process", "-w", CORES, "-d", "0.02", "-m", "0.02",
                 "-b", "1", "-n", "-q")

    def work(self, pictures, renditions, folder):
        from benching import peers

        for path in pictures:
            peers.huey_queue.make(path, renditions, folder)
        self.wait_for(len(pictures), folder)


class RQ(Maker):
    """RQ on a Redis that syncs every write, a worker that does not fork for each core, and pyvips."""

    name, label = "rq", "RQ on Redis + pyvips"

    def start(self):
        import redis
        import rq

        address, pid = self.open.enter_context(lab.redis(self.temporary()))
        self.processes.append(pid)
        self.queue = rq.Queue(connection=redis.Redis(unix_socket_path=address))
        for _ in range(CORES):
            self.run("rq", "worker", "--quiet", "--worker-class", "rq.SimpleWorker", "--url", f"unix://{address}")

    def work(self, pictures, renditions, folder):
        self.queue.enqueue_many([
            self.queue.prepare_data("benching.peers.render_and_tell", (path, renditions, folder), result_ttl=0)
            for path in pictures])
        self.wait_for(len(pictures), folder)


THUMBOR = """
LOADER = "thumbor.loaders.file_loader"
FILE_LOADER_ROOT_PATH = "/"
STORAGE = "thumbor.storages.no_storage"
RESULT_STORAGE = None
ALLOW_UNSAFE_URL = True
MAX_PIXELS = 500000000
"""


class Thumbor(Maker):
    """A process for each core, which reads files and keeps no results. Twice as many clients hold their connections, so
    that none waits for a client."""

    name, label, is_slow = "thumbor", "thumbor", True

    def cannot(self, job):
        return "reads no HEIC" if job.set == "heic" else without_avif_or_svg(job)

    def start(self):
        self.port, self.local = lab.free_port(), threading.local()
        self.clients = self.open.enter_context(concurrent.futures.ThreadPoolExecutor(CORES * 2))
        settings = pathlib.Path(self.temporary(), "thumbor.conf")
        settings.write_text(THUMBOR)
        self.run("thumbor", "-i", "127.0.0.1", "-p", self.port, "-c", settings, "-l", "error", "--processes", CORES,
                 answers=lambda: socket.create_connection(("127.0.0.1", self.port), 1))

    def save(self, path, rendition, folder):
        fit = rendition.box if rendition.fit == "cover" else f"fit-in/{rendition.box}"
        filters = f"filters:format({rendition.format}):quality({rendition.quality})"
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        self.local.connection.request("GET", f"/unsafe/{fit}/{filters}/{urllib.parse.quote(str(path).lstrip('/'))}")
        response = self.local.connection.getresponse()
        data = response.read()
        if response.status != 200:
            raise Unmeasured(f"{response.status} for {path}")
        (folder / f"{path.stem}-{rendition.file}").write_bytes(data)

    def work(self, pictures, renditions, folder):
        list(self.clients.map(lambda task: self.save(*task, folder), itertools.product(pictures, renditions)))


# Cameo's neighbours in a round are the two that it is compared with most.
MAKERS = (optimising(Vipsthumbnail), Vipsthumbnail, Cameo, Pool, optimising(Pool), Huey, RQ, Thumbor, Convert,
          Decoder)
