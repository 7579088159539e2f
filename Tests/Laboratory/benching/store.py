"""Stores with workers, and jobs for tiny pictures: what most measurements begin with."""
import contextlib
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import time

import lab
from cases import png
from lab import Unmeasured

RUNNING, COMPLETED = 2, 4


def follow(db, source, states=(RUNNING, COMPLETED)):
    """Inserts a request, and returns the milliseconds from its commit, whose sync is the producer's time, until a
    reader sees each state."""
    text = json.dumps({"source": source, "renditions": [{"width": 64}], "refresh": "always"})
    job = db.execute("INSERT INTO job(request) VALUES (?)", [text]).lastrowid
    committed, times = time.monotonic(), []
    for state in states:
        look = "SELECT 1 FROM change WHERE job_id = ? AND state = ?"
        lab.wait_until(lambda: lab.one(db, look, job, state), "an INSERT's job", 60, 0.0002)
        times.append((time.monotonic() - committed) * 1000)
    return times


def finished(db, after, count, seconds=1_200, each=lambda done: None, pause=0.01):
    """Waits until so many jobs after this one have been completed."""
    seen, completed = None, 0

    def is_done():
        nonlocal seen, completed
        # Each look after a commit takes 0.05 ms, of the cores that are measured.
        if seen != (seen := lab.one(db, "PRAGMA data_version")):
            look = "SELECT count(*), coalesce(sum(state = 4), 0) FROM outcome WHERE id > ?"
            ended, completed = db.execute(look, [after]).fetchone()
            if ended > completed:
                why = "SELECT source, failure_code, failure_message FROM job_status WHERE state = 'discarded'"
                raise Unmeasured(f"{ended - completed} of {count} jobs were discarded: {db.execute(why).fetchone()}")
        each(completed)
        return completed >= count

    lab.wait_until(is_done, f"{count} jobs", seconds, pause)


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

    def program(self, name):
        if not (self.bin / name).exists():
            raise Unmeasured(f"{name} is not built")
        return self.bin / name

    def run(self, program, *arguments, **more):
        return lab.output(self.program(program), *arguments, **more)

    def store(self):
        store = self.folder / f"store-{next(self.numbers)}"
        self.run("cameo-enqueue", "--store", store, "data:,x")
        return store

    def enqueue(self, store, sources, *arguments):
        names = "".join(f"{source}\n" for source in sources)
        return self.run("cameo-enqueue", "--store", store, "-", *(arguments or ("--size", "16x16")), input=names)

    def make(self, store, sources, *arguments):
        """Makes thumbnails by a worker that ends when they are made."""
        printed = self.enqueue(store, sources, *arguments)
        self.run("cameo-worker", "--store", store, "--drain", "--log-level", "critical", "--allow-root", "/")
        return printed

    def export(self, store):
        """{URI of a thumbnail: its file}."""
        target = self.folder / "exported"
        self.run("cameo-status", "--store", store, "export", target)
        return {entry["uri"]: target / entry["file"] for entry in json.loads((target / "manifest.json").read_text())}

    def worker(self, store, *arguments):
        return lab.running(self.bin / "cameo-worker", "--store", store, "--allow-root", self.folder, *arguments,
                           stderr=subprocess.DEVNULL)

    @contextlib.contextmanager
    def workers(self, store, count, *arguments):
        """So many workers, all of them ready, and a connection to their store."""
        with contextlib.ExitStack() as stack:
            started = [stack.enter_context(self.worker(store, *arguments)) for _ in range(count)]
            lab.wait_until(lambda: all(lab.children(worker.pid) for worker in started), "starting the workers")
            lab.wait_until(lambda: len(self.status(store)["workers"]) == count, "the workers' registration", pause=0.1)
            time.sleep(1)
            yield started, stack.enter_context(lab.connect(store))

    def status(self, store):
        return json.loads(self.run("cameo-status", "--store", store, "--json"))

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
                png(paths[start], 16, 16, lambda x, y: (x * 16, y * 16, 128))
                for path in paths[start + 1 : start + 10_000]:
                    os.link(paths[start], path)
        return paths
