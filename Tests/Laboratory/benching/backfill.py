"""Measures `cameo-admin backfill` over 100,000 known thumbnails, of which 1 % is stale, beside a worker:

- how long it takes, dry and for real, and whether it enqueues exactly the stale ones, across `kill -9`;
- how soon a new upload is claimed and completed meanwhile, and while the backfill's jobs are worked on."""
import contextlib
import hashlib
import json
import subprocess
import time

import lab
from benching import store

KNOWN, STALE_EVERY = 100_000, 100


class Backfill(store.Bench):
    def __init__(self, bin, folder):
        super().__init__(bin, folder)
        self.presets = self.folder / "presets.json"
        self.presets.write_text(json.dumps({"presets": {"bench": {"renditions": [{"name": "view", "width": 256}]}}}))
        self.options = ["--preset", "bench", "--presets", self.presets, "--source", "initials:K", "--json"]

    def known(self):
        """A store whose thumbnails are copies of one that a worker made, each of its own source."""
        queue = self.store()
        self.run("cameo-enqueue", "--store", queue, "initials:K", *self.options[:4])
        subprocess.run(lab.words(self.bin / "cameo-worker", "--store", queue, "--drain"), capture_output=True)
        with contextlib.closing(lab.connect(queue)) as db:
            cursor = db.execute("SELECT * FROM thumbnail WHERE source = 'initials:K'")
            first = dict(zip([column[0] for column in cursor.description], cursor.fetchone()))
            del first["used_at"]
            insert = f"INSERT INTO thumbnail({','.join(first)}) VALUES ({','.join('?' * len(first))})"
            db.execute("BEGIN IMMEDIATE")
            for n in range(1, KNOWN):
                source = f"initials:K{n}"
                identity = f'{{"rendition":{{"width":256}},"source":"{source}","v":1}}'
                row = {**first, "source": source, "id": hashlib.sha256(identity.encode()).hexdigest()[:32]}
                if n % STALE_EVERY == 0:
                    row["renderer_version"] = "old"
                db.execute(insert, list(row.values()))
            db.execute("UPDATE thumbnail SET renderer_version = 'old' WHERE source = 'initials:K'")
            db.execute("COMMIT")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return queue

    def backfill(self, queue, *arguments):
        answer, took = lab.timed(self.run, "cameo-admin", "backfill", "--store", queue, *self.options, *arguments)
        return json.loads(answer), took

    def measure(self):
        queue = self.known()
        with self.workers(queue, 1):
            with self.uploads(queue, "while nothing else is done"):
                time.sleep(5)
            answer, took = self.backfill(queue, "--dry-run")
            self.show("dry run over 100,000 thumbnails", f"{took:.1f} s, {answer['jobs']:,} stale")
            self.run("cameo-admin", "queue", "backfill", "--background", "--create", "--store", queue)
            self.run("cameo-admin", "pause", "backfill", "--store", queue)
            self.killed(queue)
            with self.uploads(queue, "during the next"):
                answer, took = self.backfill(queue)
            self.show("backfill after kill -9", f"{took:.1f} s, {answer['enqueued']:,} more jobs")
            self.exact(queue)
            self.run("cameo-admin", "resume", "backfill", "--store", queue)
            with self.uploads(queue, "while the worker makes them"), contextlib.closing(lab.connect(queue)) as db:
                left = "SELECT available + running FROM queue_count JOIN queue ON id = queue WHERE name = 'backfill'"
                lab.wait_until(lambda: not db.execute(left).fetchone()[0], "the backfill's jobs", 1_200, 0.05)
            answer, took = self.backfill(queue)
            self.show("backfill with nothing to do", f"{took:.1f} s, {answer['jobs']} jobs")

    def killed(self, queue):
        """Kills a backfill as soon as it has enqueued something."""
        with lab.running(self.bin / "cameo-admin", "backfill", "--store", queue, *self.options,
                         stderr=subprocess.DEVNULL) as process, contextlib.closing(lab.connect(queue)) as db:
            count = "SELECT count(*) FROM task JOIN queue ON queue.id = task.queue WHERE name = 'backfill'"
            while not (jobs := db.execute(count).fetchone()[0]) and process.poll() is None:
                time.sleep(0.001)
            process.kill()
            process.wait()
        self.show("jobs when kill -9 ended it", f"{jobs:,}")

    def exact(self, queue):
        with contextlib.closing(lab.connect(queue)) as db:
            rows = db.execute("SELECT source FROM job_status WHERE queue = 'backfill'").fetchall()
        wanted = {"initials:K"} | {f"initials:K{n}" for n in range(STALE_EVERY, KNOWN, STALE_EVERY)}
        verdict = "exactly these" if sorted(wanted) == sorted(row[0] for row in rows) else "NOT exactly these"
        self.show("jobs for stale thumbnails", f"{len(rows):,} for {len(wanted):,}, {verdict}")

    @contextlib.contextmanager
    def uploads(self, queue, what):
        """Inserts a request now and then meanwhile, and shows how soon it was claimed and completed."""
        waits = []
        with contextlib.closing(lab.connect(queue, check_same_thread=False)) as db, \
                lab.meanwhile(lambda: waits.append(store.follow(db, f"initials:U?size={16 + time.monotonic_ns() % 2000}")), 0.05):
            yield
        figures = [f"{name} p50 {{p50:.1f}} ms, p99 {{p99:.1f}}, slowest {{slowest:.1f}}".format(**lab.quantiles(times))
                   for name, times in zip(("claimed", "completed"), zip(*waits))]
        self.show(f"an upload {what} ({len(waits)} of them)", "; ".join(figures))


def run(bin):
    with Backfill.temporary(bin) as bench:
        bench.measure()
