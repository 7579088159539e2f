"""Attacks that end or stall a worker, and the time that the other workers need to recover its jobs."""
import contextlib
import os
import signal
import time

import lab

POINTS = ["after-claim", "mid-fetch", "mid-render", "after-blob-sync", "inside-transaction", "after-commit"]
LEASE = 3_000  # milliseconds; a worker that is silent for longer loses its jobs
INTERRUPTED = "FROM attempt WHERE outcome = 'interrupted' AND worker LIKE ?"
DELETIONS = [
    "DELETE FROM job WHERE id = (SELECT id FROM task ORDER BY random() LIMIT 1)",
    "DELETE FROM job WHERE id IN (SELECT id FROM task WHERE state = 2)",
    "DELETE FROM job",
    "DELETE FROM task WHERE id = (SELECT id FROM task ORDER BY random() LIMIT 1)",
    "DELETE FROM queue",
]


def attack(run, kind, rng):
    """Starts a worker, attacks it, and waits until others have taken over all its jobs."""
    if kind == "deletion":
        return delete(run, rng)
    point = {"CAMEO_TEST_KILL_POINT": f"{kind}:{rng.randint(1, 10)}"} if kind in POINTS else {}
    worker = run.start("--concurrency", "4", **point)
    if kind not in POINTS:
        wait_until_busy(run, worker)
    ATTACKS.get(kind, kill_at)(run, kind, worker, rng)
    run.retire(worker)


def kill_at(run, point, worker, rng):
    death = worker.wait(20)
    if death is None:
        # Few jobs store a blob as a file, and this worker has had none for a while.
        run.counts["points not reached"] += 1
        worker.end()
    elif worker.process.returncode == -signal.SIGKILL:
        run.counts[f"worker killed {point}"] += 1
        note_recovery(run, worker, death)
    else:
        run.ended(worker)


def kill_at_random(run, kind, worker, rng):
    time.sleep(rng.uniform(0, 0.3))
    worker.process.kill()
    death = worker.wait(20) or time.time()
    run.counts[f"worker killed at a {kind}"] += 1
    note_recovery(run, worker, death)


def freeze(run, kind, worker, rng):
    """Freezes a worker beyond its lease. When it wakes, its results are refused and it goes on."""
    while worker.is_alive:
        worker.send(signal.SIGSTOP)
        run.await_stop([worker.process])
        # Not while it holds SQLite's write lock, which would block all other writers meanwhile.
        if run.is_writable():
            break
        worker.send(signal.SIGCONT)
    time.sleep(LEASE / 1_000 + 1)
    run.counts["workers frozen beyond their lease"] += 1
    run.counts["jobs taken from the frozen"] += run.ask(f"SELECT count(*) {INTERRUPTED}", worker.name)
    worker.send(signal.SIGCONT)
    worker.wait(1)
    worker.end()
    run.ended(worker)


def kill_renderers(run, kind, worker, rng):
    for _ in range(3):
        time.sleep(rng.uniform(0, 0.3))
        for child in lab.children(worker.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            run.counts["renderers killed"] += 1
            run.attacked.add(worker.pid)
    worker.end()
    run.ended(worker)


ATTACKS = {"random moment": kill_at_random, "frozen": freeze, "renderer": kill_renderers}
KINDS = [*POINTS, "random moment", "frozen", *POINTS, "random moment", "renderer", "deletion"]


def delete(run, rng):
    """Deletes unfinished jobs and what they need, as people clear what seems stuck. All of it has to be refused."""
    for statement in DELETIONS:
        if run.ask("SELECT count(*) FROM task"):
            if run.is_refused(statement):
                run.counts["deletions refused"] += 1
            else:
                run.problems.append(f"the store let a program {statement}")
        time.sleep(rng.uniform(0, 0.2))


def wait_until_busy(run, worker):
    with contextlib.suppress(lab.Unmeasured):
        lab.wait_until(lambda: not worker.is_alive or run.jobs_of(worker), "the worker's first job", 20, 0.01)


def note_recovery(run, worker, death):
    """The time from a worker's death until none of its jobs is left to it."""
    try:
        lab.wait_until(lambda: not run.jobs_of(worker), "recovery", 30, 0.005)
    except lab.Unmeasured:
        run.problems.append(f"jobs of the dead worker {worker.log.name} were not recovered within 30 s")
        return
    taken_back = run.ask(f"SELECT max(finished_at) {INTERRUPTED}", worker.name)
    if taken_back is not None and abs(taken_back / 1_000 - death) < 3_600:  # unless the clock was wrong
        # Everything is stopped during a power cut.
        paused = sum(max(0, min(end, taken_back / 1_000) - max(start, death)) for start, end in run.pauses)
        run.recoveries["a dead worker's jobs are others'"].append(max(0, taken_back / 1_000 - death - paused))
