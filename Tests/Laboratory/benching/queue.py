"""Measures the queue without the cost of pictures, on a disk that really syncs:

- the cost of a plain INSERT, and the rates of `cameo-enqueue` and of a bare claim + complete;
- what a job for a 16 x 16 picture writes, and its share of the worker's time;
- the time of a claim and of a status with 1,000,000 finished and 100,000 waiting jobs in 2,000 queues, with a paused
  queue and a full key at the front;
- the processor use of an idle worker, how soon it sees an INSERT, and how long a Python producer waits during a drain."""
import contextlib
import json
import os
import pathlib
import resource
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import time
import zlib

ENDED, WAITING, QUEUES, IN_FRONT = 1_000_000, 100_000, 2_000, 50_000
ROUNDS = 50


def connect(store):
    db = sqlite3.connect(store / "cameo.sqlite", isolation_level=None, timeout=30)
    db.execute("PRAGMA wal_autocheckpoint=0")
    return db


def request(source, **more):
    return json.dumps({"source": source, "renditions": [{"width": 16, "height": 16}], **more})


def cpu(usage=resource.RUSAGE_SELF):
    usage = resource.getrusage(usage)
    return usage.ru_utime + usage.ru_stime


def ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def written(pid="self"):
    """The bytes that a process has passed to write(2) so far."""
    lines = pathlib.Path(f"/proc/{pid}/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("wchar")))


def tiny_png(path):
    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    rows = b"".join(b"\0" + bytes((x * 16, y * 16, 128) [c] for x in range(16) for c in range(3)) for y in range(16))
    head = (16).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    path.write_bytes(png)


class Bench:
    def __init__(self, bin, folder):
        self.bin, self.folder, self.number = bin, pathlib.Path(folder), 0

    def store(self):
        self.number += 1
        store = self.folder / f"store-{self.number}"
        self.run("cameo-enqueue", "--store", store, "data:,x")
        return store

    def run(self, program, *arguments, **more):
        return subprocess.run(
            [self.bin / program, *map(str, arguments)], check=True, capture_output=True, text=True, **more
        ).stdout

    def worker(self, store, *arguments):
        return subprocess.Popen(
            [self.bin / "cameo-worker", "--store", store, "--allow-root", self.folder, *map(str, arguments)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )

    def show(self, what, figure):
        print(f"{what:64}{figure}", flush=True)

    # Enqueueing.

    def inserts(self, count=5_000):
        store = self.store()
        with contextlib.closing(connect(store)) as db:
            requests = [request(f"file:///pictures/{n}.jpg") for n in range(count)]
            before = (cpu(), written())
            for start in range(0, count, 100):
                db.execute("BEGIN IMMEDIATE")
                db.executemany("INSERT INTO job(request) VALUES (?)", [(r,) for r in requests[start:start + 100]])
                db.execute("COMMIT")
            took = (cpu() - before[0]) / count * 1e6
            wrote = (written() - before[1]) / count / 1024
        self.show("plain INSERT, 100 a commit", f"{took:.1f} us of CPU, {wrote:.2f} KiB written")

    def enqueue(self, count=100_000):
        store, names = self.store(), self.folder / "names.txt"
        names.write_text("".join(f"https://pictures.example/{n}.jpg\n" for n in range(count)))
        started = time.monotonic()
        with names.open() as lines:
            self.run("cameo-enqueue", "--store", store, "-", "--size", "64x64", stdin=lines)
        self.show(f"cameo-enqueue of {count:,}", f"{count / (time.monotonic() - started):,.0f}/s")
        return store

    def drain_without_pictures(self, store):
        count, took = self.run("cameo-queue-bench", store, "drain").split()
        self.show(f"claim + complete of {int(count):,}, without pictures", f"{int(count) / float(took) * 1000:,.0f}/s")

    # Tiny pictures.

    def enqueue_tiny(self, store, count):
        picture = self.folder / "tiny.png"
        if not picture.exists():
            tiny_png(picture)
        links = self.folder / f"tiny-{self.number}"
        links.mkdir()
        for n in range(count):
            os.link(picture, links / f"{n}.png")
        names = "".join(f"{links}/{n}.png\n" for n in range(count))
        self.run("cameo-enqueue", "--store", store, "-", "--size", "16x16", input=names)

    def tiny_jobs(self, count=2_000):
        store = self.store()
        self.enqueue_tiny(store, count)
        started, worker = time.monotonic(), self.worker(store)
        wrote = took = 0
        with contextlib.closing(connect(store)) as db:
            while db.execute("SELECT count(*) FROM outcome WHERE state = 4").fetchone()[0] < count:
                time.sleep(0.05)
            elapsed, wrote, took = time.monotonic() - started, written(worker.pid), ticks(worker.pid)
        worker.send_signal(signal.SIGTERM)
        worker.wait()
        self.show(
            f"{count:,} jobs for a 16 x 16 picture",
            f"{count / elapsed:.0f}/s, {wrote / count / 1024:.1f} KiB written a job, "
            f"{took / count * 1000:.2f} ms of the worker's CPU",
        )

    # Many jobs.

    def many(self):
        store = self.store()
        with contextlib.closing(connect(store)) as db:
            self.fill(db)
        self.claim_and_status(store, "1,000,000 finished, 100,000 waiting, 2,000 queues")
        with contextlib.closing(connect(store)) as db:
            self.insert(db, IN_FRONT, "paused", {"queue": "paused", "priority": 100})
        self.accept(store)
        self.run("cameo-admin", "pause", "paused", "--store", store)
        self.claim_and_status(store, "plus a paused queue with 50,000 in front")
        with contextlib.closing(connect(store)) as db:
            self.insert(db, IN_FRONT, "full", {"concurrencyKey": "tenant", "priority": 100})
        self.accept(store)
        self.claim_and_status(store, "plus a full key with 50,000 in front")

    def insert(self, db, count, name, more, queue=None):
        db.execute("BEGIN IMMEDIATE")
        db.execute(
            f"""
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)
            INSERT INTO job(request)
              SELECT json_patch(json_object('source', 'file:///pictures/' || ?2 || '/' || n || '.jpg', 'renditions',
                json_array(json_object('width', 256)){f", 'queue', {queue}" if queue else ""}), ?3) FROM number
            """,
            [count, name, json.dumps(more)],
        )
        db.execute("COMMIT")

    def fill(self, db):
        """Inserts history by SQL, which is not part of the contract; waiting jobs are inserted like any producer's."""
        db.execute("PRAGMA synchronous=OFF")
        self.insert(db, ENDED, "ended", {})
        db.execute("BEGIN IMMEDIATE")
        (queue,) = db.execute("SELECT id FROM queue WHERE name = 'default'").fetchone()
        (last,) = db.execute("SELECT max(id) FROM job").fetchone()
        db.execute(
            """
            INSERT INTO outcome(id, state, queue, priority, available_at, attempt, max_attempts, crash_count,
              attempted_at, finalized_at)
            SELECT id, 4, ?, 0, created_at, 1, 5, 0, created_at, created_at - 3600000 FROM job WHERE id > ?
            """,
            [queue, last - ENDED],
        )
        db.execute("UPDATE queue_count SET completed = completed + ? WHERE queue = ?", [ENDED, queue])
        db.execute("UPDATE sequence SET value = ? WHERE name = 'accepted'", [last])
        db.execute("COMMIT")
        self.insert(db, WAITING // 2, "scheduled", {"runAt": "2090-01-31T12:00:00Z"}, f"'q' || (n % {QUEUES})")
        self.insert(db, WAITING // 2, "available", {}, f"'q' || (n % {QUEUES})")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.accept(pathlib.Path(db.execute("PRAGMA database_list").fetchone()[2]).parent)

    def accept(self, store):
        """Accepts the rows that SQL inserted; one prune accepts a page of them."""
        started, accepted = time.monotonic(), 0
        with contextlib.closing(connect(store)) as db:
            look = "SELECT (SELECT max(id) FROM job) - value FROM sequence WHERE name = 'accepted'"
            waiting = db.execute(look).fetchone()[0]
            self.run("cameo-admin", "prune", "--store", store)
            accepted = waiting - db.execute(look).fetchone()[0]
        self.show(f"acceptance of {accepted:,} rows", f"{accepted / (time.monotonic() - started):,.0f}/s")

    def claim_and_status(self, store, title):
        median, worst, claimed = self.run("cameo-queue-bench", store, "claim", ROUNDS).split()
        times = []
        for _ in range(11):
            started = time.monotonic()
            self.run("cameo-status", "--store", store)
            times.append((time.monotonic() - started) * 1000)
        self.show(
            title,
            f"claim of {claimed} in {float(median):.2f} ms (slowest {float(worst):.2f}), "
            f"status in {statistics.median(times):.1f} ms",
        )

    # An idle and a busy worker.

    def idle(self, seconds=20):
        store = self.store()
        worker = self.worker(store)
        time.sleep(3)
        before = ticks(worker.pid)
        time.sleep(seconds)
        share = (ticks(worker.pid) - before) / seconds
        self.show("an idle worker", f"{share * 100:.2f} % of a core")
        self.latency(store)
        worker.send_signal(signal.SIGTERM)
        worker.wait()

    def latency(self, store, count=200):
        waits = []
        with contextlib.closing(connect(store)) as db:
            for n in range(count):
                text = request(f"initials:A?size={16 + n}")
                # Timed from the commit: its sync is the producer's time.
                (job,) = [db.execute("INSERT INTO job(request) VALUES (?)", [text]).lastrowid]
                committed = time.monotonic()
                claimed = None
                while claimed is None:
                    time.sleep(0.0002)
                    running = "SELECT 1 FROM change WHERE job_id = ? AND state = 2"
                    claimed = db.execute(running, [job]).fetchone()
                waits.append((time.monotonic() - committed) * 1000)
                time.sleep(0.05)
        waits.sort()
        self.show(
            "INSERT to claimed, seen by a reader",
            f"p50 {statistics.median(waits):.1f} ms, p99 {waits[int(len(waits) * 0.99) - 1]:.1f} ms",
        )

    def producer_beside_a_drain(self, count=3_000):
        alone = self.rate(count, with_producer=False)
        beside, waits = self.rate(count, with_producer=True)
        waits.sort()
        self.show(
            "a Python producer's INSERT beside a drain",
            f"p50 {statistics.median(waits):.1f} ms, p99 {waits[int(len(waits) * 0.99) - 1]:.1f} ms; "
            f"the drain does {beside:.0f}/s, {alone:.0f}/s alone",
        )

    def rate(self, count, with_producer):
        store = self.store()
        self.enqueue_tiny(store, count)
        started, worker, waits = time.monotonic(), self.worker(store), []
        with contextlib.closing(connect(store)) as db:
            done = "SELECT count(*) FROM outcome WHERE state = 4"
            while db.execute(done).fetchone()[0] < count:
                if not with_producer:
                    time.sleep(0.02)
                    continue
                before = time.monotonic()
                text = request(f"https://later.example/{len(waits)}", runAt="2090-01-01T00:00:00Z")
                db.execute("INSERT INTO job(request) VALUES (?)", [text])
                waits.append((time.monotonic() - before) * 1000)
                time.sleep(0.02)
        rate = count / (time.monotonic() - started)
        worker.send_signal(signal.SIGTERM)
        worker.wait()
        return (rate, waits) if with_producer else rate


def run(bin):
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(bin, folder)
        bench.inserts()
        bench.drain_without_pictures(bench.enqueue())
        bench.tiny_jobs()
        bench.idle()
        bench.producer_beside_a_drain()
        bench.many()
