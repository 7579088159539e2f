"""How soon a worker sees an INSERT; 1 to 16 workers or renderers; memory over many jobs."""
import time

import lab
from benching import store


class Scale(store.Bench):
    def latency(self, quick, pictures):
        """How soon an INSERT is claimed and its thumbnail readable, by an idle worker and by one with a backlog of less
        urgent pictures; and what an idle worker costs."""
        count, seconds = (60, 5) if quick else (300, 20)
        queue, result = self.store(), {}
        with self.workers(queue, 1, "--allow-root", "/") as ((worker,), db):
            before, alone = lab.processor_time(worker.pid), lab.own_time(worker.pid)
            _, took = lab.timed(time.sleep, seconds)
            result["idleCores"] = round((lab.processor_time(worker.pid) - before) / took, 5)
            self.show("an idle worker", f"{(lab.own_time(worker.pid) - alone) / took * 100:.2f} % of a core, "
                                        f"{result['idleCores'] * 100:.2f} with its renderers")
            result["idle"] = self.waits("idle", db, count)
            if pictures:
                # Enough for the time of the measurement: each in several sizes, as a job of its own.
                for edge in range(200, 440, 16 if quick else 2):
                    self.enqueue(queue, pictures, "--size", f"{edge}x{edge}:cover:jpeg", "--priority=-100")
                before = lab.one(db, "SELECT count(*) FROM task")
                result["busy"] = self.waits("beside a backlog", db, count)
                result["busy"]["backlog"] = [before, lab.one(db, "SELECT count(*) FROM task")]
        return result

    def waits(self, what, db, count):
        times = []
        for number in range(count):
            # Another size each time, and another word in each call, so that no two requests are the same.
            times.append(store.follow(db, f"initials:{what[0]}?size={16 + number}"))
            time.sleep(0.03)
        figures = {name: lab.quantiles(values) for name, values in zip(("claimed", "readable"), zip(*times))}
        for name, figure in figures.items():
            self.show(f"INSERT until {name}, {what}", "p50 {p50} ms, p99 {p99} ms".format(**figure))
        return figures

    def many_workers(self, quick, _):
        count, numbers = (400, (1, 4, 16)) if quick else (2_000, (1, 2, 4, 8, 16))
        return {"processes": [self.throughput(count, number, 1) for number in numbers],
                "renderers": [self.throughput(count, 1, number) for number in numbers]}

    def throughput(self, count, processes, renderers):
        queue, paths = self.store(), self.tiny(count)
        with self.workers(queue, processes, "--render-concurrency", renderers) as (workers, db):
            before, started = sum(lab.processor_time(worker.pid) for worker in workers), time.monotonic()
            self.enqueue(queue, paths)
            store.finished(db, 1, count)
            took = time.monotonic() - started
            cpu = sum(lab.processor_time(worker.pid) for worker in workers) - before
        point = {"workers": processes, "renderers": renderers, "jobsPerSecond": round(count / took, 1),
                 "cpuMilliseconds": round(cpu / count * 1000, 2)}
        self.show(f"{processes} workers with {renderers} renderers each",
                  "{jobsPerSecond}/s, {cpuMilliseconds} ms of CPU a job".format(**point))
        return point

    def memory(self, quick, photographs):
        count = 5_000 if quick else 100_000
        result = {"tiny": self.sampled(self.tiny(count), "16x16", max(0.1, min(2, count / 20_000)))}
        if photographs:
            result["photographs"] = self.sampled(photographs, "1024x1024:jpeg", 0.02)
        return result

    def sampled(self, sources, size, pause):
        queue, samples = self.store(), []
        with self.workers(queue, 1, "--allow-root", "/") as ((worker,), db):
            started = time.monotonic()
            self.enqueue(queue, sources, "--size", size)
            store.finished(db, 1, len(sources), 3_600, lambda done: samples.append(
                [done, round(lab.memory(worker.pid), 2), round(lab.largest_child(worker.pid), 2)]), pause)
            took, peak = time.monotonic() - started, lab.memory(worker.pid, "VmHWM")

        def slope(column):
            """The first fifth is how it grows to its size; of few jobs, all is."""
            late = [(sample[0] / 10_000, sample[column]) for sample in samples if sample[0] >= len(sources) / 5]
            return round(lab.slope(late), 2) if len(sources) >= 1_000 else None

        result = {
            "jobs": len(sources), "jobsPerSecond": round(len(sources) / took, 1), "workerPeak": round(peak, 1),
            "rendererPeak": round(max(sample[2] for sample in samples), 1), "workerSlope": slope(1),
            "rendererSlope": slope(2),
            "samples": samples[:: max(1, len(samples) // 200)] + samples[-1:],
        }
        self.show(f"{len(sources):,} pictures at {size}",
                  "worker {workerPeak} MiB, largest renderer {rendererPeak} MiB".format(**result))
        return result
