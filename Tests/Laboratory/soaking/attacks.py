"""Attacks that end or stall a worker, and the time that the other workers need to recover its jobs."""

import signal
import time

from soaking.process import Worker

POINTS = ["after-claim", "mid-fetch", "mid-render", "after-blob-sync", "inside-transaction", "after-commit"]
KINDS = [*POINTS, "random moment", "frozen", *POINTS, "random moment", "renderer", "deletion"]

LEASE = 3_000  # milliseconds; a worker that is silent for longer loses its jobs


def attack(run, kind, rng):
    """Starts a worker, attacks it, and waits until others have taken over all its jobs."""
    if kind in POINTS:
        kill_at(run, kind, rng)
    elif kind == "random moment":
        kill_at_random(run, rng)
    elif kind == "frozen":
        freeze(run)
    elif kind == "deletion":
        delete(run, rng)
    else:
        kill_renderers(run, rng)


def kill_at(run, point, rng):
    worker = run.start("--concurrency", "4", CAMEO_TEST_KILL_POINT=f"{point}:{rng.randint(1, 10)}")
    death = worker.wait(20)
    if death is None:
        # Few jobs store a blob as a file, and this worker has had none for a while.
        run.counts["points not reached"] += 1
        worker.end()
    elif worker.process.returncode == -signal.SIGKILL:
        run.counts[f"kill {point}"] += 1
        note_recovery(run, worker, death)
    else:
        run.ended(worker)
    run.retire(worker)


def kill_at_random(run, rng):
    worker = run.start("--concurrency", "4")
    wait_until_busy(run, worker)
    time.sleep(rng.uniform(0, 0.3))
    worker.process.kill()
    death = worker.wait(20) or time.time()
    run.counts["kill random moment"] += 1
    note_recovery(run, worker, death)
    run.retire(worker)


def freeze(run):
    """Freezes a worker beyond its lease. When it wakes, its results are refused and it goes on."""
    worker = run.start("--concurrency", "4")
    wait_until_busy(run, worker)
    stop_outside_transaction(run, worker)
    time.sleep(LEASE / 1_000 + 1)
    taken = run.ask(
        "SELECT count(*) FROM attempt WHERE outcome = 'interrupted' AND worker LIKE ?", f"w%-{worker.pid}-%"
    )
    run.counts["frozen"] += 1
    run.counts["jobs taken from the frozen"] += taken
    worker.send(signal.SIGCONT)
    worker.wait(1)
    worker.end()
    run.ended(worker)
    run.retire(worker)


def stop_outside_transaction(run, worker):
    """Freezes a worker that does not hold SQLite's write lock, which would block all other writers meanwhile."""
    while worker.is_alive:
        worker.send(signal.SIGSTOP)
        run.await_stop([worker.process])
        if run.is_writable():
            return
        worker.send(signal.SIGCONT)


def kill_renderers(run, rng):
    worker = run.start("--concurrency", "4")
    wait_until_busy(run, worker)
    for _ in range(3):
        time.sleep(rng.uniform(0, 0.3))
        for child in worker.children():
            run.kill(child)
            run.counts["kill renderer"] += 1
            run.attacked.add(worker.pid)
    worker.end()
    run.ended(worker)
    run.retire(worker)


def delete(run, rng):
    """Deletes unfinished jobs and what they need, as people clear what seems stuck. All of it has to be refused."""
    for statement in [
        "DELETE FROM job WHERE id = (SELECT id FROM task ORDER BY random() LIMIT 1)",
        "DELETE FROM job WHERE id IN (SELECT id FROM task WHERE state = 2)",
        "DELETE FROM job",
        "DELETE FROM task WHERE id = (SELECT id FROM task ORDER BY random() LIMIT 1)",
        "DELETE FROM queue",
    ]:
        # Without foreign keys, as the sqlite3 shell.
        if run.ask("SELECT count(*) FROM task"):
            if run.is_refused(statement):
                run.counts["deletions refused"] += 1
            else:
                run.problems.append(f"the store let a program {statement}")
        time.sleep(rng.uniform(0, 0.2))


def wait_until_busy(run, worker):
    end = time.monotonic() + 20
    while worker.is_alive and time.monotonic() < end:
        if run.ask("SELECT count(*) FROM task WHERE worker LIKE ?", f"w%-{worker.pid}-%"):
            return
        time.sleep(0.01)


def note_recovery(run, worker, death):
    """Milliseconds from a worker's death until none of its jobs is left to it."""
    name = f"w%-{worker.pid}-%"
    end = time.monotonic() + 30
    while run.ask("SELECT count(*) FROM task WHERE worker LIKE ?", name):
        if time.monotonic() > end:
            run.problems.append(f"jobs of the dead worker {worker.log.name} were not recovered within 30 s")
            return
        time.sleep(0.005)
    taken_back = run.ask("SELECT max(finished_at) FROM attempt WHERE outcome = 'interrupted' AND worker LIKE ?", name)
    if taken_back is not None:
        # Everything is stopped during a power cut.
        paused = sum(max(0, min(end, taken_back / 1_000) - max(start, death)) for start, end in run.pauses)
        run.recoveries.append(max(0, taken_back - (death + paused) * 1_000))
