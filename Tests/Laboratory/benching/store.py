"""Stores with workers, and jobs for tiny pictures: what most measurements begin with."""
import contextlib
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import time
import zlib

import lab
from lab import Unmeasured

RUNNING, COMPLETED = 2, 4


def tiny_png(path):
    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    rows = b"".join(b"\0" + bytes((x * 16, y * 16, 128)[c] for x in range(16) for c in range(3)) for y in range(16))
    head = (16).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def follow(db, source, states=(RUNNING, COMPLETED)):
    """Inserts a request, and returns the milliseconds from its commit, whose sync is the producer's time, until a reader
    sees each state."""
    text = json.dumps({"source": source, "renditions": [{"width": 64}], "refresh": "always"})
    job = db.execute("INSERT INTO job(request) VALUES (?)", [text]).lastrowid
    committed, times = time.monotonic(), []
    for state in states:
        look = "SELECT 1 FROM change WHERE job_id = ? AND state = ?"
        lab.wait_until(lambda: db.execute(look, [job, state]).fetchone(), "an INSERT's job", 60, 0.0002)
        times.append((time.monotonic() - committed) * 1000)
    return times


def finished(db, after, count, seconds=1_200, each=lambda done: None, pause=0.01):
    """Waits until so many jobs after this one have been completed."""
    limit, seen, completed = time.monotonic() + seconds, None, 0
    while True:
        # Each look after a commit takes 0.05 ms, of the cores that are measured.
        if seen != (seen := db.execute("PRAGMA data_version").fetchone()[0]):
            look = "SELECT count(*), coalesce(sum(state = 4), 0) FROM outcome WHERE id > ?"
            ended, completed = db.execute(look, [after]).fetchone()
            if ended > completed:
                why = "SELECT source, failure_code, failure_message FROM job_status WHERE state = 'discarded'"
                raise Unmeasured(f"{ended - completed} of {count} jobs were discarded: {db.execute(why).fetchone()}")
        each(completed)
        if completed >= count:
            return
        if time.monotonic() > limit:
            raise Unmeasured(f"{count} jobs took more than {seconds} s")
        time.sleep(pause)


class Bench:
    """Measures programs on stores in a folder. What it shows is printed, or for a report is progress."""

    def __init__(self, bin, folder, reports=False):
        self.bin, self.folder, self.reports, self.numbers = bin, pathlib.Path(folder), reports, itertools.count(1)

    @classmethod
    @contextlib.contextmanager
    def temporary(cls, bin, within=None, **more):
        with tempfile.TemporaryDirectory(prefix="cameo-bench-", dir=within) as folder:
            os.chmod(folder, 0o755)  # nginx gives up its rights to a user who has to reach the files
            yield cls(bin, folder, **more)

    def show(self, what, figure):
        if self.reports:
            lab.progress(f"    {what}: {figure}")
        else:
            print(f"{what:64}{figure}", flush=True)

    def run(self, program, *arguments, **more):
        if not (self.bin / program).exists():
            raise Unmeasured(f"{program} is not built")
        return lab.output(self.bin / program, *arguments, **more)

    def store(self):
        store = self.folder / f"store-{next(self.numbers)}"
        self.run("cameo-enqueue", "--store", store, "data:,x")
        return store

    def enqueue(self, store, sources, *arguments):
        names = "".join(f"{source}\n" for source in sources)
        return self.run("cameo-enqueue", "--store", store, "-", *(arguments or ("--size", "16x16")), input=names)

    def worker(self, store, *arguments):
        return lab.running(self.bin / "cameo-worker", "--store", store, "--allow-root", self.folder, *arguments,
                           stderr=subprocess.DEVNULL)

    @contextlib.contextmanager
    def workers(self, store, count, *arguments):
        """So many workers, all of them ready."""
        with contextlib.ExitStack() as stack:
            started = [stack.enter_context(self.worker(store, *arguments)) for _ in range(count)]
            lab.wait_until(lambda: all(len(lab.tree(worker.pid)) > 1 for worker in started), "starting the workers")
            lab.wait_until(lambda: len(self.status(store)["workers"]) == count, "the workers' registration", pause=0.1)
            time.sleep(1)
            yield started

    def status(self, store):
        return json.loads(self.run("cameo-status", "--store", store, "--json"))

    def status_time(self, store, count):
        """The median milliseconds of a whole `cameo-status`."""
        return lab.statistics.median(lab.timed(self.run, "cameo-status", "--store", store)[1] for _ in range(count)) * 1000

    def claim(self, store, rounds):
        """The median and the slowest milliseconds of a claim, and how many jobs it took."""
        median, slowest, claimed = map(float, self.run("cameo-queue-bench", store, "claim", rounds).split())
        return median, slowest, int(claimed)

    def drain(self, store):
        """How many jobs were claimed and completed without pictures, and the seconds that took."""
        count, took = self.run("cameo-queue-bench", store, "drain").split()
        return int(count), float(took) / 1000

    def tiny(self, count):
        """The paths of so many copies of a tiny picture. A file can have only so many links."""
        folder = self.folder / f"tiny-{count}"
        paths = [folder / f"{number // 10_000}" / f"{number}.png" for number in range(count)]
        if not folder.exists():
            for start in range(0, count, 10_000):
                paths[start].parent.mkdir(parents=True)
                tiny_png(paths[start])
                for path in paths[start + 1 : start + 10_000]:
                    os.link(paths[start], path)
        return paths
