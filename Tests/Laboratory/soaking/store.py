"""Workers, producers and attacks on one store."""
import collections
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import statistics
import subprocess
import threading
import time
import urllib.parse

import lab
from soaking.attacks import KINDS, LEASE, attack, wait_until_busy
from soaking.disk import FAULTS, Disk
from soaking.soak import TWICE, WAITING, Soak, Worker, deck, jump

ATTACKED = 2  # workers at once
# The growth allowed after the first fifth.
TOLERANCES = {"resident MiB": 12, "descriptors": 6, "MiB of the write-ahead log": 8}
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


class StoreSoak(Soak):
    sql_share = 0.2
    sizes = [
        ["--size", "96x96:cover:webp", "--size", "200x:jpeg"], ["--size", "128x128:jpeg"],
        ["--size", "320x:webp", "--priority", "5"],
        ["--size", "420x420:cover:png"],  # beyond 100 KiB: a blob in a file
        ["--size", "64x64", "--size", "240x240:contain:png"],
    ]
    explained = {"worker.lost", RENDERERS_KILLED}  # workers were killed six times, or renderers twice

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.store, self.disk = self.folder / "store", Disk(self.folder / "disk")
        self.environment = dict(os.environ, CAMEO_STORE=str(self.store), **self.disk.environment)
        if not self.options.no_kills:
            self.environment["CAMEO_TEST_LEASE_MS"] = str(LEASE)
        self.attacked = set()  # process numbers of workers whose renderers were killed
        self.pauses = []  # (from, until), while everything was stopped
        self.samples = []  # (seconds, resident MiB, descriptors, MiB of the log)
        self.workers, self.local = set(), threading.local()
        self.held = threading.Lock()  # by whoever must not find a store that stands still

    # Processes

    def start(self, *arguments, **environment):
        with self.held:
            worker = Worker(self, *arguments, **environment)
            with self.lock:
                self.workers.add(worker)
            return worker

    def retire(self, worker):
        with self.lock:
            self.workers.discard(worker)
        self.note_output(worker.log.read_text(errors="replace"))

    def ended(self, worker):
        """Checks that a worker ended in good order, or reported a disk failure while it opened or left the store."""
        code, last = worker.process.returncode, worker.log.read_text(errors="replace")[-1_000:]
        if code == 4 and ("disk I/O error" in last or "store.full" in last):
            self.counts["workers refused"] += 1
        elif code != 0:
            self.problems.append(f"a worker ended unexpectedly with code {code}: {last}")

    def everything(self):
        with self.lock:
            return [worker.process for worker in self.workers] + list(self.producers)

    def close(self):
        self.ending.set()
        self.disk.heal()
        for process in self.everything():
            process.kill()
            process.wait()

    @staticmethod
    def await_stop(processes):
        """Waits until the processes have stopped, because a signal takes effect some time after it is sent."""
        for process in processes:
            with contextlib.suppress(OSError):
                while process.poll() is None and lab.stat(process.pid)[0] not in "TtZ":
                    time.sleep(0.001)

    @contextlib.contextmanager
    def everything_stopped(self):
        with self.held:
            everything, began = self.everything(), time.time()
            try:
                for process in everything:
                    process.send_signal(signal.SIGSTOP)
                self.await_stop(everything)
                yield
            finally:
                for process in everything:
                    process.send_signal(signal.SIGCONT)
                self.pauses.append((began, time.time()))

    # Queries

    def ask(self, question, *values):
        """The first column of the first row, read on this thread's connection."""
        if not hasattr(self.local, "database"):
            path = f"file:{self.store}/cameo.sqlite?mode=ro"
            self.local.database = sqlite3.connect(path, uri=True, timeout=30, isolation_level=None)
        return lab.one(self.local.database, question, *values)

    def jobs_of(self, worker):
        return self.ask("SELECT count(*) FROM task WHERE worker LIKE ?", worker.name)

    def unfinished(self):
        """The number of tasks and of rows waiting for acceptance."""
        return self.ask("""
            SELECT (SELECT count(*) FROM task) + (SELECT count(*) FROM job
              WHERE id > (SELECT value FROM sequence WHERE name = 'accepted')
                AND NOT EXISTS (SELECT 1 FROM task WHERE task.id = job.id)
                AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = job.id))""")

    def ended_jobs(self):
        return self.ask("SELECT count(*) FROM outcome")

    def rows(self, statement):
        with lab.connect(self.store) as database:
            return list(database.execute(statement))

    def ids(self, table):
        with lab.connect(self.store) as database:
            return {id for (id,) in database.execute(f"SELECT id FROM {table}")}

    def is_writable(self):
        """Whether the write lock is free."""
        with lab.connect(self.store, timeout=0) as database, contextlib.suppress(sqlite3.OperationalError):
            database.execute("BEGIN IMMEDIATE")
            return True
        return False

    def is_refused(self, statement):
        """Whether the tables refuse another program's statement, which changes nothing in any case."""
        with lab.connect(self.store) as database, contextlib.suppress(sqlite3.IntegrityError):
            database.execute("BEGIN IMMEDIATE")
            changed = database.execute(statement).rowcount
            database.execute("ROLLBACK")
            return changed == 0
        return True

    # The work

    def enqueue_by_sql(self, paths, rng):
        """Inserts each job in its own transaction."""
        more = {"renditions": [{"width": rng.randint(40, 200)}], "maxAttempts": 25}
        requests = [{"source": "file://" + urllib.parse.quote(str(path)), **more} for path in paths]
        self.produce(["python3", "-c", SQL_PRODUCER, self.store / "cameo.sqlite"], map(json.dumps, requests), int)

    def go(self):
        self.seconds, line = self.options.minutes * 60, lab.Line()
        self.enqueue_by_command(40, self.rng)
        self.steady = self.start("--concurrency", "6")
        wait_until_busy(self, self.steady)  # what it grows by then is its start
        self.started = time.monotonic()
        tasks = [self.produce_jobs, self.fail_disk, self.cut_power, self.storm, self.jump_clock]
        tasks += [self.attack] * (0 if self.options.no_kills else ATTACKED)
        threads = [threading.Thread(target=self.guarded, args=(task, type(self.rng)(self.rng.random())))
                   for task in tasks]
        for thread in threads:
            thread.start()
        while (elapsed := time.monotonic() - self.started) < self.seconds and self.steady.is_alive:
            self.sample(elapsed)
            kills = sum(count for name, count in self.counts.items() if name.startswith("worker killed"))
            line(f"{elapsed / 60:5.1f} of {self.options.minutes:g} minutes: {self.ended_jobs():,} jobs, {kills} kills, "
                 f"{sum(self.disk.fired().values())} faults, {self.counts['power cuts']} power cuts, "
                 f"{len(self.problems)} problems")
            time.sleep(0.5)
        line.close()
        self.ending.set()
        for thread in threads:
            thread.join()

    def guarded(self, task, rng):
        try:
            task(rng)
        except Exception as error:
            if not self.ending.is_set():
                self.harness_failed(task.__name__, error)

    def sample(self, elapsed):
        log = self.store / "cameo.sqlite-wal"
        with contextlib.suppress(OSError):
            size = log.stat().st_size / 2**20 if log.exists() else 0
            descriptors = len(os.listdir(f"/proc/{self.steady.pid}/fd"))
            if memory := lab.memory(self.steady.pid):
                self.samples.append((elapsed, memory, descriptors, size))

    def produce_jobs(self, rng):
        while not self.ending.is_set():
            if self.unfinished() < WAITING:
                self.enqueue(rng.randint(1, 40), rng)
            else:
                time.sleep(0.05)

    def attack(self, rng):
        kinds = deck(rng, KINDS)
        while not self.ending.wait(0.3):
            attack(self, next(kinds), rng)

    def fail_disk(self, rng):
        names = deck(rng, list(FAULTS))
        while not self.ending.wait(rng.uniform(3, 8)):
            self.disk.fail(next(names), rng.randint(1, 4))
            self.ending.wait(1)
            self.disk.heal()

    def jump_clock(self, rng):
        """Of all processes, by days, for some seconds."""
        clock = self.disk.folder / "clock"
        while not self.ending.wait(rng.uniform(15, 30)):
            clock.write_text(jump(rng))
            self.ending.wait(rng.uniform(1, 4))
            clock.unlink()
            with self.held:  # not while power is cut
                self.retain()
            self.counts["clocks that jumped by days"] += 1

    def storm(self, rng):
        """Starts sixteen producers at once."""
        while not self.ending.wait(55):
            threads = [threading.Thread(target=self.enqueue, args=(5, type(rng)(rng.random()))) for _ in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.counts["storms of 16 producers"] += 1

    def cut_power(self, rng):
        copy = self.folder / "copy"
        while not self.ending.wait(min(40, self.seconds / 4)):
            time.sleep(rng.randint(0, 200) / 1_000)
            with self.everything_stopped():
                with self.lock:
                    promised = set(self.acknowledged)
                self.disk.copy_after_power_cut(self.store, copy)
            self.check(copy, "a copy after a power cut is damaged", self.disk.environment.keys())
            with contextlib.closing(sqlite3.connect(copy / "cameo.sqlite")) as database:
                missing = promised - {row[0] for row in database.execute("SELECT id FROM job")}
            if missing:
                self.problems.append(f"{len(missing)} acknowledged jobs are missing after a power cut")
            shutil.rmtree(copy)
            self.counts["power cuts"] += 1

    def check(self, store, what, without=()):
        """Checks a store, by a program without these variables."""
        environment = {name: value for name, value in self.environment.items() if name not in without}
        done = subprocess.run(lab.words(self.bin / "cameo-admin", "check", "--store", store), env=environment,
                              capture_output=True, text=True)
        if done.returncode != 0:
            self.problems.append(f"{what}: {done.stdout}{done.stderr}")

    # The end

    def finish(self):
        """Drains the queue without attacks, and checks all of it."""
        self.disk.heal()
        self.wait_for_the_rest(lambda: self.steady.is_alive)
        if not self.steady.is_alive or self.steady.end() != 0:
            self.problems.append(f"the worker that was not attacked ended with code {self.steady.process.returncode}")
        self.retire(self.steady)
        self.check(self.store, "cameo-admin check")
        self.fired = self.disk.fired()
        with lab.connect(self.store) as database:
            crashes = collections.defaultdict(list)
            for job, worker in database.execute(
                    "SELECT job_id, worker FROM attempt WHERE json_extract(failure, '$.code') = 'render.crashed'"):
                crashes[job].append(int(worker.split("-")[1]) in self.attacked)
            rows = []
            look = "SELECT id, state, thumbnails, failure_code FROM job_status"
            for job, state, thumbnails, code in database.execute(look):
                if code == "render.crashed" and all(crashes[job]):
                    code = RENDERERS_KILLED
                rows.append((job, state, not all(one["blob"] for one in json.loads(thumbnails)), code))
            self.judge(rows, [job for (job,) in database.execute(TWICE)])

    # The report

    def growth(self):
        """Of each sample's figures the maximum of the first fifth, and the median and maximum of the rest."""
        found = []
        for column in (1, 2, 3):
            first = [sample[column] for sample in self.samples if sample[0] < self.seconds / 5] or [0]
            rest = [sample[column] for sample in self.samples if sample[0] >= self.seconds / 5] or [0]
            found.append((max(first), statistics.median(rest), max(rest)))
        return found

    def failures(self):
        return super().failures() + [
            f"{name} grew: {first:.0f} in the first fifth, {median:.0f} in the rest"
            for (name, tolerance), (first, median, _) in zip(TOLERANCES.items(), self.growth())
            if median > first + tolerance]

    def own_rows(self):
        grown = [(name, f"{first:.1f} at most in the first fifth; then median {median:.1f}, {most:.1f} at most")
                 for name, (first, median, most) in zip(TOLERANCES, self.growth())]
        return [*((f"fault: {name}", count) for name, count in self.fired.items() if count), *grown]
