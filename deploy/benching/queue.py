"""Measures how long a claim and a status take on a store with many jobs: 1,000,000 completed and 100,000 waiting, half of
them scheduled; then with a paused queue, and with one full key, owning 50,000 of the jobs that wait in front.

The rows are made by SQL, with the triggers that every row passes; the claims are those of a worker (cameo-queue-bench)."""
import contextlib
import pathlib
import sqlite3
import statistics
import subprocess
import tempfile
import time

COMPLETED, WAITING, IN_FRONT = 1_000_000, 100_000, 50_000
ROUNDS = 50

# How many rows, their queue, and what more their requests say.
INSERT = """
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :count)
INSERT INTO job(request)
  SELECT json_patch(json_object('source', 'file:///pictures/' || :name || '/' || n || '.jpg', 'renditions',
      json_array(json_object('width', 256))), :more) FROM number
"""


def fill(store, count, name, more="{}"):
    with contextlib.closing(sqlite3.connect(store / "cameo.sqlite", isolation_level=None)) as db:
        db.execute("PRAGMA wal_autocheckpoint=0")
        db.execute("PRAGMA synchronous=OFF")
        db.execute("BEGIN IMMEDIATE")
        (last,) = db.execute("SELECT coalesce(max(id), 0) FROM job").fetchone()
        db.execute(INSERT, {"count": count, "name": name, "more": more})
        # As if a process of Cameo had named them.
        db.execute("UPDATE job SET unique_key = 'bench:' || id, joinable = 1 WHERE id > ?", [last])
        if name == "completed":
            db.execute("UPDATE job SET state = 'completed', finalized_at = created_at - 3600000 WHERE id > ?", [last])
        db.execute("COMMIT")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def status(bin, store):
    times = []
    for _ in range(11):
        started = time.monotonic()
        subprocess.run([bin / "cameo-status", "--store", store], check=True, stdout=subprocess.DEVNULL)
        times.append((time.monotonic() - started) * 1000)
    return statistics.median(times)


def measure(bin, store, title):
    command = [bin / "cameo-queue-bench", store, str(ROUNDS)]
    median, worst, claimed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    print(f"{title:48}{float(median):9.2f} ms{float(worst):9.2f} ms{status(bin, store):9.1f} ms   {claimed} jobs a claim")


def run(root):
    bin = root / ".build" / "release"
    subprocess.run([root / "deploy" / "build"], check=True, stdout=subprocess.DEVNULL)
    bench = ["swift", "build", "-c", "release", "--product", "cameo-queue-bench"]
    subprocess.run(bench, cwd=root, check=True, stdout=subprocess.DEVNULL)
    print(f"{'':48}{'claim of 32':>12}{'slowest':>12}{'cameo-status':>14}")
    with tempfile.TemporaryDirectory() as folder:
        store = pathlib.Path(folder, "store")
        subprocess.run([bin / "cameo-enqueue", "--store", store, "data:,x"], check=True, stdout=subprocess.DEVNULL)
        fill(store, COMPLETED, "completed")
        fill(store, WAITING // 2, "scheduled", '{"runAt":"2090-01-31T12:00:00Z"}')
        fill(store, WAITING // 2, "available")
        measure(bin, store, "1,000,000 completed, 100,000 waiting")
        # In front: a higher priority, so that a walk by rank would meet them first.
        fill(store, IN_FRONT, "paused", '{"queue":"paused","priority":100}')
        with contextlib.closing(sqlite3.connect(store / "cameo.sqlite")) as db:
            db.execute("PRAGMA wal_autocheckpoint=0")
            db.execute("UPDATE queue SET paused = 1 WHERE name = 'paused'")
            db.commit()
        measure(bin, store, "and a paused queue with 50,000 in front")
        fill(store, IN_FRONT, "full", '{"concurrencyKey":"tenant","priority":100}')
        measure(bin, store, "and a full key with 50,000 in front")
