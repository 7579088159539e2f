"""The queue alone: jobs put a second, singly and in bulk, and claimed and completed by 1, 4 and 16 processes, of Cameo,
of other small queues, and of bare SQLite transactions of the same shape. Everything is durable before a call
returns."""
import contextlib
import itertools
import os
import sys

import lab
from benching import store

QUEUES = {"cameo": "Cameo", "bare": "bare SQLite", "bare-batches": "bare SQLite, 128 a commit", "huey": "huey",
          "rq": "RQ on Redis"}
UNKNOWN = {("huey", "bulk"), ("bare-batches", "bulk"), ("bare-batches", "single")}
# Put before the taking: enough for the fastest.
JOBS = {"cameo": (20_000, 60_000), "bare": (4_000, 10_000), "bare-batches": (20_000, 80_000)}


def run(context):
    found = []
    for name, what, processes in itertools.product(QUEUES, ("single", "bulk", "work"), (1, 4, 16)):
        if (name, what) in UNKNOWN or processes > 1 and (what == "bulk" or what == "single" and context.quick):
            continue
        with context.failures_of(f"{QUEUES[name]}: queue, {what}, {processes} processes"), \
                Bench.temporary(context.bin, context.work, reports=True) as bench:
            jobs, milliseconds, repeated = bench.answer(context, name, what, processes)
            found.append({"queue": QUEUES[name], "what": what, "processes": processes,
                          "jobsPerSecond": round(jobs / milliseconds * 1000, 1), "repeated": repeated})
            bench.show(f"{QUEUES[name]}, {what} by {processes}", "{jobsPerSecond:,.0f}/s".format(**found[-1]))
    return found


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
                # A backtrace would take seconds, of the other processes too.
                environment = dict(os.environ, SWIFT_BACKTRACE="enable=no")
                command = [self.program("cameo-queue-bench"), queue, "drain"]
                counts, times = zip(*lab.together(command, processes, waits=False, env=environment))
                return sum(counts), max(times), 0
        # Of Cameo, this is the documented INSERT by Python.
        with contextlib.ExitStack() as stack:
            environment = dict(os.environ)
            if name == "rq":
                environment["REDIS"], _ = stack.enter_context(lab.redis(self.folder))

            def peer(what, number, processes):
                command = [sys.executable, "-m", "benching.queue_rates", name, what, number]
                return lab.together(command, processes, cwd=self.folder, env=environment)

            if what == "work":
                peer("fill", jobs, 1)
            answers = peer(what, jobs if what == "bulk" else seconds, processes)
        taken = [number for answer in answers for number in answer[2:]]
        repeated = len(taken) - len(set(taken))
        return sum(answer[0] for answer in answers) - repeated, max(answer[1] for answer in answers), repeated
