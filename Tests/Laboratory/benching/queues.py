"""The queue alone: jobs put a second, singly and in bulk, and claimed and completed by 1, 4 and 16 processes, of Cameo, of
other small queues, and of bare SQLite transactions of the same shape. Everything is durable before a call returns."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from benching.measuring import Unmeasured, progress

QUEUES = {
    "cameo": "Cameo", "bare": "bare SQLite", "bare-batches": "bare SQLite, 128 a commit", "huey": "huey",
    "litequeue": "litequeue", "persist-queue": "persist-queue", "rq": "RQ on Redis",
}
PROCESSES = (1, 4, 16)
# Put before the taking: enough for the fastest.
JOBS = {"cameo": (20_000, 60_000), "bare": (4_000, 10_000), "bare-batches": (20_000, 80_000)}


def run(context):
    """{"queues": {name: {label, single: {processes: rate}, bulk: rate, work: {processes: rate}, …}}}"""
    bench = Bench(context)
    return {"queues": {name: bench.measure(name, label) for name, label in QUEUES.items()}}


class Bench:
    def __init__(self, context):
        self.context = context
        self.seconds = 1 if context.quick else 4
        self.singles = (1,) if context.quick else PROCESSES

    def measure(self, name, label):
        progress(f"queue: {label}")
        result = {"label": label, "single": {}, "work": {}, "repeated": {}}
        if name != "bare-batches":
            for count in self.singles:
                self.one(result, name, "single", count)
            self.one(result, name, "bulk", 1)
        for count in PROCESSES:
            self.one(result, name, "work", count)
        return result

    def one(self, result, name, what, processes):
        jobs = JOBS.get(name, (1_500, 4_000))[not self.context.quick]
        folder = pathlib.Path(tempfile.mkdtemp(prefix="queue-", dir=self.context.environment.work))
        with self.context.notes.failures_of(f"{result['label']}: queue, {what}, {processes} processes"):
            try:
                answer = self.cameo(folder, what, processes, jobs) if name == "cameo" else None
                answer = answer or self.script(name, folder, what, processes, jobs)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            if answer.get("note"):
                result["note"] = answer["note"]
            if answer.get("repeated"):
                result["repeated"][processes] = answer["repeated"]
            if answer["jobs"] is None:
                return
            rate = round(answer["jobs"] / answer["seconds"], 1)
            if what == "bulk":
                result["bulk"] = rate
            else:
                result[what][processes] = rate
            progress(f"    {what:8}{processes:3} processes {rate:12,.0f}/s"
                     + (f"  {answer['repeated']} jobs given more than once" if answer.get("repeated") else ""))

    def script(self, name, folder, what, processes, jobs):
        done = self.context.environment.script("queue_rates.py", name, folder, what, processes, self.seconds, jobs, timeout=300)
        return json.loads(done.stdout)

    def cameo(self, folder, what, processes, jobs):
        """Cameo's own programs; None for the single INSERT, which is Python's."""
        store = folder / "store"
        if what == "single":
            self.enqueue(store, 1)
            return None
        started = time.monotonic()
        self.enqueue(store, jobs)
        took = time.monotonic() - started
        if what == "bulk":
            return {"jobs": jobs, "seconds": took}
        program = self.context.bin / "cameo-queue-bench"
        if not program.exists():
            raise Unmeasured("cameo-queue-bench is not built")
        # A backtrace would take seconds, of the other processes too.
        environment = dict(os.environ, SWIFT_BACKTRACE="enable=no")
        drains = [
            subprocess.Popen([program, store, "drain"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
            for _ in range(processes)
        ]
        answers = [(drain, *drain.communicate(timeout=300)) for drain in drains]
        for drain, _, errors in answers:
            if drain.returncode:
                words = next((line for line in errors.splitlines() if "rror" in line), errors)
                raise Unmeasured(f"cameo-queue-bench ended with {drain.returncode}: {words}")
        counts = [output.split() for _, output, _ in answers]
        return {"jobs": sum(int(count) for count, _ in counts), "seconds": max(float(took) for _, took in counts) / 1000}

    def enqueue(self, store, count):
        names = "".join(f"https://pictures.example/{number}.jpg\n" for number in range(count))
        command = [self.context.bin / "cameo-enqueue", "--store", store, "-", "--size", "64x64"]
        subprocess.run(command, input=names, text=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
