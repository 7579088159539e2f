"""Measures `cameo-admin backfill` over 100,000 known thumbnails, of which 1 % is stale, beside a worker:

- how long it takes, dry and for real, and whether it enqueues exactly the stale ones, across `kill -9`;
- how soon a new upload is claimed and completed meanwhile, and while the backfill's jobs are worked on."""
import contextlib
import hashlib
import itertools
import json
import subprocess
import time

import lab
from benching import store

KNOWN, STALE_EVERY = 100_000, 100


class Backfill(store.Bench):
    def known(self):
        """A store whose thumbnails are copies of one that a worker made, each of its own source."""
        queue = self.folder / "store"
        self.make(queue, ["initials:K0"], *self.preset)
        with lab.connect(queue) as db:
            cursor = db.execute("SELECT * FROM thumbnail WHERE source = 'initials:K0'")
            first = dict(zip([column[0] for column in cursor.description], cursor.fetchone()))
            del first["used_at"]
            insert = f"INSERT INTO thumbnail({','.join(first)}) VALUES ({','.join('?' * len(first))})"
            db.execute("BEGIN IMMEDIATE")
            for n in range(1, KNOWN):
                source = f"initials:K{n}"
                identity = f'{{"rendition":{{"width":256}},"source":"{source}","v":1}}'
                row = {**first, "source": source, "id": hashlib.sha256(identity.encode()).hexdigest()[:32]}
                db.execute(insert, list(row.values()))
            db.executemany("UPDATE thumbnail SET renderer_version = 'old' WHERE source = ?",
                           [[one] for one in self.stale])
            db.execute("COMMIT")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return queue

    def backfill(self, queue, *arguments):
        command = [*self.command, "--store", queue, *arguments]
        answer, took = lab.timed(lab.output, *command)
        return json.loads(answer), took

    def measure(self):
        presets = self.folder / "presets.json"
        presets.write_text(json.dumps({"presets": {"bench": {"renditions": [{"name": "view", "width": 256}]}}}))
        self.preset = ["--preset", "bench", "--presets", presets]
        self.command = [self.bin / "cameo-admin", "backfill", *self.preset, "--source", "initials:K", "--json"]
        self.stale = [f"initials:K{n}" for n in range(0, KNOWN, STALE_EVERY)]
        queue = self.known()
        with self.workers(queue, 1) as (_, db):
            with self.uploads(queue, "while nothing else is done"):
                time.sleep(5)
            answer, took = self.backfill(queue, "--dry-run")
            self.show("dry run over 100,000 thumbnails", f"{took:.1f} s, {answer['jobs']:,} stale")
            self.run("cameo-admin", "queue", "backfill", "--background", "--create", "--store", queue)
            self.run("cameo-admin", "pause", "backfill", "--store", queue)
            self.show("jobs when kill -9 ended it", f"{self.killed(queue, db):,}")
            with self.uploads(queue, "during the next"):
                answer, took = self.backfill(queue)
            self.show("backfill after kill -9", f"{took:.1f} s, {answer['enqueued']:,} more jobs")
            rows = db.execute("SELECT source FROM job_status WHERE queue = 'backfill'").fetchall()
            verdict = "exactly these" if sorted(self.stale) == sorted(row[0] for row in rows) else "NOT exactly these"
            self.show("jobs for stale thumbnails", f"{len(rows):,} for {len(self.stale):,}, {verdict}")
            self.run("cameo-admin", "resume", "backfill", "--store", queue)
            with self.uploads(queue, "while the worker makes them"):
                left = "SELECT available + running FROM queue_count JOIN queue ON id = queue WHERE name = 'backfill'"
                lab.wait_until(lambda: not lab.one(db, left), "the backfill's jobs", 1_200, 0.05)
            answer, took = self.backfill(queue)
            self.show("backfill with nothing to do", f"{took:.1f} s, {answer['jobs']} jobs")

    def killed(self, queue, db):
        """Kills a backfill as soon as it has enqueued something; how much."""
        count = "SELECT count(*) FROM task JOIN queue ON queue.id = task.queue WHERE name = 'backfill'"
        with lab.running(*self.command, "--store", queue, stderr=subprocess.DEVNULL) as process:
            while not (jobs := lab.one(db, count)) and process.poll() is None:
                time.sleep(0.001)
            process.kill()
        return jobs

    @contextlib.contextmanager
    def uploads(self, queue, what):
        """Inserts a request now and then meanwhile, and shows how soon it was claimed and completed."""
        waits, sizes = [], itertools.count(16 + time.monotonic_ns() % 2000)
        with lab.connect(queue, check_same_thread=False) as db, \
                lab.meanwhile(lambda: waits.append(store.follow(db, f"initials:U?size={next(sizes)}")), 0.05):
            yield
        figures = [f"{name} p50 {{p50:.1f}} ms, p99 {{p99:.1f}}, slowest {{slowest:.1f}}".format(**lab.quantiles(times))
                   for name, times in zip(("claimed", "completed"), zip(*waits))]
        self.show(f"an upload {what} ({len(waits)} of them)", "; ".join(figures))


def run(bin):
    with Backfill.temporary(bin) as bench:
        bench.measure()
