"""How soon an INSERT is claimed and its thumbnail readable, by an idle worker and by one with a backlog of less urgent
pictures; and what an idle worker costs."""
import contextlib
import json
import signal
import statistics
import tempfile
import time

from benching import queue
from benching.measuring import percentile, processor_time, progress, tree, wait_until

RUNNING, COMPLETED = 2, 4


def run(context, pictures):
    with tempfile.TemporaryDirectory(prefix="latency-", dir=context.environment.work) as folder:
        result = Bench(context.bin, folder).measure(context.quick, pictures)
    if "busy" in result and not result["busy"]["backlog"][1]:
        context.notes.fail("latency beside a backlog", "the backlog was done before the measurement")
    return result


class Bench(queue.Bench):
    def show(self, what, figure):
        progress(f"    {what}: {figure}")

    def measure(self, quick, pictures):
        progress("latency")
        count, seconds = (60, 5) if quick else (300, 20)
        store, result = self.store(), {}
        roots = ["--allow-root", pictures[0].parent] if pictures else []
        worker = self.worker(store, *roots)
        try:
            wait_until(lambda: len(tree(worker.pid)) > 1, "starting a worker")
            time.sleep(2)
            result["idleCores"] = self.idle_share(worker, seconds)
            self.show("an idle worker and its renderers", f"{result['idleCores'] * 100:.2f} % of a core")
            result["idle"] = self.waits("idle", store, count)
            if pictures:
                self.backlog(store, pictures, 16 if quick else 6)
                before = self.waiting(store)
                result["busy"] = self.waits("beside a backlog", store, count)
                result["busy"]["backlog"] = [before, self.waiting(store)]
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.wait()
        return result

    def idle_share(self, worker, seconds):
        before, started = processor_time(worker.pid), time.monotonic()
        time.sleep(seconds)
        return round((processor_time(worker.pid) - before) / (time.monotonic() - started), 5)

    def backlog(self, store, pictures, step):
        """Enough pictures for the time of the measurement: each in several sizes, as a job of its own."""
        names = "".join(f"{path}\n" for path in pictures)
        for edge in range(200, 440, step):
            size = ["--size", f"{edge}x{edge}:cover:jpeg"]
            self.run("cameo-enqueue", "--store", store, "-", *size, "--priority=-100", input=names)

    def waiting(self, store):
        with contextlib.closing(queue.connect(store)) as db:
            return db.execute("SELECT count(*) FROM task").fetchone()[0]

    def waits(self, what, store, count):
        """From the commit of an INSERT, whose sync is the producer's time, until a reader sees the states."""
        claimed, readable = [], []
        with contextlib.closing(queue.connect(store)) as db:
            for number in range(count):
                # Another size each time, and another word in each call, so that no two requests are the same.
                source = f"initials:{what[0]}?size={16 + number}"
                text = json.dumps({"source": source, "renditions": [{"width": 64}], "refresh": "always"})
                job = db.execute("INSERT INTO job(request) VALUES (?)", [text]).lastrowid
                committed = time.monotonic()
                for state, times in (RUNNING, claimed), (COMPLETED, readable):
                    look = "SELECT 1 FROM change WHERE job_id = ? AND state = ?"
                    wait_until(lambda: db.execute(look, [job, state]).fetchone(), "an INSERT's job", 60, 0.0002)
                    times.append((time.monotonic() - committed) * 1000)
                time.sleep(0.03)
        figures = {name: self.figures(times) for name, times in (("claimed", claimed), ("readable", readable))}
        for name, figure in figures.items():
            self.show(f"INSERT until {name}, {what}", f"p50 {figure['p50']} ms, p99 {figure['p99']} ms")
        return figures

    def figures(self, times):
        return {"p50": round(statistics.median(times), 2), "p99": round(percentile(times, 0.99), 2), "slowest": round(max(times), 2)}
