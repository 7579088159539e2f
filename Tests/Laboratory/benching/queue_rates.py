"""How many jobs a second a queue takes and gives, each durable before the call returns, in the current folder.

    queue_rates.py QUEUE fill|bulk COUNT        puts so many jobs; `fill` need not be durable
    queue_rates.py QUEUE single|work SECONDS    puts one job a call; claims and completes what was put, until the end

Prints a line when it has opened the queue, and reads one. Then prints how many jobs it has put or taken, the
milliseconds that took, and the numbers of the jobs that it has taken."""
import contextlib
import functools
import json
import os
import sqlite3
import sys
import time
import uuid

TABLES = """
    PRAGMA journal_mode=WAL;
    PRAGMA synchronous=FULL;
    CREATE TABLE IF NOT EXISTS job(id INTEGER PRIMARY KEY, request TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS task(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, rank INTEGER NOT NULL, token BLOB,
      attempted_at INTEGER) STRICT;
    CREATE INDEX IF NOT EXISTS waiting ON task(rank) WHERE state = 1;
    CREATE TABLE IF NOT EXISTS outcome(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, attempted_at INTEGER,
      finalized_at INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS attempt(job_id INTEGER, number INTEGER, PRIMARY KEY(job_id, number))
      STRICT, WITHOUT ROWID;
"""
DONE = []  # the numbers of the tasks that this process has run


def note(number):
    """The task of a queue that is measured without pictures."""
    DONE.append(number)


def text(number):
    return json.dumps({"source": f"file:///pictures/{number}.jpg", "renditions": [{"width": 64, "height": 64}]})


def now_ms():
    return time.time_ns() // 1_000_000


def retrying(act, *arguments):
    """A constant short pause between attempts; SQLite's own grows to 0.1 s, and switching to WAL does not wait for
    others."""
    while True:
        try:
            return act(*arguments)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            time.sleep(0.001)


# Each function opens a queue, and returns what puts several jobs, and what claims and completes one or several and
# gives their numbers, empty if none is left. `fast` need not be durable, to fill it.


def bare(fast, batch=1):
    """SQLite without a queue's code: what Cameo's transactions change, so many jobs a commit."""
    db = sqlite3.connect("bare.sqlite", isolation_level=None, timeout=0)

    @contextlib.contextmanager
    def commit():
        retrying(db.execute, "BEGIN IMMEDIATE")
        yield
        retrying(db.execute, "COMMIT")

    def put(numbers):
        with commit():
            for number in numbers:
                row = text(number), now_ms()
                job = db.execute("INSERT INTO job(request, created_at) VALUES (?, ?)", row).lastrowid
                db.execute("INSERT INTO task(id, state, rank) VALUES (?, 1, ?)", (job, now_ms()))

    def take():
        token, now = uuid.uuid4().bytes, now_ms()
        with commit():
            rows = db.execute(
                """UPDATE task SET state = 2, token = ?, attempted_at = ? WHERE id IN
                   (SELECT id FROM task WHERE state = 1 ORDER BY rank LIMIT ?) RETURNING id""",
                   (token, now, batch)).fetchall()
        if rows:
            with commit():
                for (job,) in rows:
                    db.execute("DELETE FROM task WHERE id = ? AND token = ? AND state = 2", (job, token))
                    db.execute("INSERT INTO outcome VALUES (?, 4, ?, ?)", (job, now, now))
                    db.execute("INSERT INTO attempt VALUES (?, 1)", (job,))
        return [job for (job,) in rows]

    retrying(db.executescript, TABLES)
    return put, take


def huey(fast):
    from huey import SqliteHuey

    queue = SqliteHuey(filename="huey.db", fsync=not fast, timeout=60)
    task = queue.task()(note)

    def take():
        if found := queue.dequeue():
            queue.execute(found)
        return [found.args[0]] if found else []

    return lambda numbers: list(map(task, numbers)), take


def on_redis(fast):
    """RQ's own worker, without forking; it takes all that is left."""
    import redis
    import rq

    connection = redis.Redis(unix_socket_path=os.environ["REDIS"])
    queue = rq.Queue(connection=connection)

    def put(numbers):
        queue.enqueue_many([queue.prepare_data(note, (number,), result_ttl=0) for number in numbers])

    def take():
        before = len(DONE)
        rq.SimpleWorker([queue], connection=connection).work(burst=True, logging_level="ERROR")
        return DONE[before:]

    return put, take


def cameo(fast):
    """A producer in Python, by the documented INSERT; the store is made by cameo-enqueue."""
    db = sqlite3.connect("store/cameo.sqlite", isolation_level=None, timeout=60)
    db.execute("PRAGMA wal_autocheckpoint=0")
    return lambda numbers: [db.execute("INSERT INTO job(request) VALUES (?)", (text(number),))
                            for number in numbers], None


QUEUES = {"cameo": cameo, "bare": bare, "bare-batches": functools.partial(bare, batch=128), "huey": huey,
          "rq": on_redis}


def main():
    name, what, number = sys.argv[1:]
    put, take = QUEUES[name](what == "fill")
    print("ready", flush=True)
    sys.stdin.readline()
    started, count, taken = time.monotonic(), 0, []
    end, first = started + float(number), os.getpid() * 10_000_000
    if what in ("fill", "bulk"):
        for count in range(0, int(number), 1000):
            put(range(count, min(count + 1000, int(number))))
        count = int(number)
    while what == "single" and time.monotonic() < end:
        put([first + count])
        count += 1
    while what == "work" and time.monotonic() < end and (numbers := take()):
        taken += numbers
    print(count + len(taken), (time.monotonic() - started) * 1000, *taken)


if __name__ == "__main__":
    from benching import queue_rates  # under this name, which is that of the tasks

    queue_rates.main()
