"""Measures the queue without the cost of pictures, on a disk that really syncs:

- the cost of a plain INSERT, and the rates of `cameo-enqueue` and of a bare claim + complete;
- what a job for a 16 x 16 picture writes, and its share of the worker's time;
- the time of a claim and of a status with 1,000,000 finished and 100,000 waiting jobs in 2,000 queues, with a paused
  queue and a full key at the front;
- what waiting for a job costs in that store;
- the processor use of an idle worker, how soon it sees an INSERT, and how long a Python producer waits during a drain;
- a drain beside rows of SQL that are to be accepted, a stop among them, and a drain with a row that no program can read."""
import contextlib
import json
import pathlib
import signal
import subprocess
import time

import lab
from benching import store
from lab import Unmeasured

ENDED, WAITING, QUEUES, IN_FRONT = 1_000_000, 100_000, 2_000, 50_000


def request(source, **more):
    return json.dumps({"source": source, "renditions": [{"width": 16, "height": 16}], **more})


def written(pid="self"):
    """The bytes that a process has passed to write(2) so far."""
    lines = pathlib.Path(f"/proc/{pid}/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("wchar")))


class Bench(store.Bench):
    def inserts(self, count=5_000):
        with contextlib.closing(lab.connect(self.store())) as db:
            requests = [(request(f"file:///pictures/{n}.jpg"),) for n in range(count)]
            before = (time.process_time(), written())
            for start in range(0, count, 100):
                db.execute("BEGIN IMMEDIATE")
                db.executemany("INSERT INTO job(request) VALUES (?)", requests[start : start + 100])
                db.execute("COMMIT")
            took, wrote = (time.process_time() - before[0]) / count * 1e6, (written() - before[1]) / count / 1024
        self.show("plain INSERT, 100 a commit", f"{took:.1f} us of CPU, {wrote:.2f} KiB written")

    def many_enqueued(self, count=100_000):
        queue = self.store()
        names = [f"https://pictures.example/{n}.jpg" for n in range(count)]
        _, took = lab.timed(self.enqueue, queue, names, "--size", "64x64")
        self.show(f"cameo-enqueue of {count:,}", f"{count / took:,.0f}/s")
        count, took = self.drain(queue)
        self.show(f"claim + complete of {count:,}, without pictures", f"{count / took:,.0f}/s")

    def tiny_store(self, count):
        queue = self.store()
        self.enqueue(queue, self.tiny(count))
        return queue

    def tiny_jobs(self, count=2_000):
        queue, started = self.tiny_store(count), time.monotonic()
        with self.worker(queue) as worker, contextlib.closing(lab.connect(queue)) as db:
            store.finished(db, 1, count, pause=0.05)
            elapsed, wrote, took = time.monotonic() - started, written(worker.pid), lab.own_time(worker.pid)
        self.show(f"{count:,} jobs for a 16 x 16 picture",
                  f"{count / elapsed:.0f}/s, {wrote / count / 1024:.1f} KiB written a job, "
                  f"{took / count * 1000:.2f} ms of the worker's CPU")

    # Many jobs.

    def many(self):
        queue = self.store()
        with contextlib.closing(lab.connect(queue)) as db:
            self.fill(db)
        self.accept(queue)
        self.claim_and_status(queue, "1,000,000 finished, 100,000 waiting, 2,000 queues")
        for what, more in (("paused queue", {"queue": "paused"}), ("full key", {"concurrencyKey": "tenant"})):
            with contextlib.closing(lab.connect(queue)) as db:
                self.insert(db, IN_FRONT, what.split()[0], {**more, "priority": 100})
            self.accept(queue)
            if "queue" in more:
                self.run("cameo-admin", "pause", "paused", "--store", queue)
            self.claim_and_status(queue, f"plus a {what} with 50,000 in front")
        self.waits(queue)

    def waits(self, queue):
        with contextlib.closing(lab.connect(queue)) as db:
            ended = db.execute("SELECT max(id) FROM outcome").fetchone()[0]
            waiting = db.execute("SELECT max(id) FROM job").fetchone()[0]
        for what, options in (("shown", ()), ("waited for", ("--wait",))):
            before = lab.children_time()
            _, took = lab.timed(self.run, "cameo-status", "--store", queue, "job", ended, *options)
            self.show(f"an ended job is {what}",
                      f"{took * 1000:.1f} ms, {(lab.children_time() - before) * 1000:.1f} of a processor's")
        command = lab.words(self.bin / "cameo-status", "--store", queue, "job", waiting, "--wait", "--wait-timeout", "2")
        before = lab.children_time()
        _, took = lab.timed(lambda: subprocess.run(command, capture_output=True))
        self.show("a wait of 2 s for a job that nothing does",
                  f"{took:.2f} s, {(lab.children_time() - before) * 1000:.1f} ms of a processor's")

    # Rows of SQL, and rows that are rotten.

    def stop_among_arrivals(self, count=100_000):
        queue = self.store()
        with contextlib.closing(lab.connect(queue)) as db:
            self.insert(db, count, "arrivals", {"runAt": "2090-01-31T12:00:00Z"})
        with self.worker(queue) as worker:
            lab.wait_until(lambda: self.status(queue)["workers"], "the worker's registration")
            worker.send_signal(signal.SIGTERM)
            _, took = lab.timed(worker.wait, 300)
        self.show(f"a worker ends at SIGTERM, {count:,} rows of SQL waiting", f"after {took:.2f} s")

    def drain_beside_arrivals(self, count=3_000, arrivals=150_000):
        def arrive(db):
            self.insert(db, arrivals, "arrivals", {"runAt": "2090-01-31T12:00:00Z"})

        alone, beside = self.rate(count), self.rate(count, before=arrive)
        self.show(f"a drain beside {arrivals:,} rows of SQL", f"{beside:.0f}/s, {alone:.0f}/s alone")

    def drain_with_a_rotten_row(self, count=1_000):
        def rot(db):
            db.execute("PRAGMA ignore_check_constraints=ON")
            db.execute("INSERT INTO job(request) VALUES ('{\"source\":5')")

        try:
            figure = f"{self.rate(count, before=rot):.0f}/s"
        except Unmeasured as problem:
            figure = str(problem)
        self.show("a drain with a request that is no JSON", figure)

    def insert(self, db, count, name, more, queue=None):
        db.execute("BEGIN IMMEDIATE")
        db.execute(f"""
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)
            INSERT INTO job(request)
              SELECT json_patch(json_object('source', 'file:///pictures/' || ?2 || '/' || n || '.jpg', 'renditions',
                json_array(json_object('width', 256)){f", 'queue', {queue}" if queue else ""}), ?3) FROM number
            """, [count, name, json.dumps(more)])
        db.execute("COMMIT")

    def fill(self, db):
        """Inserts history by SQL, which is not part of the contract; waiting jobs are inserted like any producer's."""
        db.execute("PRAGMA synchronous=OFF")
        self.insert(db, ENDED, "ended", {})
        db.execute("BEGIN IMMEDIATE")
        (queue,) = db.execute("SELECT id FROM queue WHERE name = 'default'").fetchone()
        (last,) = db.execute("SELECT max(id) FROM job").fetchone()
        db.execute("""
            INSERT INTO outcome(id, state, queue, priority, available_at, attempt, max_attempts, crash_count,
              attempted_at, finalized_at)
            SELECT id, 4, ?, 0, created_at, 1, 5, 0, created_at, created_at - 3600000 FROM job WHERE id > ?
            """, [queue, last - ENDED])
        db.execute("UPDATE queue_count SET completed = completed + ? WHERE queue = ?", [ENDED, queue])
        db.execute("UPDATE sequence SET value = ? WHERE name = 'accepted'", [last])
        db.execute("COMMIT")
        self.insert(db, WAITING // 2, "scheduled", {"runAt": "2090-01-31T12:00:00Z"}, f"'q' || (n % {QUEUES})")
        self.insert(db, WAITING // 2, "available", {}, f"'q' || (n % {QUEUES})")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def accept(self, queue):
        """Accepts the rows that SQL inserted; one prune accepts a page of them."""
        with contextlib.closing(lab.connect(queue)) as db:
            look = "SELECT (SELECT max(id) FROM job) - value FROM sequence WHERE name = 'accepted'"
            waiting = db.execute(look).fetchone()[0]
            _, took = lab.timed(self.run, "cameo-admin", "prune", "--store", queue)
            accepted = waiting - db.execute(look).fetchone()[0]
        self.show(f"acceptance of {accepted:,} rows", f"{accepted / took:,.0f}/s")

    def claim_and_status(self, queue, title):
        median, slowest, claimed = self.claim(queue, 50)
        self.show(title, f"claim of {claimed} in {median:.2f} ms (slowest {slowest:.2f}), "
                         f"status in {self.status_time(queue, 11):.1f} ms")

    # An idle and a busy worker.

    def idle(self, seconds=20, count=200):
        queue = self.store()
        with self.worker(queue) as worker, contextlib.closing(lab.connect(queue)) as db:
            time.sleep(3)
            before = lab.own_time(worker.pid)
            time.sleep(seconds)
            self.show("an idle worker", f"{(lab.own_time(worker.pid) - before) / seconds * 100:.2f} % of a core")
            waits = []
            for n in range(count):
                waits += store.follow(db, f"initials:A?size={16 + n}", (store.RUNNING,))
                time.sleep(0.05)
        self.show("INSERT to claimed, seen by a reader", "p50 {p50:.1f} ms, p99 {p99:.1f} ms".format(**lab.quantiles(waits)))

    def producer_beside_a_drain(self, count=3_000):
        waits = []
        alone, beside = self.rate(count), self.rate(count, waits)
        self.show("a Python producer's INSERT beside a drain",
                  "p50 {p50:.1f} ms, p99 {p99:.1f} ms; ".format(**lab.quantiles(waits))
                  + f"the drain does {beside:.0f}/s, {alone:.0f}/s alone")

    def rate(self, count, waits=None, before=lambda db: None):
        """The jobs that a worker does a second; to a list of waits are added those of a producer beside it."""
        queue = self.store()
        with contextlib.closing(lab.connect(queue)) as db:
            before(db)
            (last,) = db.execute("SELECT max(id) FROM job").fetchone()
        self.enqueue(queue, self.tiny(count))
        started = time.monotonic()

        def produce(done):
            text = request(f"https://later.example/{len(waits)}", runAt="2090-01-01T00:00:00Z")
            _, took = lab.timed(db.execute, "INSERT INTO job(request) VALUES (?)", [text])
            waits.append(took * 1000)

        with self.worker(queue), contextlib.closing(lab.connect(queue)) as db:
            store.finished(db, last, count, 300, (lambda done: None) if waits is None else produce, pause=0.02)
            return count / (time.monotonic() - started)


def run(bin):
    with Bench.temporary(bin) as bench:
        bench.inserts()
        bench.many_enqueued()
        bench.tiny_jobs()
        bench.idle()
        bench.producer_beside_a_drain()
        bench.stop_among_arrivals()
        bench.drain_beside_arrivals()
        bench.drain_with_a_rotten_row()
        bench.many()
