"""How the costs grow: a job among 1,000 to 1,000,000 others, 1 to 16 workers or renderers, and memory over many jobs."""
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import tempfile
import time

from benching import queue
from benching.measuring import Unmeasured, processor_time, progress, resident, slope, tree, wait_until

FEW = 1_000  # the jobs whose cost is measured beside the others


def run_rows(context):
    with tempfile.TemporaryDirectory(prefix="rows-", dir=context.environment.work) as folder:
        return Rows(context.bin, folder).measure(5 if context.quick else 6)


def run_workers(context):
    with tempfile.TemporaryDirectory(prefix="workers-", dir=context.environment.work) as folder:
        return Workers(context.bin, folder).measure(context.quick)


def run_memory(context, photographs):
    with tempfile.TemporaryDirectory(prefix="memory-", dir=context.environment.work) as folder:
        return Memory(context.bin, folder).measure(5_000 if context.quick else 100_000, photographs)


class Bench(queue.Bench):
    def show(self, what, figure):
        progress(f"    {what}: {figure}")

    def tiny(self, count):
        """The paths of so many copies of a tiny picture. A file can have only so many links."""
        folder = self.folder / f"tiny-{count}"
        paths = [folder / f"{number // 10_000}" / f"{number}.png" for number in range(count)]
        if not folder.exists():
            for start in range(0, count, 10_000):
                first = paths[start]
                first.parent.mkdir(parents=True)
                queue.tiny_png(first)
                for path in paths[start + 1 : start + 10_000]:
                    os.link(first, path)
        return paths

    def enqueue(self, store, sources, size="16x16"):
        command = [self.bin / "cameo-enqueue", "--store", store, "-", "--size", size]
        names = "".join(f"{source}\n" for source in sources)
        subprocess.run(command, input=names, text=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    @contextlib.contextmanager
    def workers(self, store, count, *arguments):
        """So many workers, all of them ready."""
        running = [self.worker(store, *arguments) for _ in range(count)]
        try:
            wait_until(lambda: all(len(tree(worker.pid)) > 1 for worker in running), "starting the workers")
            wait_until(lambda: len(json.loads(self.run("cameo-status", "--store", store, "--json"))["workers"]) == count,
                       "the workers' registration", pause=0.1)
            time.sleep(1)
            yield running
        finally:
            for worker in running:
                worker.send_signal(signal.SIGTERM)
            for worker in running:
                worker.wait()

    def ended(self, db, after, count, seconds=1_200, each=lambda done: None, pause=0.01):
        """Waits until so many jobs after this one have been completed."""
        limit = time.monotonic() + seconds
        look = "SELECT count(*), coalesce(sum(state = 4), 0) FROM outcome WHERE id > ?"
        while True:
            ended, completed = db.execute(look, [after]).fetchone()
            each(completed)
            if ended > completed:
                raise Unmeasured(f"{ended - completed} of {count} jobs were discarded")
            if completed == count:
                return
            if time.monotonic() > limit:
                raise Unmeasured(f"{count} jobs took more than {seconds} s")
            time.sleep(pause)


class Rows(Bench):
    def measure(self, largest):
        progress("scale: rows")
        store, points, before = self.store(), [], 0
        if not (self.bin / "cameo-queue-bench").exists():
            raise Unmeasured("cameo-queue-bench is not built")
        self.drain(store)
        for rows in (10**power for power in range(3, largest + 1)):
            point = {"rows": rows, "enqueueMicroseconds": self.microseconds(rows - before, self.named, store, before, rows)}
            median, _, claimed = self.run("cameo-queue-bench", store, "claim", 20).split()
            point["claimOf"], point["claimMilliseconds"] = int(claimed), round(float(median), 3)
            point["statusMilliseconds"] = self.status(store)
            point["completeMicroseconds"] = self.drain(store)
            # A few more, beside as many that have ended.
            point["laterEnqueueMicroseconds"] = self.microseconds(FEW, self.named, store, rows, rows + FEW)
            point["laterCompleteMicroseconds"] = self.drain(store)
            before = rows + FEW
            points.append(point)
            self.show(f"{rows:,} jobs", f"enqueue {point['enqueueMicroseconds']} us each, complete {point['completeMicroseconds']} us, "
                      f"claim of {claimed} {point['claimMilliseconds']} ms, status {point['statusMilliseconds']} ms")
        return points

    def named(self, store, first, end):
        self.enqueue(store, (f"https://pictures.example/{number}.jpg" for number in range(first, end)))

    def microseconds(self, count, act, *arguments):
        started = time.monotonic()
        act(*arguments)
        return round((time.monotonic() - started) / count * 1e6, 1)

    def drain(self, store):
        """The microseconds of claiming and completing a job."""
        count, took = self.run("cameo-queue-bench", store, "drain").split()
        return round(float(took) * 1000 / max(1, int(count)), 1)

    def status(self, store):
        times = []
        for _ in range(5):
            started = time.monotonic()
            self.run("cameo-status", "--store", store)
            times.append((time.monotonic() - started) * 1000)
        return round(statistics.median(times), 1)


class Workers(Bench):
    def measure(self, quick):
        progress("scale: workers")
        count, numbers = (400, (1, 4, 16)) if quick else (2_000, (1, 2, 4, 8, 16))
        return {
            "processes": [self.one(count, number, 1) for number in numbers],
            "renderers": [self.one(count, 1, number) for number in numbers],
        }

    def one(self, count, processes, renderers):
        store, paths = self.store(), self.tiny(count)
        with self.workers(store, processes, "--render-concurrency", renderers) as running, \
                contextlib.closing(queue.connect(store)) as db:
            self.ended(db, 1, 0)
            (last,) = db.execute("SELECT max(id) FROM job").fetchone()
            before, started = sum(processor_time(worker.pid) for worker in running), time.monotonic()
            self.enqueue(store, paths)
            self.ended(db, last, count)
            took = time.monotonic() - started
            cpu = sum(processor_time(worker.pid) for worker in running) - before
        point = {"workers": processes, "renderers": renderers, "jobsPerSecond": round(count / took, 1),
                 "cpuMilliseconds": round(cpu / count * 1000, 2)}
        figure = f"{point['jobsPerSecond']}/s, {point['cpuMilliseconds']} ms of CPU a job"
        self.show(f"{processes} workers with {renderers} renderers each", figure)
        return point


class Memory(Bench):
    def measure(self, count, photographs):
        progress(f"memory over {count:,} jobs")
        result = {"tiny": self.sampled(self.tiny(count), "16x16", max(0.1, min(2, count / 20_000)))}
        if photographs:
            result["photographs"] = self.sampled(photographs, "1024x1024:jpeg", 0.02)
        return result

    def sampled(self, sources, size, pause):
        store, samples = self.store(), []
        with self.workers(store, 1, "--allow-root", sources[0].parent) as (worker,), contextlib.closing(queue.connect(store)) as db:
            (last,) = db.execute("SELECT max(id) FROM job").fetchone()

            def sample(done):
                renderers = [resident(pid) for pid in tree(worker.pid) - {worker.pid}]
                samples.append((done, resident(worker.pid), max(renderers, default=0), len(renderers)))

            started = time.monotonic()
            self.enqueue(store, sources, size)
            self.ended(db, last, len(sources), 3_600, sample, pause)
            took = time.monotonic() - started
            peak = self.peak(worker.pid)
        # The first fifth is how it grows to its size.
        many = len(sources) >= 1_000
        late = [sample for sample in samples if sample[0] >= len(sources) / 5]
        result = {
            "jobs": len(sources), "jobsPerSecond": round(len(sources) / took, 1),
            "workerPeak": round(max(peak, *(sample[1] for sample in samples)), 1),
            "rendererPeak": round(max(sample[2] for sample in samples), 1),
            # Of few jobs, it is only that they begin.
            "workerSlope": round(slope([(done / 10_000, worker) for done, worker, _, _ in late]), 2) if many else None,
            "rendererSlope": round(slope([(done / 10_000, renderer) for done, _, renderer, _ in late]), 2) if many else None,
            "samples": [[done, round(worker, 1), round(renderer, 1)] for done, worker, renderer, _ in thinned(samples, 200)],
        }
        figure = f"worker {result['workerPeak']} MiB, largest renderer {result['rendererPeak']} MiB"
        self.show(f"{len(sources):,} pictures at {size}", figure)
        return result

    def peak(self, pid):
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def thinned(samples, count):
    step = max(1, len(samples) // count)
    return samples[::step] + samples[-1:]
