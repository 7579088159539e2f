"""Measures `cameo-admin backfill` over 100,000 known thumbnails, of which 1 % is stale, beside a worker:

- how long it takes, dry and for real, and whether it enqueues exactly the stale ones, across `kill -9`;
- how soon a new upload is claimed and completed meanwhile, and while the backfill's jobs are worked on."""
import contextlib
import hashlib
import json
import signal
import statistics
import subprocess
import tempfile
import threading
import time

from benching.queue import Bench, connect

KNOWN, STALE_EVERY = 100_000, 100
RENDITION = {"name": "view", "width": 256}


class Backfill(Bench):
    def __init__(self, bin, folder):
        super().__init__(bin, folder)
        self.presets = self.folder / "presets.json"
        self.presets.write_text(json.dumps({"presets": {"bench": {"renditions": [RENDITION]}}}))
        self.options = ["--preset", "bench", "--presets", self.presets, "--source", "initials:K", "--json"]

    def known(self):
        """A store whose thumbnails are copies of one that a worker made, each of its own source."""
        store = self.store()
        self.run("cameo-enqueue", "--store", store, "initials:K", "--preset", "bench", "--presets", self.presets)
        self.worker(store, "--drain").wait()
        with contextlib.closing(connect(store)) as db:
            cursor = db.execute("SELECT * FROM thumbnail WHERE source = 'initials:K'")
            names = [column[0] for column in cursor.description]
            first = dict(zip(names, cursor.fetchone()))
            columns = [name for name in names if name != "used_at"]
            db.execute("BEGIN IMMEDIATE")
            for n in range(1, KNOWN):
                source = f"initials:K{n}"
                identity = f'{{"rendition":{{"width":256}},"source":"{source}","v":1}}'
                row = {**first, "source": source, "id": hashlib.sha256(identity.encode()).hexdigest()[:32]}
                if n % STALE_EVERY == 0:
                    row["renderer_version"] = "old"
                marks = ",".join("?" * len(columns))
                db.execute(f"INSERT INTO thumbnail({','.join(columns)}) VALUES ({marks})", [row[c] for c in columns])
            db.execute("UPDATE thumbnail SET renderer_version = 'old' WHERE source = 'initials:K'")
            db.execute("COMMIT")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return store

    def backfill(self, store, *arguments):
        return json.loads(self.run("cameo-admin", "backfill", "--store", store, *self.options, *arguments))

    def timed(self, store, *arguments):
        started = time.monotonic()
        return self.backfill(store, *arguments), time.monotonic() - started

    def measure(self):
        store = self.known()
        worker = self.worker(store)
        try:
            while not json.loads(self.run("cameo-status", "--store", store, "--json"))["workers"]:
                time.sleep(0.05)
            with Uploads(store) as uploads:
                time.sleep(5)
            uploads.show(self, "an upload while nothing else is done")
            answer, took = self.timed(store, "--dry-run")
            self.show("dry run over 100,000 thumbnails", f"{took:.1f} s, {answer['jobs']:,} stale")
            self.run("cameo-admin", "queue", "backfill", "--background", "--create", "--store", store)
            self.run("cameo-admin", "pause", "backfill", "--store", store)
            self.killed(store)
            with Uploads(store) as uploads:
                answer, took = self.timed(store)
            self.show("backfill after kill -9", f"{took:.1f} s, {answer['enqueued']:,} more jobs")
            uploads.show(self, "an upload during it")
            self.exact(store)
            self.run("cameo-admin", "resume", "backfill", "--store", store)
            with Uploads(store) as uploads, contextlib.closing(connect(store)) as db:
                left = "SELECT available + running FROM queue_count JOIN queue ON id = queue WHERE name = 'backfill'"
                while db.execute(left).fetchone()[0]:
                    time.sleep(0.05)
            uploads.show(self, "an upload while the worker makes them")
            answer, took = self.timed(store)
            self.show("backfill with nothing to do", f"{took:.1f} s, {answer['jobs']} jobs")
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.wait()

    def killed(self, store):
        """Kills a backfill as soon as it has enqueued something."""
        words = [self.bin / "cameo-admin", "backfill", "--store", store, *self.options]
        process = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with contextlib.closing(connect(store)) as db:
            count = "SELECT count(*) FROM task JOIN queue ON queue.id = task.queue WHERE name = 'backfill'"
            while not (jobs := db.execute(count).fetchone()[0]) and process.poll() is None:
                time.sleep(0.001)
        process.kill()
        process.wait()
        self.show("jobs when kill -9 ended it", f"{jobs:,}")

    def exact(self, store):
        with contextlib.closing(connect(store)) as db:
            rows = db.execute("SELECT source FROM job_status WHERE queue = 'backfill'").fetchall()
        wanted = {"initials:K"} | {f"initials:K{n}" for n in range(STALE_EVERY, KNOWN, STALE_EVERY)}
        verdict = "exactly these" if sorted(wanted) == sorted(row[0] for row in rows) else "NOT exactly these"
        self.show("jobs for stale thumbnails", f"{len(rows):,} for {len(wanted):,}, {verdict}")


class Uploads:
    """A program that inserts a request now and then, and looks how soon it is claimed and completed."""

    def __init__(self, store):
        self.store, self.stop, self.claimed, self.completed = store, threading.Event(), [], []
        self.thread = threading.Thread(target=self.work)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()

    def work(self):
        with contextlib.closing(connect(self.store)) as db:
            while not self.stop.wait(0.05):
                source = f"initials:U?size={16 + time.monotonic_ns() % 2000}"
                text = json.dumps({"source": source, "renditions": [{"width": 64}], "refresh": "always"})
                job = db.execute("INSERT INTO job(request) VALUES (?)", [text]).lastrowid
                committed = time.monotonic()
                for state, waits in (2, self.claimed), (4, self.completed):
                    look = "SELECT 1 FROM change WHERE job_id = ? AND state = ?"
                    while not db.execute(look, [job, state]).fetchone():
                        time.sleep(0.0005)
                    waits.append((time.monotonic() - committed) * 1000)

    def show(self, bench, what):
        figures = [
            f"{name} p50 {statistics.median(waits):.1f} ms, p99 {sorted(waits)[int(len(waits) * 0.99) - 1]:.1f}, "
            f"slowest {max(waits):.1f}"
            for name, waits in (("claimed", self.claimed), ("completed", self.completed)) if waits
        ]
        bench.show(f"{what} ({len(self.claimed)} of them)", "; ".join(figures))


def run(bin):
    with tempfile.TemporaryDirectory() as folder:
        Backfill(bin, folder).measure()
