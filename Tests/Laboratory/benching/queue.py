"""Measures the queue without the cost of pictures, on a disk that really syncs:

- the cost of a plain INSERT, and the rates of `cameo-enqueue` and of a bare claim + complete;
- what a job for a 16 x 16 picture writes, and its share of the worker's time;
- the processor use of an idle worker, how soon it sees an INSERT, and how long a Python producer waits during a drain;
- the time of a claim and of a status with 1,000,000 finished and 100,000 waiting jobs in 2,000 queues."""
import json
import pathlib
import time

import lab
from benching import scale, store

ENDED, WAITING, QUEUES = 1_000_000, 100_000, 2_000


def request(source, **more):
    return json.dumps({"source": source, "renditions": [{"width": 16, "height": 16}], **more})


def written(pid="self"):
    """The bytes that a process has passed to write(2) so far."""
    lines = pathlib.Path(f"/proc/{pid}/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("wchar")))


class Bench(scale.Scale):
    def inserts(self, count=5_000):
        with lab.connect(self.store()) as db:
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

    def tiny_jobs(self, count=2_000):
        queue = self.store()
        self.enqueue(queue, self.tiny(count))
        started = time.monotonic()
        with self.worker(queue) as worker, lab.connect(queue) as db:
            store.finished(db, 1, count, pause=0.05)
            elapsed, wrote, took = time.monotonic() - started, written(worker.pid), lab.own_time(worker.pid)
        self.show(f"{count:,} jobs for a 16 x 16 picture",
                  f"{count / elapsed:.0f}/s, {wrote / count / 1024:.1f} KiB written a job, "
                  f"{took / count * 1000:.2f} ms of the worker's CPU")

    def producer_beside_a_drain(self, count=3_000):
        waits = []
        alone, beside = self.rate(count), self.rate(count, waits)
        self.show("a Python producer's INSERT beside a drain",
                  "p50 {p50:.1f} ms, p99 {p99:.1f} ms; ".format(**lab.quantiles(waits))
                  + f"the drain does {beside:.0f}/s, {alone:.0f}/s alone")

    def rate(self, count, waits=None):
        """The jobs that a worker does a second; to a list of waits are added those of a producer beside it."""
        queue = self.store()
        self.enqueue(queue, self.tiny(count))

        def produce(done):
            if waits is not None:
                text = request(f"https://later.example/{len(waits)}", runAt="2090-01-01T00:00:00Z")
                waits.append(lab.timed(db.execute, "INSERT INTO job(request) VALUES (?)", [text])[1] * 1000)

        started = time.monotonic()
        with self.worker(queue), lab.connect(queue) as db:
            store.finished(db, 1, count, 300, produce, 0.02)
            return count / (time.monotonic() - started)

    # Many jobs.

    def insert(self, db, count, name, more, queue="'default'"):
        db.execute("BEGIN IMMEDIATE")
        db.execute(f"""
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)
            INSERT INTO job(request)
              SELECT json_patch(json_object('source', 'file:///pictures/' || ?2 || '/' || n || '.jpg', 'renditions',
                json_array(json_object('width', 256)), 'queue', {queue}), ?3) FROM number
            """, [count, name, json.dumps(more)])
        db.execute("COMMIT")

    def fill(self, db):
        """Inserts history by SQL, which is not part of the contract; waiting jobs are inserted like any producer's."""
        db.execute("PRAGMA synchronous=OFF")
        self.insert(db, ENDED, "ended", {})
        db.execute("BEGIN IMMEDIATE")
        queue, last = lab.one(db, "SELECT id FROM queue WHERE name = 'default'"), lab.one(db, "SELECT max(id) FROM job")
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

    def many(self):
        queue = self.store()
        with lab.connect(queue) as db:
            self.fill(db)
            # One prune accepts a page of the rows that SQL inserted.
            look = "SELECT (SELECT max(id) FROM job) - value FROM sequence WHERE name = 'accepted'"
            waiting = lab.one(db, look)
            _, took = lab.timed(self.run, "cameo-admin", "prune", "--store", queue)
            accepted = waiting - lab.one(db, look)
        self.show(f"acceptance of {accepted:,} rows", f"{accepted / took:,.0f}/s")
        median, slowest, claimed = map(float, self.run("cameo-queue-bench", queue, "claim", 50).split())
        status = lab.quantiles([lab.timed(self.run, "cameo-status", "--store", queue)[1] * 1000 for _ in range(11)])
        self.show("1,000,000 finished, 100,000 waiting, 2,000 queues",
                  f"claim of {claimed:.0f} in {median:.2f} ms (slowest {slowest:.2f}), "
                  f"status in {status['p50']:.1f} ms")


def run(bin):
    with Bench.temporary(bin) as bench:
        bench.inserts()
        bench.many_enqueued()
        bench.tiny_jobs()
        bench.latency(False, [])
        bench.producer_beside_a_drain()
        bench.many()
