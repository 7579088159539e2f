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
from soaking.soak import WAITING, Soak, Worker

ATTACKED = 2  # workers at once
# The growth allowed after the first fifth: resident MiB, descriptors, MiB of the log.
TOLERANCES = {"memory": 12, "descriptors": 6, "log": 8}
# A reason for discarding: a picture that ended two renderers is not given to a third, and the attacks had killed them.
RENDERERS_KILLED = "render.crashed, its renderers killed twice"
# The jobs that may be discarded: their workers were killed six times, or their renderers twice.
EXPLAINED = {"worker.lost", RENDERERS_KILLED}
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
        ["--size", "96x96:cover:webp", "--size", "200x:jpeg"], ["--size", "128x128:jpeg"], ["--size", "320x:webp", "--priority", "5"],
        ["--size", "420x420:cover:png"],  # beyond 100 KiB: a blob in a file
        ["--size", "64x64", "--size", "240x240:contain:png"],
    ]

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.store, self.disk = self.folder / "store", Disk(self.folder / "disk")
        self.environment = dict(os.environ, CAMEO_STORE=str(self.store), **self.disk.environment)
        if not self.options.no_kills:
            self.environment["CAMEO_TEST_LEASE_MS"] = str(LEASE)
        self.recoveries = []
        self.attacked = set()  # process numbers of workers whose renderers were killed
        self.pauses = []  # (from, until), while everything was stopped
        self.samples = []  # (seconds, resident MiB, descriptors, MiB of the log)
        self.processes, self.workers, self.threads, self.local = set(), set(), [], threading.local()
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
        last = worker.log.read_text(errors="replace")[-1_000:]
        if worker.process.returncode == 4 and any(words in last for words in ("disk I/O error", "store.full")):
            self.counts["workers refused"] += 1
        elif worker.process.returncode != 0:
            self.problems.append(f"a worker ended unexpectedly with code {worker.process.returncode}: {last}")

    @contextlib.contextmanager
    def tracking(self, process):
        """Registers a writing process, to be stopped when everything stops."""
        with self.lock:
            self.processes.add(process)
        try:
            yield
        finally:
            with self.lock:
                self.processes.discard(process)

    def note_output(self, text):
        if "database is locked" in text:
            self.problems.append("some output contains `database is locked`")

    def everything(self):
        with self.lock:
            return [worker.process for worker in self.workers] + list(self.processes)

    def close(self):
        self.ending.set()
        self.disk.heal()
        for process in self.everything():
            self.signal(process, signal.SIGCONT)
            process.kill()
            process.wait()

    @staticmethod
    def signal(process, number):
        if process.poll() is None:
            process.send_signal(number)

    @staticmethod
    def await_stop(processes):
        """Waits until the processes have stopped, because a signal takes effect some time after it is sent."""
        for process in processes:
            with contextlib.suppress(OSError):
                while process.poll() is None:
                    with open(f"/proc/{process.pid}/stat") as stat:
                        if stat.read().rsplit(")", 1)[1].split()[0] in "TtZ":
                            break
                    time.sleep(0.001)

    # Queries

    def ask(self, question, *values):
        """The first column of the first row, read on this thread's connection."""
        if not hasattr(self.local, "database"):
            self.local.database = sqlite3.connect(f"file:{self.store}/cameo.sqlite?mode=ro", uri=True, timeout=30, isolation_level=None)
        row = self.local.database.execute(question, values).fetchone()
        return row[0] if row else None

    def unfinished(self):
        """The number of tasks and of rows waiting for acceptance."""
        return self.ask("""
            SELECT (SELECT count(*) FROM task) + (SELECT count(*) FROM job
              WHERE id > (SELECT value FROM sequence WHERE name = 'accepted')
                AND NOT EXISTS (SELECT 1 FROM task WHERE task.id = job.id)
                AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = job.id))""")

    def ended_jobs(self):
        return self.ask("SELECT count(*) FROM outcome")

    def tried(self, statement, timeout):
        """How many rows another program's statement would change."""
        with contextlib.closing(lab.connect(self.store, timeout=timeout)) as database:
            database.execute("BEGIN IMMEDIATE")
            changed = database.execute(statement).rowcount if statement else 0
            database.execute("ROLLBACK")
            return changed

    def is_writable(self):
        """Whether the write lock is free."""
        try:
            return self.tried(None, 0) == 0
        except sqlite3.OperationalError:
            return False

    def is_refused(self, statement):
        """Whether the tables refuse another program's statement, which changes nothing in any case."""
        try:
            return self.tried(statement, 30) == 0
        except sqlite3.IntegrityError:
            return True

    # The work

    def enqueue_by_sql(self, paths, rng):
        """Inserts each job in its own transaction."""
        rendition = {"width": rng.randint(40, 200)}
        requests = [{"source": "file://" + urllib.parse.quote(str(path)), "renditions": [rendition], "maxAttempts": 25} for path in paths]
        self.produce(["python3", "-c", SQL_PRODUCER, self.store / "cameo.sqlite"], map(json.dumps, requests), int)

    def go(self):
        self.seconds, line = self.options.minutes * 60, lab.Line()
        self.enqueue_by_command(40, self.rng)
        self.steady = self.start("--concurrency", "6")
        wait_until_busy(self, self.steady)  # what it grows by then is its start
        self.started = time.monotonic()
        attacks = [] if self.options.no_kills else [self.attack] * ATTACKED
        for task in [self.produce_jobs, self.fail_disk, self.cut_power, self.storm, *attacks]:
            thread = threading.Thread(target=self.guarded, args=(task, type(self.rng)(self.rng.random())), name=task.__name__)
            thread.start()
            self.threads.append(thread)
        while (elapsed := time.monotonic() - self.started) < self.seconds and self.steady.is_alive:
            self.sample(elapsed)
            kills = sum(count for name, count in self.kills() if name != "renderer")
            line(f"{elapsed / 60:5.1f} of {self.options.minutes:g} minutes: {self.ended_jobs():,} jobs, {kills} kills, "
                 f"{sum(self.disk.fired().values())} faults, {self.counts['power cuts']} power cuts, {len(self.problems)} problems")
            time.sleep(0.5)
        line.close()
        self.ending.set()
        for thread in self.threads:
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
            if memory := lab.resident(self.steady.pid):
                self.samples.append((elapsed, memory, descriptors, size))

    def produce_jobs(self, rng):
        while not self.ending.is_set():
            if self.unfinished() < WAITING:
                self.enqueue(rng.randint(1, 40), rng)
            else:
                time.sleep(0.05)

    def attack(self, rng):
        kinds = []
        while not self.ending.wait(0.3):
            kinds = kinds or rng.sample(KINDS, len(KINDS))
            attack(self, kinds.pop(), rng)

    def fail_disk(self, rng):
        names = []
        while not self.ending.wait(rng.uniform(3, 8)):
            names = names or rng.sample(list(FAULTS), len(FAULTS))
            self.disk.fail(names.pop(), rng.randint(1, 4))
            self.ending.wait(1)
            self.disk.heal()

    def storm(self, rng):
        """Starts sixteen producers at once."""
        while not self.ending.wait(55):
            threads = [threading.Thread(target=self.enqueue, args=(5, type(rng)(rng.random())), name="storm") for _ in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.counts["storms"] += 1

    def cut_power(self, rng):
        copy = self.folder / "copy"
        while not self.ending.wait(min(40, self.seconds / 4)):
            time.sleep(rng.randint(0, 200) / 1_000)
            with self.held:
                everything, began = self.everything(), time.time()
                try:
                    for process in everything:
                        self.signal(process, signal.SIGSTOP)
                    self.await_stop(everything)
                    with self.lock:
                        promised = set(self.acknowledged)
                    self.disk.copy_after_power_cut(self.store, copy)
                finally:
                    for process in everything:
                        self.signal(process, signal.SIGCONT)
                    self.pauses.append((began, time.time()))
            self.check(copy, "a copy after a power cut is damaged", {key: os.environ.get(key, "") for key in self.disk.environment})
            with contextlib.closing(sqlite3.connect(copy / "cameo.sqlite")) as database:
                missing = promised - {row[0] for row in database.execute("SELECT id FROM job")}
            if missing:
                self.problems.append(f"{len(missing)} acknowledged jobs are missing after a power cut")
            shutil.rmtree(copy)
            self.counts["power cuts"] += 1

    def check(self, store, what, environment):
        done = subprocess.run(lab.words(self.bin / "cameo-admin", "check", "--store", store), env={**self.environment, **environment},
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
        self.check(self.store, "cameo-admin check", {})
        self.fired = self.disk.fired()
        with contextlib.closing(lab.connect(self.store)) as database:
            rows = [(job, state, not all(one["blob"] for one in json.loads(thumbnails)), code) for job, state, thumbnails, code in
                    database.execute("SELECT id, state, thumbnails, failure_code FROM job_status")]
            duplicated = [job for (job,) in database.execute(
                "SELECT job_id FROM attempt WHERE outcome = 'completed' GROUP BY job_id HAVING count(*) > 1")]
            crashes = collections.defaultdict(list)
            for job, worker in database.execute(
                    "SELECT job_id, worker FROM attempt WHERE json_extract(failure, '$.code') = 'render.crashed'"):
                crashes[job].append(int(worker.split("-")[1]) in self.attacked)
        self.judge(rows, duplicated, lambda job, code: RENDERERS_KILLED if code == "render.crashed" and all(crashes[job]) else code)

    # The report

    def kills(self):
        return [(name.removeprefix("kill "), count) for name, count in sorted(self.counts.items()) if name.startswith("kill ")]

    def growth(self):
        """For memory, descriptors and the log: the maximum of the first fifth, and the median and maximum of the rest."""
        parts = [[sample for sample in self.samples if (sample[0] < self.seconds / 5) == is_first] for is_first in (True, False)]
        first, rest = ([[sample[column] for sample in part] or [0] for column in (1, 2, 3)] for part in parts)
        return [(max(one), statistics.median(other), max(other)) for one, other in zip(first, rest)]

    def failures(self):
        return super().failures(EXPLAINED) + [
            f"{name} grew: {first:.0f} in the first fifth, {median:.0f} in the rest"
            for (name, tolerance), (first, median, _) in zip(TOLERANCES.items(), self.growth()) if median > first + tolerance]

    def show(self):
        counts, kills, (memory, descriptors, log) = self.counts, dict(self.kills()), self.growth()
        renderers, recoveries = kills.pop("renderer", 0), self.recoveries
        lab.show_rows([
            *self.common_rows(), ("workers killed", sum(kills.values())), *((f"  {name}", count) for name, count in kills.items()),
            ("renderers killed", renderers),
            ("workers frozen",
             f"{counts['frozen']}, beyond their lease; {counts['jobs taken from the frozen']} of their jobs went to others"),
            ("deletions refused", counts["deletions refused"]), ("storage faults", sum(self.fired.values())),
            *((f"  {name}", count) for name, count in self.fired.items() if count),
            ("  refused with a reason", f"{sum(self.refusals.values())} enqueues, {counts['workers refused']} workers"),
            ("power cuts", counts["power cuts"]), ("storms of 16 producers", counts["storms"]), *self.result_rows(),
            ("slowest recovery", f"{max(recoveries):.0f} ms from a death until others had its jobs, "
                                 f"median {statistics.median(recoveries):.0f} ms" if recoveries else "none"),
            ("worker memory", "{:.0f} MiB at most in the first fifth; then median {:.0f}, {:.0f} at most".format(*memory)),
            ("worker descriptors", "{} at most in the first fifth; then median {:.0f}, {} at most".format(*descriptors)),
            ("write-ahead log", "{:.1f} MiB at most in the first fifth; then median {:.1f}, {:.1f} at most".format(*log)),
        ], 26, self.failures())
