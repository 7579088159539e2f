"""Workers, producers and attacks on one store."""

import collections
import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import time

from soaking.attacks import KINDS, LEASE, attack, wait_until_busy
from soaking.disk import FAULTS, Disk
from soaking.jobs import Jobs
from soaking.process import Worker

WAITING = 60  # jobs below which more are enqueued
ATTACKED = 2  # workers at once
STUCK = 120  # seconds without any job's end after which the rest counts as stuck


class Run:
    def __init__(self, bin, folder, options, pictures, rng):
        self.bin, self.folder, self.options, self.rng = bin, folder, options, rng
        self.store = folder / "store"
        (folder / "logs").mkdir()
        self.disk = Disk(folder / "disk")
        self.environment = dict(os.environ, CAMEO_STORE=str(self.store), **self.disk.environment)
        if not options.no_kills:
            self.environment["CAMEO_TEST_LEASE_MS"] = str(LEASE)
        self.jobs = Jobs(self, pictures)
        self.counts, self.recoveries, self.problems = collections.Counter(), [], []
        self.attacked = set()  # process numbers of workers whose renderers were killed
        self.pauses = []  # (from, until), while everything was stopped
        self.samples = []  # (seconds, resident MiB, descriptors, MiB of the log)
        self.lock, self.processes, self.workers = threading.Lock(), set(), set()
        self.held = threading.Lock()  # by whoever must not find a store that stands still
        self.ending = threading.Event()
        self.threads, self.local = [], threading.local()
        self.done = 0

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
        self.note_locked(worker.log.read_text(errors="replace"))

    def ended(self, worker):
        """Checks that a worker ended in good order, or reported a disk failure while it opened or left the store."""
        last = worker.log.read_text(errors="replace")[-1_000:]
        if worker.process.returncode == 4 and any(words in last for words in ("disk I/O error", "store.full")):
            self.counts["workers refused"] += 1
        elif worker.process.returncode != 0:
            self.problems.append(f"a worker ended unexpectedly with code {worker.process.returncode}: {last}")

    def kill(self, pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

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

    def note_locked(self, text):
        if "database is locked" in text:
            self.problems.append("some output contains `database is locked`")

    def end_everything(self):
        self.ending.set()
        self.disk.heal()
        with self.lock:
            everything = [worker.process for worker in self.workers] + list(self.processes)
        for process in everything:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()

    # Queries

    def ask(self, question, *values):
        """The first column of the first row, read on this thread's connection."""
        row = self.connection().execute(question, values).fetchone()
        return row[0] if row else None

    def is_writable(self):
        """Whether the write lock is free."""
        database = sqlite3.connect(self.store / "cameo.sqlite", timeout=0, isolation_level=None)
        try:
            database.execute("PRAGMA wal_autocheckpoint=0")
            database.execute("BEGIN IMMEDIATE")
            database.execute("ROLLBACK")
            return True
        except sqlite3.OperationalError:
            return False
        finally:
            database.close()

    def is_refused(self, statement):
        """Whether the tables refuse another program's statement, which changes nothing in any case."""
        database = sqlite3.connect(self.store / "cameo.sqlite", timeout=30, isolation_level=None)
        try:
            database.execute("PRAGMA wal_autocheckpoint=0")
            database.execute("BEGIN IMMEDIATE")
            changed = database.execute(statement).rowcount
            database.execute("ROLLBACK")
            return changed == 0
        except sqlite3.IntegrityError:
            return True
        finally:
            database.close()

    # The work

    def go(self, progress):
        self.seconds = self.options.minutes * 60
        self.jobs.enqueue_by_command(40, self.rng)
        self.steady = self.start("--concurrency", "6")
        wait_until_busy(self, self.steady)  # what it grows by then is its start
        self.started = time.monotonic()
        tasks = [self.produce, self.fail_disk, self.cut_power, self.storm]
        if not self.options.no_kills:
            tasks += [self.attack] * ATTACKED
        for index, task in enumerate(tasks):
            thread = threading.Thread(target=self.guarded, args=(task, self.rng.random()), name=task.__name__)
            thread.start()
            self.threads.append(thread)
        while (elapsed := time.monotonic() - self.started) < self.seconds:
            self.sample(elapsed)
            progress(self, elapsed)
            if not self.steady.is_alive:
                break
            time.sleep(0.5)
        self.ending.set()
        for thread in self.threads:
            thread.join()

    def guarded(self, task, seed):
        try:
            task(type(self.rng)(seed))
        except Exception as error:
            if not self.ending.is_set():
                self.problems.append(f"the harness failed in {task.__name__}: {error!r}")

    def sample(self, elapsed):
        log = self.store / "cameo.sqlite-wal"
        size = log.stat().st_size / 2**20 if log.exists() else 0
        memory, descriptors = self.steady.memory(), self.steady.descriptors()
        if memory is not None and descriptors is not None:
            self.samples.append((elapsed, memory, descriptors, size))
        self.done = self.jobs.ended(self.connection())

    def connection(self):
        if not hasattr(self.local, "database"):
            self.local.database = self.jobs.connection()
        return self.local.database

    def produce(self, rng):
        while not self.ending.is_set():
            if self.jobs.unfinished(self.connection()) < WAITING:
                self.jobs.enqueue(rng.randint(1, 40), rng)
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
            seeds = [rng.random() for _ in range(16)]
            threads = [
                threading.Thread(target=self.jobs.enqueue, args=(5, type(rng)(seed)), name="storm") for seed in seeds
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.counts["storms"] += 1

    # Power cuts

    def cut_power(self, rng):
        while not self.ending.wait(min(40, self.seconds / 4)):
            self.cut_power_once(rng.randint(0, 200) / 1_000)

    def cut_power_once(self, delay):
        time.sleep(delay)
        copy = self.folder / "copy"
        with self.held:
            with self.lock:
                everything = [worker.process for worker in self.workers] + list(self.processes)
            began = time.time()
            try:
                for process in everything:
                    self.signal(process, signal.SIGSTOP)
                self.await_stop(everything)
                with self.jobs.lock:
                    promised = set(self.jobs.acknowledged)
                self.disk.copy_after_power_cut(self.store, copy)
            finally:
                for process in everything:
                    self.signal(process, signal.SIGCONT)
                self.pauses.append((began, time.time()))
        environment = dict(self.environment, CAMEO_STORE=str(copy))
        for name in self.disk.environment:
            environment.pop(name)
        check = subprocess.run([self.bin / "cameo-admin", "check"], env=environment, capture_output=True, text=True)
        if check.returncode != 0:
            self.problems.append(f"a copy after a power cut is damaged: {check.stdout}{check.stderr}")
        database = sqlite3.connect(copy / "cameo.sqlite")
        missing = promised - {row[0] for row in database.execute("SELECT id FROM job")}
        database.close()
        if missing:
            self.problems.append(f"{len(missing)} acknowledged jobs are missing after a power cut")
        shutil.rmtree(copy)
        self.counts["power cuts"] += 1

    @staticmethod
    def signal(process, number):
        if process.poll() is None:
            process.send_signal(number)

    @staticmethod
    def await_stop(processes):
        """Waits until the processes have stopped, because a signal takes effect some time after it is sent."""
        for process in processes:
            while process.poll() is None:
                try:
                    with open(f"/proc/{process.pid}/stat") as stat:
                        state = stat.read().rsplit(")", 1)[1].split()[0]
                except OSError:
                    break
                if state in "TtZ":
                    break
                time.sleep(0.001)

    # The end

    def finish(self):
        """Drains the queue without attacks, and checks all of it."""
        self.disk.heal()
        last, seen = time.monotonic(), -1
        while self.steady.is_alive and self.jobs.unfinished(self.connection()):
            ended = self.jobs.ended(self.connection())
            if ended != seen:
                last, seen = time.monotonic(), ended
            elif time.monotonic() - last > STUCK:
                break
            time.sleep(0.1)
        self.total_seconds = time.monotonic() - self.started
        if not self.steady.is_alive or self.steady.end() != 0:
            self.problems.append(f"the worker that was not attacked ended with code {self.steady.process.returncode}")
        self.retire(self.steady)
        check = subprocess.run([self.bin / "cameo-admin", "check"], env=self.environment, capture_output=True, text=True)
        if check.returncode != 0:
            self.problems.append(f"cameo-admin check: {check.stdout}{check.stderr}")
        self.verdict = self.jobs.verdict(self.attacked)
        self.fired = self.disk.fired()
