"""The queue alone: jobs put a second, singly and in bulk, and claimed and completed by 1, 4 and 16 processes, of Cameo, of
other small queues, and of bare SQLite transactions of the same shape. Everything is durable before a call returns."""
import json
import os

import lab
from benching import store
from lab import Unmeasured

QUEUES = {
    "cameo": "Cameo", "bare": "bare SQLite", "bare-batches": "bare SQLite, 128 a commit", "huey": "huey",
    "litequeue": "litequeue", "persist-queue": "persist-queue", "rq": "RQ on Redis",
}
PROCESSES = (1, 4, 16)
# Put before the taking: enough for the fastest.
JOBS = {"cameo": (20_000, 60_000), "bare": (4_000, 10_000), "bare-batches": (20_000, 80_000)}


def run(context):
    """{"queues": {name: {label, single: {processes: rate}, bulk: rate, work: {processes: rate}, …}}}"""
    return {"queues": {name: measure(context, name, label) for name, label in QUEUES.items()}}


def measure(context, name, label):
    lab.progress(f"queue: {label}")
    result = {"label": label, "single": {}, "work": {}, "repeated": {}}
    puts = [] if name == "bare-batches" else [*(("single", count) for count in PROCESSES[: 1 if context.quick else 3]), ("bulk", 1)]
    for what, processes in [*puts, *(("work", count) for count in PROCESSES)]:
        with context.failures_of(f"{label}: queue, {what}, {processes} processes"), \
                Bench.temporary(context.bin, context.work, reports=True) as bench:
            answer = bench.answer(context, name, what, processes)
            if answer.get("note"):
                result["note"] = answer["note"]
            if answer.get("repeated"):
                result["repeated"][processes] = answer["repeated"]
            if answer["jobs"] is None:
                continue
            rate = round(answer["jobs"] / answer["seconds"], 1)
            result.update({"bulk": rate}) if what == "bulk" else result[what].update({processes: rate})
            again = f"  {answer['repeated']} jobs given more than once" if answer.get("repeated") else ""
            lab.progress(f"    {what:8}{processes:3} processes {rate:12,.0f}/s{again}")
    return result


class Bench(store.Bench):
    def answer(self, context, name, what, processes):
        jobs, seconds = JOBS.get(name, (1_500, 4_000))[not context.quick], 1 if context.quick else 4
        if name == "cameo":
            queue = self.folder / "store"
            names = [f"https://pictures.example/{number}.jpg" for number in range(1 if what == "single" else jobs)]
            _, took = lab.timed(self.enqueue, queue, names, "--size", "64x64")
            if what == "bulk":
                return {"jobs": jobs, "seconds": took}
            if what == "work":
                return self.drains(queue, processes)
        # Of Cameo, this is the documented INSERT by Python.
        return json.loads(context.script("queue_rates.py", name, self.folder, what, processes, seconds, jobs, timeout=300))

    def drains(self, queue, processes):
        program = self.bin / "cameo-queue-bench"
        if not program.exists():
            raise Unmeasured("cameo-queue-bench is not built")
        # A backtrace would take seconds, of the other processes too.
        printed = lab.together([program, queue, "drain"], processes, env=dict(os.environ, SWIFT_BACKTRACE="enable=no"))
        counts, times = zip(*(map(float, words.split()) for words in printed))
        return {"jobs": int(sum(counts)), "seconds": max(times) / 1000}
