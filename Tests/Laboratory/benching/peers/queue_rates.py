"""How many jobs a second a queue takes and gives, each durable before the call returns.

    queue_rates.py QUEUE FOLDER single|bulk|work PROCESSES SECONDS JOBS

`single` puts one job a call, from so many processes; `bulk` puts JOBS at once; `work` claims and completes the JOBS that
were put before. Prints {"jobs": …, "seconds": …}, with "repeated" for jobs that were given more than once and "note"."""
import contextlib
import json
import multiprocessing
import os
import pathlib
import sqlite3
import sys
import time
import uuid

from nothing import nothing

MULTI = multiprocessing.get_context("fork")


def text(number):
    return json.dumps({"source": f"file:///pictures/{number}.jpg", "renditions": [{"width": 64, "height": 64}]})


def opened(make):
    """Opens a database, which several processes do at once: switching to WAL does not wait for the others."""
    limit = time.monotonic() + 60
    while True:
        try:
            return make()
        except sqlite3.OperationalError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.01)


class Queue:
    note = None

    def __init__(self, folder):
        self.folder = folder

    @contextlib.contextmanager
    def around(self):
        """Runs what the queue needs beside it."""
        yield

    def open(self):
        """Opens the queue, in the process that uses it."""

    def put(self, number):
        raise NotImplementedError

    put_many = None

    def fill(self, count):
        """Puts jobs as fast as possible; not measured."""
        self.open()
        if self.put_many:
            self.put_many(range(count))
        else:
            for number in range(count):
                self.put(number)

    def take(self):
        """Claims and completes one job, or several; their numbers, empty if none is left."""
        raise NotImplementedError


class Bare(Queue):
    """SQLite without a queue's code: what Cameo's transactions change, one job a commit."""

    batch = 1

    def open(self):
        self.db = sqlite3.connect(self.folder / "bare.sqlite", isolation_level=None, timeout=0)
        self.retrying("PRAGMA journal_mode=WAL")
        self.retrying("PRAGMA synchronous=FULL")
        for statement in (
            "CREATE TABLE IF NOT EXISTS job(id INTEGER PRIMARY KEY, request TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT",
            """CREATE TABLE IF NOT EXISTS task(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, rank INTEGER NOT NULL,
               token BLOB, attempted_at INTEGER) STRICT""",
            "CREATE INDEX IF NOT EXISTS waiting ON task(rank) WHERE state = 1",
            """CREATE TABLE IF NOT EXISTS outcome(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, attempted_at INTEGER,
               finalized_at INTEGER NOT NULL) STRICT""",
            "CREATE TABLE IF NOT EXISTS attempt(job_id INTEGER, number INTEGER, PRIMARY KEY(job_id, number)) STRICT, WITHOUT ROWID",
        ):
            self.retrying(statement)

    def retrying(self, statement, values=()):
        """A constant short pause between attempts; SQLite's own grows to 0.1 s."""
        while True:
            try:
                return self.db.execute(statement, values).fetchall()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                time.sleep(0.001)

    def insert(self, number):
        now = time.time_ns() // 1_000_000
        job = self.db.execute("INSERT INTO job(request, created_at) VALUES (?, ?)", (text(number), now)).lastrowid
        self.db.execute("INSERT INTO task(id, state, rank) VALUES (?, 1, ?)", (job, now))

    def put(self, number):
        self.retrying("BEGIN IMMEDIATE")
        self.insert(number)
        self.retrying("COMMIT")

    def put_many(self, numbers):
        numbers = list(numbers)
        for start in range(0, len(numbers), 1000):
            self.retrying("BEGIN IMMEDIATE")
            for number in numbers[start : start + 1000]:
                self.insert(number)
            self.retrying("COMMIT")

    def take(self):
        token, now = uuid.uuid4().bytes, time.time_ns() // 1_000_000
        self.retrying("BEGIN IMMEDIATE")
        rows = self.db.execute(
            """UPDATE task SET state = 2, token = ?, attempted_at = ? WHERE id IN
               (SELECT id FROM task WHERE state = 1 ORDER BY rank LIMIT ?) RETURNING id""", (token, now, self.batch)
        ).fetchall()
        self.retrying("COMMIT")
        if not rows:
            return []
        self.retrying("BEGIN IMMEDIATE")
        for (job,) in rows:
            self.db.execute("DELETE FROM task WHERE id = ? AND token = ? AND state = 2", (job, token))
            self.db.execute("INSERT INTO outcome VALUES (?, 4, ?, ?)", (job, now, now))
            self.db.execute("INSERT INTO attempt VALUES (?, 1)", (job,))
        self.retrying("COMMIT")
        return [job for (job,) in rows]


class BareBatches(Bare):
    batch = 128


class Huey(Queue):
    note = "removes a task when it is claimed: what a worker was doing when it died is lost"

    def open(self, fsync=True):
        from huey import SqliteHuey

        self.huey = SqliteHuey(filename=str(self.folder / "huey.db"), fsync=fsync, timeout=60)
        self.task = self.huey.task()(nothing)

    def put(self, number):
        self.task(number)

    def fill(self, count):
        self.open(fsync=False)
        for number in range(count):
            self.put(number)

    def take(self):
        task = self.huey.dequeue()
        if not task:
            return []
        self.huey.execute(task)
        return [task.args[0]]


class Lite(Queue):
    def open(self, synchronous="FULL"):
        from litequeue import LiteQueue

        self.queue = opened(lambda: LiteQueue(str(self.folder / "lite.db"), timeout=60))
        # Its own is NORMAL, which may lose what was put when the power fails.
        self.queue.conn.execute(f"PRAGMA synchronous={synchronous}")

    def put(self, number):
        self.queue.put(str(number))

    def fill(self, count):
        self.open("OFF")
        for number in range(count):
            self.put(number)

    def take(self):
        message = self.queue.pop()
        if not message:
            return []
        self.queue.done(message.message_id)
        return [int(message.data)]


class Persist(Queue):
    def open(self):
        import persistqueue

        # Another process's jobs in progress are not to be given again.
        options = {"auto_commit": True, "multithreading": True, "timeout": 60, "auto_resume": False}
        self.queue = opened(lambda: persistqueue.SQLiteAckQueue(str(self.folder / "persist"), **options))

    def put(self, number):
        self.queue.put(number)

    def take(self):
        from persistqueue import Empty

        try:
            item = self.queue.get(block=False, raw=True)
        except Empty:
            return []
        self.queue.ack(id=item["pqid"])
        return [item["data"]]

    def fill(self, count):
        self.open()
        for connection in ("_putter", "_getter"):
            getattr(self.queue, connection).execute("PRAGMA synchronous=OFF")
        for number in range(count):
            self.put(number)


class RQ(Queue):
    @contextlib.contextmanager
    def around(self):
        from redis_server import running

        os.chdir(self.folder)
        with running("."):
            yield

    def open(self):
        import redis
        import rq

        self.connection = redis.Redis(unix_socket_path="redis.sock")
        self.queue = rq.Queue(connection=self.connection)

    def put(self, number):
        self.queue.enqueue(nothing, number, result_ttl=0)

    def put_many(self, numbers):
        import rq

        numbers = list(numbers)
        for start in range(0, len(numbers), 1000):
            self.queue.enqueue_many(
                [rq.Queue.prepare_data(nothing, (number,), result_ttl=0) for number in numbers[start : start + 1000]]
            )


class CameoInsert(Queue):
    """A producer in Python, by the documented INSERT; the store is made by cameo-enqueue."""

    def open(self):
        self.db = sqlite3.connect(self.folder / "store" / "cameo.sqlite", isolation_level=None, timeout=60)
        self.db.execute("PRAGMA wal_autocheckpoint=0")

    def put(self, number):
        self.db.execute("INSERT INTO job(request) VALUES (?)", (text(number),))


QUEUES = {
    "cameo": CameoInsert, "bare": Bare, "bare-batches": BareBatches, "huey": Huey, "litequeue": Lite,
    "persist-queue": Persist, "rq": RQ,
}


def child(queue, act, number, barrier, seconds, answers):
    try:
        queue.open()
        barrier.wait(60)
        answers.put(act(queue, number, time.monotonic() + seconds))
    except BaseException as error:
        barrier.abort()
        answers.put(repr(error))


def put_singly(queue, number, end):
    count, started = 0, time.monotonic()
    while time.monotonic() < end:
        queue.put(number * 10_000_000 + count)
        count += 1
    return count, time.monotonic() - started, []


def take_all(queue, _, end):
    taken, started = [], time.monotonic()
    while time.monotonic() < end:
        numbers = queue.take()
        if not numbers:
            break
        taken += numbers
    return len(taken), time.monotonic() - started, taken


def in_processes(queue, act, count, seconds):
    barrier, answers = MULTI.Barrier(count), MULTI.Queue()
    children = [MULTI.Process(target=child, args=(queue, act, number, barrier, seconds, answers)) for number in range(count)]
    for process in children:
        process.start()
    found = [answers.get(timeout=seconds + 120) for _ in children]
    for process in children:
        process.join()
    errors = [answer for answer in found if isinstance(answer, str)]
    if errors:
        raise RuntimeError(next((text for text in errors if "BrokenBarrier" not in text), errors[0]))
    taken = [number for _, _, numbers in found for number in numbers]
    answer = {"jobs": sum(jobs for jobs, _, _ in found), "seconds": max(took for _, took, _ in found)}
    if len(set(taken)) < len(taken):
        answer["repeated"] = len(taken) - len(set(taken))
        answer["jobs"] = len(set(taken))
    return answer


def by_rq_workers(queue, count, seconds):
    """RQ's own worker, without forking. Counted by the queue's length, because its loop cannot be interrupted."""
    import rq

    def work(barrier):
        queue.open()
        worker = rq.SimpleWorker([queue.queue], connection=queue.connection)
        barrier.wait(60)
        worker.work(burst=True, logging_level="ERROR")

    queue.open()
    before = len(queue.queue)
    barrier = MULTI.Barrier(count + 1)
    workers = [MULTI.Process(target=work, args=(barrier,)) for _ in range(count)]
    for worker in workers:
        worker.start()
    barrier.wait(60)
    started = time.monotonic()
    while len(queue.queue) and time.monotonic() < started + seconds and any(worker.is_alive() for worker in workers):
        time.sleep(0.01)
    took, left = time.monotonic() - started, len(queue.queue)
    for worker in workers:
        worker.kill()
        worker.join()
    return {"jobs": before - left, "seconds": took}


def main():
    name, folder, what, processes, seconds, jobs = sys.argv[1:]
    queue = QUEUES[name](pathlib.Path(folder))
    processes, seconds, jobs = int(processes), float(seconds), int(jobs)
    with queue.around():
        if what == "single":
            answer = in_processes(queue, put_singly, processes, seconds)
        elif what == "bulk" and queue.put_many:
            queue.open()
            started = time.monotonic()
            queue.put_many(range(jobs))
            answer = {"jobs": jobs, "seconds": time.monotonic() - started}
        elif what == "bulk":
            answer = {"jobs": None}
        else:
            filling = MULTI.Process(target=queue.fill, args=(jobs,))
            filling.start()
            filling.join()
            if filling.exitcode:
                raise RuntimeError("could not put the jobs to take")
            answer = by_rq_workers(queue, processes, seconds) if name == "rq" else in_processes(queue, take_all, processes, seconds)
    if queue.note:
        answer["note"] = queue.note
    print(json.dumps(answer))


main()
