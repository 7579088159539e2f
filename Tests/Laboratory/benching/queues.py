"""The queue alone: jobs put a second, singly and in bulk, and claimed and completed by 1, 4 and 16 processes, of Cameo,
of other small queues, and of bare SQLite transactions of the same shape. Everything is durable before a call
returns."""
import contextlib
import os

import lab
from benching import store
from benching.place import FOR_PEERS, PEERS

QUEUES = {
    "cameo": "Cameo", "bare": "bare SQLite", "bare-batches": "bare SQLite, 128 a commit", "huey": "huey",
    "litequeue": "litequeue", "rq": "RQ on Redis",
}
NOTES = {"huey": "removes a task when it is claimed: what a worker was doing when it died is lost"}
WITHOUT_BULK = ("huey", "litequeue", "bare-batches")
PROCESSES = (1, 4, 16)
# Put before the taking: enough for the fastest.
JOBS = {"cameo": (20_000, 60_000), "bare": (4_000, 10_000), "bare-batches": (20_000, 80_000)}


def run(context):
    """{"queues": {name: {label, single: {processes: rate}, bulk: rate, work: {processes: rate}, …}}}"""
    return {"queues": {name: measure(context, name, label) for name, label in QUEUES.items()}}


def measure(context, name, label):
    lab.progress(f"queue: {label}")
    result = {"label": label, "single": {}, "work": {}, "repeated": {}}
    tasks = [("work", count) for count in PROCESSES]
    if name not in WITHOUT_BULK:
        tasks.insert(0, ("bulk", 1))
    if name != "bare-batches":
        tasks = [("single", count) for count in PROCESSES[: 1 if context.quick else 3]] + tasks
    for what, processes in tasks:
        with context.failures_of(f"{label}: queue, {what}, {processes} processes"), \
                Bench.temporary(context.bin, context.work, reports=True) as bench:
            jobs, milliseconds, repeated = bench.answer(context, name, what, processes)
            rate = round(jobs / milliseconds * 1000, 1)
            if what == "bulk":
                result["bulk"] = rate
            else:
                result[what][processes] = rate
            if repeated:
                result["repeated"][processes] = repeated
            again = f"  {repeated} jobs given more than once" if repeated else ""
            lab.progress(f"    {what:8}{processes:3} processes {rate:12,.0f}/s{again}")
    return result | ({"note": NOTES[name]} if name in NOTES else {})


class Bench(store.Bench):
    def answer(self, context, name, what, processes):
        """How many jobs were put or taken, in how many milliseconds, and how many were given more than once."""
        jobs, seconds = JOBS.get(name, (1_500, 4_000))[not context.quick], 1 if context.quick else 4
        if name == "cameo":
            queue = self.folder / "store"
            names = [f"https://pictures.example/{number}.jpg" for number in range(1 if what == "single" else jobs)]
            _, took = lab.timed(self.enqueue, queue, names, "--size", "64x64")
            if what == "bulk":
                return jobs, took * 1000, 0
            if what == "work":
                return self.drains(queue, processes)
        # Of Cameo, this is the documented INSERT by Python.
        with contextlib.ExitStack() as stack:
            environment = dict(FOR_PEERS)
            if name == "rq":
                environment["REDIS"] = stack.enter_context(lab.redis(self.folder))

            def peer(what, number, processes):
                command = [context.python, PEERS / "queue_rates.py", name, what, number]
                return lab.together(command, processes, cwd=self.folder, env=environment)

            if what == "work":
                peer("fill", jobs, 1)
            answers = peer(what, jobs if what == "bulk" else seconds, processes)
        taken = [number for answer in answers for number in answer[2:]]
        repeated = len(taken) - len(set(taken))
        return sum(answer[0] for answer in answers) - repeated, max(answer[1] for answer in answers), repeated

    def drains(self, queue, processes):
        # A backtrace would take seconds, of the other processes too.
        environment = dict(os.environ, SWIFT_BACKTRACE="enable=no")
        command = [self.program("cameo-queue-bench"), queue, "drain"]
        counts, times = zip(*lab.together(command, processes, waits=False, env=environment))
        return sum(counts), max(times), 0
