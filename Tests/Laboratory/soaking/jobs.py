"""The jobs enqueued, and whether their results exist."""

import collections
import itertools
import json
import os
import sqlite3
import subprocess
import threading
import urllib.parse

SIZES = [
    ["--size", "96x96:cover:webp", "--size", "200x:jpeg"],
    ["--size", "128x128:jpeg"],
    ["--size", "320x:webp", "--priority", "5"],
    ["--size", "420x420:cover:png"],  # beyond 100 KiB: a blob in a file
    ["--size", "64x64", "--size", "240x240:contain:png"],
]

# A reason for discarding: a picture that ended two renderers is not given to a third, and the attacks had killed them.
RENDERERS_KILLED = "render.crashed, its renderers killed twice"

# A producer without Cameo, in a process of its own, so that its commits are included in the record of syncs.
SQL_PRODUCER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=30)
db.execute("PRAGMA wal_autocheckpoint=0")
for line in sys.stdin:
    with db:
        job = db.execute("INSERT INTO job(request) VALUES (?)", (line,)).lastrowid
    print(job, flush=True)
"""


class Jobs:
    def __init__(self, run, pictures):
        self.run, self.pictures = run, pictures
        self.numbers = itertools.count()
        self.lock = threading.Lock()
        self.acknowledged = set()
        self.refusals = collections.Counter()  # nothing was promised, so nothing is lost
        self.folder = run.folder / "pictures"
        self.folder.mkdir()

    def links(self, count):
        """Sources that no job has used, because otherwise jobs would be joined or completed at once."""
        paths = []
        for number in itertools.islice(self.numbers, count):
            picture = self.pictures[number % len(self.pictures)]
            path = self.folder / f"{number:07d}{picture.suffix}"
            path.symlink_to(picture)  # a hard link more would change the file under whoever reads it
            paths.append(path)
        return paths

    def enqueue(self, count, rng):
        (self.enqueue_by_sql if rng.random() < 0.2 else self.enqueue_by_command)(count, rng)

    def enqueue_by_command(self, count, rng):
        """Enqueues all jobs in one transaction."""
        command = [self.run.bin / "cameo-enqueue", "-", "--json", "--max-attempts", "25", *rng.choice(SIZES)]
        self.produce(command, map(str, self.links(count)), lambda line: json.loads(line)["id"])

    def enqueue_by_sql(self, count, rng):
        """Inserts each job in its own transaction."""
        rendition = {"width": rng.randint(40, 200)}
        requests = [
            {"source": "file://" + urllib.parse.quote(str(path)), "renditions": [rendition], "maxAttempts": 25}
            for path in self.links(count)
        ]
        command = ["python3", "-c", SQL_PRODUCER, str(self.run.store / "cameo.sqlite")]
        self.produce(command, map(json.dumps, requests), int)

    def produce(self, command, lines, number_of):
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self.run.environment, start_new_session=True,
        )
        with self.run.tracking(process):
            threading.Thread(target=self.feed, args=(process, "\n".join(lines) + "\n"), daemon=True).start()
            for line in process.stdout:
                with self.lock:
                    self.acknowledged.add(number_of(line))
            errors = process.stderr.read()
            if process.wait() != 0:
                self.run.note_locked(errors)
                self.refusals[errors.strip().splitlines()[-1][:120] if errors.strip() else "no reason"] += 1

    @staticmethod
    def feed(process, text):
        try:
            process.stdin.write(text)
            process.stdin.close()
        except OSError:
            pass  # it ended early, and its exit code says so

    # Queries

    def connection(self):
        database = sqlite3.connect(f"file:{self.run.store}/cameo.sqlite?mode=ro", uri=True, timeout=30)
        database.isolation_level = None
        return database

    def unfinished(self, database):
        """The number of tasks and of rows waiting for acceptance."""
        (count,) = database.execute(
            """
            SELECT (SELECT count(*) FROM task) + (SELECT count(*) FROM job
              WHERE id > (SELECT value FROM sequence WHERE name = 'accepted')
                AND NOT EXISTS (SELECT 1 FROM task WHERE task.id = job.id)
                AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = job.id))
            """
        ).fetchone()
        return count

    def ended(self, database):
        (count,) = database.execute("SELECT count(*) FROM outcome").fetchone()
        return count

    def verdict(self, attacked):
        """The outcome of every job: counts by state, and the ids of those that went wrong.

        `attacked`: process numbers of the workers whose renderers were killed.
        """
        database = self.connection()
        rows = database.execute("SELECT id, state, thumbnails, failure_code FROM job_status").fetchall()
        duplicated = [
            row[0]
            for row in database.execute(
                "SELECT job_id FROM attempt WHERE outcome = 'completed' GROUP BY job_id HAVING count(*) > 1"
            )
        ]
        crashes = collections.defaultdict(list)
        for job, worker in database.execute(
            "SELECT job_id, worker FROM attempt WHERE json_extract(failure, '$.code') = 'render.crashed'"
        ):
            crashes[job].append(int(worker.split("-")[1]) in attacked)
        database.close()
        jobs = {row[0] for row in rows}
        lost = sorted(self.acknowledged - jobs)
        states, reasons, stuck = collections.Counter(), collections.Counter(), []
        for job, state, thumbnails, code in rows:
            states[state] += 1
            if state == "completed":
                # A missing thumbnail has no blob.
                if not all(thumbnail["blob"] for thumbnail in json.loads(thumbnails)):
                    lost.append(job)
            elif state == "discarded":
                is_ours = code == "render.crashed" and all(crashes[job])
                reasons[RENDERERS_KILLED if is_ours else code] += 1
            elif state != "cancelled":
                stuck.append(job)
        return {"states": states, "reasons": reasons, "lost": lost, "stuck": stuck, "duplicated": duplicated}
