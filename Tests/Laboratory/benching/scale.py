"""How soon a worker sees an INSERT, and how costs grow: a job among 1,000 to 1,000,000 others, 1 to 16 workers or renderers,
memory over many jobs."""
import contextlib
import time

import lab
from benching import store

FEW = 1_000  # the jobs whose cost is measured beside the others


class Latency(store.Bench):
    """How soon an INSERT is claimed and its thumbnail readable, by an idle worker and by one with a backlog of less urgent
    pictures; and what an idle worker costs."""

    def measure(self, quick, pictures):
        count, seconds = (60, 5) if quick else (300, 20)
        queue, result = self.store(), {}
        roots = ["--allow-root", pictures[0].parent] if pictures else []
        with self.workers(queue, 1, *roots) as (worker,), contextlib.closing(lab.connect(queue)) as db:
            before, started = lab.processor_time(worker.pid), time.monotonic()
            time.sleep(seconds)
            result["idleCores"] = round((lab.processor_time(worker.pid) - before) / (time.monotonic() - started), 5)
            self.show("an idle worker and its renderers", f"{result['idleCores'] * 100:.2f} % of a core")
            result["idle"] = self.waits("idle", db, count)
            if pictures:
                # Enough for the time of the measurement: each in several sizes, as a job of its own.
                for edge in range(200, 440, 16 if quick else 6):
                    self.enqueue(queue, pictures, "--size", f"{edge}x{edge}:cover:jpeg", "--priority=-100")
                before = self.waiting(db)
                result["busy"] = self.waits("beside a backlog", db, count)
                result["busy"]["backlog"] = [before, self.waiting(db)]
        return result

    def waiting(self, db):
        return db.execute("SELECT count(*) FROM task").fetchone()[0]

    def waits(self, what, db, count):
        times = []
        for number in range(count):
            # Another size each time, and another word in each call, so that no two requests are the same.
            times.append(store.follow(db, f"initials:{what[0]}?size={16 + number}"))
            time.sleep(0.03)
        figures = {name: lab.quantiles(values) for name, values in zip(("claimed", "readable"), zip(*times))}
        for name, figure in figures.items():
            self.show(f"INSERT until {name}, {what}", f"p50 {figure['p50']} ms, p99 {figure['p99']} ms")
        return figures


class Rows(store.Bench):
    def measure(self, quick, _):
        queue, points, before = self.store(), [], 0
        self.drain(queue)
        for rows in (10**power for power in range(3, 6 if quick else 7)):
            point = {"rows": rows, "enqueueMicroseconds": self.named(queue, before, rows)}
            median, _, point["claimOf"] = self.claim(queue, 20)
            point["claimMilliseconds"], point["statusMilliseconds"] = round(median, 3), round(self.status_time(queue, 5), 1)
            point["completeMicroseconds"] = self.completed(queue)
            # A few more, beside as many that have ended.
            point["laterEnqueueMicroseconds"] = self.named(queue, rows, rows + FEW)
            point["laterCompleteMicroseconds"] = self.completed(queue)
            before = rows + FEW
            points.append(point)
            self.show(f"{rows:,} jobs", "enqueue {enqueueMicroseconds} us each, complete {completeMicroseconds} us, claim of "
                      "{claimOf} {claimMilliseconds} ms, status {statusMilliseconds} ms".format(**point))
        return points

    def named(self, queue, first, end):
        """The microseconds of enqueueing one of so many."""
        names = (f"https://pictures.example/{number}.jpg" for number in range(first, end))
        return round(lab.timed(self.enqueue, queue, names)[1] / (end - first) * 1e6, 1)

    def completed(self, queue):
        """The microseconds of claiming and completing a job."""
        count, took = self.drain(queue)
        return round(took * 1e6 / max(1, count), 1)


class Workers(store.Bench):
    def measure(self, quick, _):
        count, numbers = (400, (1, 4, 16)) if quick else (2_000, (1, 2, 4, 8, 16))
        return {"processes": [self.one(count, number, 1) for number in numbers],
                "renderers": [self.one(count, 1, number) for number in numbers]}

    def one(self, count, processes, renderers):
        queue, paths = self.store(), self.tiny(count)
        with self.workers(queue, processes, "--render-concurrency", renderers) as workers, \
                contextlib.closing(lab.connect(queue)) as db:
            before, started = sum(lab.processor_time(worker.pid) for worker in workers), time.monotonic()
            self.enqueue(queue, paths)
            store.finished(db, 1, count)
            took = time.monotonic() - started
            cpu = sum(lab.processor_time(worker.pid) for worker in workers) - before
        point = {"workers": processes, "renderers": renderers, "jobsPerSecond": round(count / took, 1),
                 "cpuMilliseconds": round(cpu / count * 1000, 2)}
        self.show(f"{processes} workers with {renderers} renderers each",
                  f"{point['jobsPerSecond']}/s, {point['cpuMilliseconds']} ms of CPU a job")
        return point


class Memory(store.Bench):
    def measure(self, quick, photographs):
        count = 5_000 if quick else 100_000
        result = {"tiny": self.sampled(self.tiny(count), "16x16", max(0.1, min(2, count / 20_000)))}
        if photographs:
            result["photographs"] = self.sampled(photographs, "1024x1024:jpeg", 0.02)
        return result

    def sampled(self, sources, size, pause):
        queue, samples = self.store(), []
        with self.workers(queue, 1, "--allow-root", sources[0].parent) as (worker,), contextlib.closing(lab.connect(queue)) as db:
            def sample(done):
                renderers = map(lab.resident, lab.tree(worker.pid) - {worker.pid})
                samples.append((done, lab.resident(worker.pid), max(renderers, default=0)))

            started = time.monotonic()
            self.enqueue(queue, sources, "--size", size)
            store.finished(db, 1, len(sources), 3_600, sample, pause)
            took, peak = time.monotonic() - started, lab.status(worker.pid, "VmHWM")
        # The first fifth is how it grows to its size; of few jobs, all is.
        late = [sample for sample in samples if sample[0] >= len(sources) / 5]
        slopes = [round(lab.slope([(sample[0] / 10_000, sample[column]) for sample in late]), 2) if len(sources) >= 1_000 else None
                  for column in (1, 2)]
        result = {
            "jobs": len(sources), "jobsPerSecond": round(len(sources) / took, 1), "workerPeak": round(peak, 1),
            "rendererPeak": round(max(sample[2] for sample in samples), 1), "workerSlope": slopes[0], "rendererSlope": slopes[1],
            "samples": [lab.rounded(list(sample)) for sample in samples[:: max(1, len(samples) // 200)] + samples[-1:]],
        }
        self.show(f"{len(sources):,} pictures at {size}",
                  f"worker {result['workerPeak']} MiB, largest renderer {result['rendererPeak']} MiB")
        return result
