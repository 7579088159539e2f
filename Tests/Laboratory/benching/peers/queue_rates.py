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

MULTI = multiprocessing.get_context("fork")
TABLES = (
    "CREATE TABLE IF NOT EXISTS job(id INTEGER PRIMARY KEY, request TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT",
    """CREATE TABLE IF NOT EXISTS task(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, rank INTEGER NOT NULL, token BLOB,
       attempted_at INTEGER) STRICT""",
    "CREATE INDEX IF NOT EXISTS waiting ON task(rank) WHERE state = 1",
    """CREATE TABLE IF NOT EXISTS outcome(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, attempted_at INTEGER,
       finalized_at INTEGER NOT NULL) STRICT""",
    "CREATE TABLE IF NOT EXISTS attempt(job_id INTEGER, number INTEGER, PRIMARY KEY(job_id, number)) STRICT, WITHOUT ROWID",
)


def nothing(number):
    """The task of a queue that is measured without pictures."""


def text(number):
    return json.dumps({"source": f"file:///pictures/{number}.jpg", "renditions": [{"width": 64, "height": 64}]})


def pages(numbers):
    return (numbers[start : start + 1000] for start in range(0, len(numbers), 1000))


def now_ms():
    return time.time_ns() // 1_000_000


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
    note = put_many = None

    def __init__(self, folder):
        self.folder = folder

    def around(self):
        """Runs what the queue needs beside it."""
        return contextlib.nullcontext()

    def open(self, fast=False):
        """Opens the queue, in the process that uses it; `fast` need not be durable, to fill it."""

    def put(self, number):
        raise NotImplementedError

    def take(self):
        """Claims and completes one job, or several; their numbers, empty if none is left."""
        raise NotImplementedError

    def fill(self, count):
        self.open(fast=True)
        if self.put_many:
            self.put_many(range(count))
        else:
            for number in range(count):
                self.put(number)


class Bare(Queue):
    """SQLite without a queue's code: what Cameo's transactions change, one job a commit."""

    batch = 1

    def open(self, fast=False):
        self.db = sqlite3.connect(self.folder / "bare.sqlite", isolation_level=None, timeout=0)
        for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", *TABLES):
            self.retrying(statement)

    def retrying(self, statement):
        """A constant short pause between attempts; SQLite's own grows to 0.1 s."""
        while True:
            try:
                return self.db.execute(statement)
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                time.sleep(0.001)

    @contextlib.contextmanager
    def commit(self):
        self.retrying("BEGIN IMMEDIATE")
        yield
        self.retrying("COMMIT")

    def put(self, number):
        self.put_many([number])

    def put_many(self, numbers):
        for page in pages(numbers):
            with self.commit():
                for number in page:
                    job = self.db.execute("INSERT INTO job(request, created_at) VALUES (?, ?)", (text(number), now_ms())).lastrowid
                    self.db.execute("INSERT INTO task(id, state, rank) VALUES (?, 1, ?)", (job, now_ms()))

    def take(self):
        token, now = uuid.uuid4().bytes, now_ms()
        with self.commit():
            rows = self.db.execute(
                """UPDATE task SET state = 2, token = ?, attempted_at = ? WHERE id IN
                   (SELECT id FROM task WHERE state = 1 ORDER BY rank LIMIT ?) RETURNING id""", (token, now, self.batch)
            ).fetchall()
        if rows:
            with self.commit():
                for (job,) in rows:
                    self.db.execute("DELETE FROM task WHERE id = ? AND token = ? AND state = 2", (job, token))
                    self.db.execute("INSERT INTO outcome VALUES (?, 4, ?, ?)", (job, now, now))
                    self.db.execute("INSERT INTO attempt VALUES (?, 1)", (job,))
        return [job for (job,) in rows]


class BareBatches(Bare):
    batch = 128


class Huey(Queue):
    note = "removes a task when it is claimed: what a worker was doing when it died is lost"

    def open(self, fast=False):
        from huey import SqliteHuey

        self.huey = SqliteHuey(filename=str(self.folder / "huey.db"), fsync=not fast, timeout=60)
        self.put = self.huey.task()(nothing)

    def take(self):
        task = self.huey.dequeue()
        if not task:
            return []
        self.huey.execute(task)
        return [task.args[0]]


class Lite(Queue):
    def open(self, fast=False):
        from litequeue import LiteQueue

        self.queue = opened(lambda: LiteQueue(str(self.folder / "lite.db"), timeout=60))
        # Its own is NORMAL, which may lose what was put when the power fails.
        self.queue.conn.execute(f"PRAGMA synchronous={'OFF' if fast else 'FULL'}")

    def put(self, number):
        self.queue.put(str(number))

    def take(self):
        message = self.queue.pop()
        if not message:
            return []
        self.queue.done(message.message_id)
        return [int(message.data)]


class Persist(Queue):
    def open(self, fast=False):
        import persistqueue

        # Another process's jobs in progress are not to be given again.
        options = {"auto_commit": True, "multithreading": True, "timeout": 60, "auto_resume": False}
        self.queue = opened(lambda: persistqueue.SQLiteAckQueue(str(self.folder / "persist"), **options))
        for connection in ("_putter", "_getter") if fast else ():
            getattr(self.queue, connection).execute("PRAGMA synchronous=OFF")

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


class RQ(Queue):
    def around(self):
        from redis_server import running

        os.chdir(self.folder)
        return running(".")

    def open(self, fast=False):
        import redis
        import rq

        self.connection = redis.Redis(unix_socket_path="redis.sock")
        self.queue = rq.Queue(connection=self.connection)

    def put(self, number):
        self.queue.enqueue(nothing, number, result_ttl=0)

    def put_many(self, numbers):
        for page in pages(numbers):
            self.queue.enqueue_many([type(self.queue).prepare_data(nothing, (number,), result_ttl=0) for number in page])


class CameoInsert(Queue):
    """A producer in Python, by the documented INSERT; the store is made by cameo-enqueue."""

    def open(self, fast=False):
        self.db = sqlite3.connect(self.folder / "store" / "cameo.sqlite", isolation_level=None, timeout=60)
        self.db.execute("PRAGMA wal_autocheckpoint=0")

    def put(self, number):
        self.db.execute("INSERT INTO job(request) VALUES (?)", (text(number),))


QUEUES = {"cameo": CameoInsert, "bare": Bare, "bare-batches": BareBatches, "huey": Huey, "litequeue": Lite,
          "persist-queue": Persist, "rq": RQ}


def child(queue, act, number, barrier, seconds, answers):
    try:
        queue.open()
        barrier.wait(60)
        started = time.monotonic()
        answers.put((*act(queue, number, started + seconds), time.monotonic() - started))
    except BaseException as error:
        barrier.abort()
        answers.put(repr(error))


def put_singly(queue, number, end):
    count = 0
    while time.monotonic() < end:
        queue.put(number * 10_000_000 + count)
        count += 1
    return count, []


def take_all(queue, _, end):
    taken = []
    while time.monotonic() < end and (numbers := queue.take()):
        taken += numbers
    return len(taken), taken


def in_processes(queue, act, count, seconds):
    barrier, answers = MULTI.Barrier(count), MULTI.Queue()
    children = [MULTI.Process(target=child, args=(queue, act, number, barrier, seconds, answers)) for number in range(count)]
    for process in children:
        process.start()
    found = [answers.get(timeout=seconds + 120) for _ in children]
    for process in children:
        process.join()
    if errors := [answer for answer in found if isinstance(answer, str)]:
        raise RuntimeError(next((words for words in errors if "BrokenBarrier" not in words), errors[0]))
    taken = [number for _, numbers, _ in found for number in numbers]
    again = len(taken) - len(set(taken))
    answer = {"jobs": sum(jobs for jobs, _, _ in found) - again, "seconds": max(took for *_, took in found)}
    return {**answer, "repeated": again} if again else answer


def by_rq_workers(queue, count, seconds):
    """RQ's own worker, without forking. Counted by the queue's length, because its loop cannot be interrupted."""
    import rq

    def work():
        queue.open()
        worker = rq.SimpleWorker([queue.queue], connection=queue.connection)
        barrier.wait(60)
        worker.work(burst=True, logging_level="ERROR")

    queue.open()
    before, barrier = len(queue.queue), MULTI.Barrier(count + 1)
    workers = [MULTI.Process(target=work) for _ in range(count)]
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
    queue, processes, seconds, jobs = QUEUES[name](pathlib.Path(folder)), int(processes), float(seconds), int(jobs)
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
    print(json.dumps({**answer, **({"note": queue.note} if queue.note else {})}))


if __name__ == "__main__":
    import queue_rates  # under this name, which is that of the tasks

    queue_rates.main()
