"""Ways to end a worker, or to keep it from working, and how long the others take to make up for it."""

import signal
import time

from soaking.process import Worker

POINTS = ["after-claim", "mid-fetch", "mid-render", "after-blob-sync", "inside-transaction", "after-commit"]
KINDS = [*POINTS, "random moment", "frozen", *POINTS, "random moment", "renderer"]

LEASE = 3_000  # milliseconds; a worker that is silent for longer loses its jobs


def attack(run, kind, rng):
    """Starts a worker, attacks it, and waits until nothing that it held is held up."""
    if kind in POINTS:
        kill_at(run, kind, rng)
    elif kind == "random moment":
        kill_at_random(run, rng)
    elif kind == "frozen":
        freeze(run)
    else:
        kill_renderers(run, rng)


def kill_at(run, point, rng):
    worker = run.start("--concurrency", "4", CAMEO_TEST_KILL_POINT=f"{point}:{rng.randint(1, 10)}")
    death = worker.wait(20)
    if death is None:
        # Few jobs have a blob's file; none of this worker's had for a while.
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
    """Beyond its lease. Then it wakes, is refused whatever it comes back with, and goes on."""
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
    """SQLite has one writer: frozen with its lock, a worker would hold up all others, as long as it pleases us."""
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


def wait_until_busy(run, worker):
    end = time.monotonic() + 20
    while worker.is_alive and time.monotonic() < end:
        if run.ask("SELECT count(*) FROM task WHERE worker LIKE ?", f"w%-{worker.pid}-%"):
            return
        time.sleep(0.01)


def note_recovery(run, worker, death):
    """Milliseconds from a death until nothing is held by the dead any more."""
    name = f"w%-{worker.pid}-%"
    end = time.monotonic() + 30
    while run.ask("SELECT count(*) FROM task WHERE worker LIKE ?", name):
        if time.monotonic() > end:
            run.problems.append(f"jobs of the dead {worker.log.name} were not taken back within 30 s")
            return
        time.sleep(0.005)
    taken_back = run.ask("SELECT max(finished_at) FROM attempt WHERE outcome = 'interrupted' AND worker LIKE ?", name)
    if taken_back is not None:
        # While the power is cut, everything stands still.
        paused = sum(max(0, min(end, taken_back / 1_000) - max(start, death)) for start, end in run.pauses)
        run.recoveries.append(max(0, taken_back - (death + paused) * 1_000))
