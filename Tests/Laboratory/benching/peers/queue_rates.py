"""How many jobs a second a queue takes and gives, each durable before the call returns.

    queue_rates.py QUEUE FOLDER single|bulk|work PROCESSES SECONDS JOBS

`single` puts one job a call, from so many processes; `bulk` puts JOBS at once; `work` claims and completes the JOBS that
were put before. Prints {"jobs": …, "seconds": …}, "repeated", jobs that were given more than once, and "note"."""
import contextlib
import functools
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


# Each function opens a queue in the process that uses it, and returns what puts a job, what puts many, and what claims and
# completes one or several and gives their numbers, empty if none is left. `fast` need not be durable, to fill it.


def bare(folder, fast, batch=1):
    """SQLite without a queue's code: what Cameo's transactions change, so many jobs a commit."""
    db = sqlite3.connect(folder / "bare.sqlite", isolation_level=None, timeout=0)

    def retrying(statement):
        """A constant short pause between attempts; SQLite's own grows to 0.1 s."""
        while True:
            try:
                return db.execute(statement)
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                time.sleep(0.001)

    @contextlib.contextmanager
    def commit():
        retrying("BEGIN IMMEDIATE")
        yield
        retrying("COMMIT")

    def put_many(numbers):
        for page in pages(numbers):
            with commit():
                for number in page:
                    job = db.execute("INSERT INTO job(request, created_at) VALUES (?, ?)", (text(number), now_ms())).lastrowid
                    db.execute("INSERT INTO task(id, state, rank) VALUES (?, 1, ?)", (job, now_ms()))

    def take():
        token, now = uuid.uuid4().bytes, now_ms()
        with commit():
            rows = db.execute(
                """UPDATE task SET state = 2, token = ?, attempted_at = ? WHERE id IN
                   (SELECT id FROM task WHERE state = 1 ORDER BY rank LIMIT ?) RETURNING id""", (token, now, batch)
            ).fetchall()
        if rows:
            with commit():
                for (job,) in rows:
                    db.execute("DELETE FROM task WHERE id = ? AND token = ? AND state = 2", (job, token))
                    db.execute("INSERT INTO outcome VALUES (?, 4, ?, ?)", (job, now, now))
                    db.execute("INSERT INTO attempt VALUES (?, 1)", (job,))
        return [job for (job,) in rows]

    for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", *TABLES):
        retrying(statement)
    return lambda number: put_many([number]), put_many, take


def huey(folder, fast):
    from huey import SqliteHuey

    queue = SqliteHuey(filename=str(folder / "huey.db"), fsync=not fast, timeout=60)

    def take():
        if task := queue.dequeue():
            queue.execute(task)
        return [task.args[0]] if task else []

    return queue.task()(nothing), None, take


def lite(folder, fast):
    from litequeue import LiteQueue

    queue = opened(lambda: LiteQueue(str(folder / "lite.db"), timeout=60))
    # Its own is NORMAL, which may lose what was put when the power fails.
    queue.conn.execute(f"PRAGMA synchronous={'OFF' if fast else 'FULL'}")

    def take():
        if message := queue.pop():
            queue.done(message.message_id)
        return [int(message.data)] if message else []

    return lambda number: queue.put(str(number)), None, take


def persist(folder, fast):
    import persistqueue

    # Another process's jobs in progress are not to be given again.
    options = {"auto_commit": True, "multithreading": True, "timeout": 60, "auto_resume": False}
    queue = opened(lambda: persistqueue.SQLiteAckQueue(str(folder / "persist"), **options))
    for connection in ("_putter", "_getter") if fast else ():
        getattr(queue, connection).execute("PRAGMA synchronous=OFF")

    def take():
        try:
            item = queue.get(block=False, raw=True)
        except persistqueue.Empty:
            return []
        queue.ack(id=item["pqid"])
        return [item["data"]]

    return queue.put, None, take


def redis_queue():
    import redis
    import rq

    return rq.Queue(connection=redis.Redis(unix_socket_path="redis.sock"))


def on_redis(folder, fast):
    queue = redis_queue()

    def put_many(numbers):
        for page in pages(numbers):
            queue.enqueue_many([queue.prepare_data(nothing, (number,), result_ttl=0) for number in page])

    return lambda number: queue.enqueue(nothing, number, result_ttl=0), put_many, None


def cameo(folder, fast):
    """A producer in Python, by the documented INSERT; the store is made by cameo-enqueue."""
    db = sqlite3.connect(folder / "store" / "cameo.sqlite", isolation_level=None, timeout=60)
    db.execute("PRAGMA wal_autocheckpoint=0")
    return lambda number: db.execute("INSERT INTO job(request) VALUES (?)", (text(number),)), None, None


QUEUES = {"cameo": cameo, "bare": bare, "bare-batches": functools.partial(bare, batch=128), "huey": huey, "litequeue": lite,
          "persist-queue": persist, "rq": on_redis}
NOTES = {"huey": "removes a task when it is claimed: what a worker was doing when it died is lost"}


def fill(queue, folder, count):
    put, put_many, _ = queue(folder, True)
    if put_many:
        put_many(range(count))
    else:
        for number in range(count):
            put(number)


def child(queue, folder, act, number, barrier, seconds, answers):
    try:
        opened = queue(folder, False)
        barrier.wait(60)
        started = time.monotonic()
        answers.put((*act(*opened, number, started + seconds), time.monotonic() - started))
    except BaseException as error:
        barrier.abort()
        answers.put(repr(error))


def put_singly(put, put_many, take, number, end):
    count = 0
    while time.monotonic() < end:
        put(number * 10_000_000 + count)
        count += 1
    return count, []


def take_all(put, put_many, take, _, end):
    taken = []
    while time.monotonic() < end and (numbers := take()):
        taken += numbers
    return len(taken), taken


def in_processes(queue, folder, act, count, seconds):
    barrier, answers = MULTI.Barrier(count), MULTI.Queue()
    children = [MULTI.Process(target=child, args=(queue, folder, act, number, barrier, seconds, answers)) for number in range(count)]
    for process in children:
        process.start()
    found = [answers.get(timeout=seconds + 120) for _ in children]
    for process in children:
        process.join()
    if errors := [answer for answer in found if isinstance(answer, str)]:
        raise RuntimeError(next((words for words in errors if "BrokenBarrier" not in words), errors[0]))
    taken = [number for _, numbers, _ in found for number in numbers]
    again = len(taken) - len(set(taken))
    return {"jobs": sum(jobs for jobs, *_ in found) - again, "seconds": max(took for *_, took in found), "repeated": again}


def by_rq_workers(count, seconds):
    """RQ's own worker, without forking. Counted by the queue's length, because its loop cannot be interrupted."""
    import rq

    def work():
        mine = redis_queue()
        worker = rq.SimpleWorker([mine], connection=mine.connection)
        barrier.wait(60)
        worker.work(burst=True, logging_level="ERROR")

    queue, barrier = redis_queue(), MULTI.Barrier(count + 1)
    before, workers = len(queue), [MULTI.Process(target=work) for _ in range(count)]
    for worker in workers:
        worker.start()
    barrier.wait(60)
    started = time.monotonic()
    while len(queue) and time.monotonic() < started + seconds and any(worker.is_alive() for worker in workers):
        time.sleep(0.01)
    took, left = time.monotonic() - started, len(queue)
    for worker in workers:
        worker.kill()
        worker.join()
    return {"jobs": before - left, "seconds": took}


def measure(name, folder, what, processes, seconds, jobs):
    queue = QUEUES[name]
    if what == "single":
        return in_processes(queue, folder, put_singly, processes, seconds)
    if what == "bulk":
        _, put_many, _ = queue(folder, False)
        started = time.monotonic()
        return {"jobs": put_many and (put_many(range(jobs)) or jobs), "seconds": time.monotonic() - started}
    filling = MULTI.Process(target=fill, args=(queue, folder, jobs))
    filling.start()
    filling.join()
    if filling.exitcode:
        raise RuntimeError("could not put the jobs to take")
    return by_rq_workers(processes, seconds) if name == "rq" else in_processes(queue, folder, take_all, processes, seconds)


def main():
    name, folder, what, processes, seconds, jobs = sys.argv[1:]
    os.chdir(folder)
    with contextlib.ExitStack() as stack:
        if name == "rq":
            from redis_server import running

            stack.enter_context(running())
        answer = measure(name, pathlib.Path(folder), what, int(processes), float(seconds), int(jobs))
    print(json.dumps({**answer, "note": NOTES.get(name)}))


if __name__ == "__main__":
    import queue_rates  # under this name, which is that of the tasks

    queue_rates.main()
