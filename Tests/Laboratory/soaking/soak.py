"""What both kinds of run share: workers, jobs enqueued from pictures, the wait for the last of them, and the report."""
import collections
import contextlib
import itertools
import json
import signal
import statistics
import subprocess
import threading
import time

import lab

WAITING = 60  # jobs below which more are enqueued
STUCK = 120  # seconds without any job's end after which the rest counts as stuck
TWICE = "SELECT job_id FROM attempt WHERE outcome = 'completed' GROUP BY job_id HAVING count(*) > 1"


def deck(rng, items):
    """All items in a random order, again and again."""
    while True:
        yield from rng.sample(items, len(items))


def jump(rng):
    """Seconds by which a clock is wrong: one to five days, ahead or behind."""
    return str(rng.choice([1, -1]) * rng.randint(86_400, 5 * 86_400))


class Worker:
    """A worker process of its own session, with its log in a file."""

    count = itertools.count(1)

    def __init__(self, run, *arguments, prefix=(), **environment):
        self.log = run.folder / "logs" / f"worker-{next(Worker.count):04d}.log"
        command = [*prefix, run.bin / "cameo-worker", "--allow-root", run.folder, "--log-level", "warning",
                   "--retry", "base=0.05,cap=1", "--render-concurrency", "1",
                   # No clock is that wrong: only what this run removes, and counts, is removed.
                   "--keep", "completed=30d,cancelled=30d", *arguments]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(lab.words(*command), env={**run.environment, **environment}, stdout=log,
                                            stderr=log, start_new_session=True)
        self.pid, self.send = self.process.pid, self.process.send_signal
        self.name = f"w%-{self.pid}-%"  # as the store has it, for LIKE

    @property
    def is_alive(self):
        return self.process.poll() is None

    def wait(self, seconds):
        """The time of its end, or None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
            return time.time()

    def end(self):
        """Stops it in good order and returns its exit code."""
        self.send(signal.SIGCONT)
        return lab.end(self.process)

    def kill(self):
        self.process.kill()  # a frozen process too
        self.process.wait()


class Soak:
    def __init__(self, bin, folder, options, pictures, rng):
        self.bin, self.folder, self.options, self.pictures, self.rng = bin, folder, options, pictures, rng
        for name in ("logs", "pictures"):
            (folder / name).mkdir()
        self.numbers, self.lock, self.ending = itertools.count(), threading.Lock(), threading.Event()
        self.producers = set()  # processes
        self.acknowledged = {}  # job: time
        self.removed = set()  # jobs, by retention
        self.batches, self.sealed = itertools.count(), {}  # batch: jobs, time
        self.refusals = collections.Counter()  # nothing was promised, so nothing is lost
        self.counts, self.problems = collections.Counter(), []
        self.recoveries = collections.defaultdict(list)  # of what: seconds
        self.states, self.reasons, self.results = collections.Counter(), collections.Counter(), {}

    # Jobs

    def sources(self, count):
        """Files that no job has used, because otherwise jobs would be joined or completed at once."""
        paths = []
        for number in itertools.islice(self.numbers, count):
            picture = self.pictures[number % len(self.pictures)]
            paths.append(self.folder / "pictures" / f"{number:07d}{picture.suffix}")
            paths[-1].symlink_to(picture)  # a hard link more would change the file under whoever reads it
        return paths

    def enqueue(self, count, rng):
        if rng.random() < self.sql_share:
            self.enqueue_by_sql(self.sources(count), rng)
        else:
            self.enqueue_by_command(count, rng)

    def enqueue_by_command(self, count, rng):
        """Enqueues all jobs in one transaction, some as a batch that is sealed."""
        command = [self.bin / "cameo-enqueue", "-", "--json", "--max-attempts", "25", *rng.choice(self.sizes)]
        batch = f"soak-{next(self.batches)}" if rng.random() < 0.3 else None
        if batch:
            command += ["--batch", batch, "--batch-hook", "nobody"]
        if self.produce(command, map(str, self.sources(count)), lambda line: json.loads(line)["id"]) and batch:
            self.sealed[batch] = (count, time.monotonic())

    def produce(self, command, lines, number_of):
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        process = subprocess.Popen(lab.words(*command), text=True, env=self.environment, start_new_session=True,
                                   **pipes)

        def feed():
            with contextlib.suppress(OSError):  # it ended early, and its exit code says so
                process.stdin.write("\n".join(lines) + "\n")
                process.stdin.close()

        with self.lock:
            self.producers.add(process)
        threading.Thread(target=feed, daemon=True).start()
        for line in process.stdout:
            with self.lock:
                if (job := number_of(line)) not in self.removed:  # before it was told of
                    self.acknowledged[job] = time.monotonic()
        errors = process.stderr.read().strip()
        if process.wait() != 0:
            self.note_output(errors)
            self.refusals[errors.splitlines()[-1][:120] if errors else "no reason"] += 1
        with self.lock:
            self.producers.discard(process)
        return process.returncode == 0

    def retain(self):
        """Retention meets what was noted while a clock was wrong, and leaves reports that can be made."""
        environment = {name: value for name, value in self.environment.items() if name != "CAMEO_FAULTS"}

        def run(*words):
            done = subprocess.run(lab.words(*words), env=environment, capture_output=True, text=True)
            if done.returncode > 1:
                self.problems.append(f"{words[0].name} {words[1]} exits with {done.returncode}: {done.stderr[-500:]}")
            return done.stdout

        states = ("completed", "cancelled", "discarded")
        before = self.ids("job")
        told = run(self.bin / "cameo-admin", "prune", "--json",
                   *(word for state in states for word in (f"--keep-{state}", "12h")))
        removed = before - self.ids("job")
        told = sum(json.loads(told)[state] for state in states) if told.strip() else 0
        if len(removed) != told:
            self.problems.append(f"retention removed {told} jobs by its own account, and {len(removed)} are gone")
        with self.lock:
            self.removed |= removed
            for job in removed:
                self.acknowledged.pop(job, None)
            self.counts["jobs that retention removed"] += len(removed)
        for name in ("jobs", "health", "metrics"):
            run(self.bin / "cameo-status", name)

    def note_output(self, text):
        if "database is locked" in text:
            self.problems.append("some output contains `database is locked`")

    def wait_for_the_rest(self, goes_on=lambda: True):
        last, seen = time.monotonic(), -1
        while goes_on() and self.unfinished():
            if (ended := self.ended_jobs()) != seen:
                last, seen = time.monotonic(), ended
            elif time.monotonic() - last > STUCK:
                break
            time.sleep(0.1)
        self.total_seconds = time.monotonic() - self.started
        self.check_batches(goes_on)

    def check_batches(self, goes_on):
        """Each batch whose seal was acknowledged has ended once, with all of its jobs."""
        deadline, rows = time.monotonic() + STUCK, [("", None, "")]
        while goes_on() and time.monotonic() < deadline and not all(number for _, number, _ in rows):
            time.sleep(0.2)
            rows = self.rows("SELECT batch, number, CAST(report AS text) FROM batch_seal")
        ends = collections.defaultdict(list)
        for batch, number, report in rows:
            ends[batch].append(sum(json.loads(report)["jobs"].values()) if number else None)
        for batch, (jobs, _) in self.sealed.items():
            if ends[batch] != [jobs]:
                self.problems.append(f"{batch} of {jobs} jobs has the ends {ends[batch]}")
        self.counts["batches that ended"] = len(self.sealed)

    def judge(self, rows, duplicated):
        """What has become of every job, of rows (id, state, whether a blob is missing, code of the failure)."""
        lost, stuck = sorted(self.acknowledged.keys() - {row[0] for row in rows}), []
        for job, state, is_bare, code in rows:
            self.states[state] += 1
            if state == "completed":
                lost += [job] * is_bare
            elif state == "discarded":
                self.reasons[code] += 1
            elif state != "cancelled":
                stuck.append(job)
        self.results = {"lost": lost, "stuck": stuck, "duplicated": duplicated}

    # The report

    def failures(self):
        found = list(dict.fromkeys(self.problems))
        found += [f"{name}: jobs {', '.join(map(str, jobs[:10]))}" for name, jobs in self.results.items() if jobs]
        return found + [f"{count} jobs were discarded as {code}" for code, count in self.reasons.items()
                        if code not in self.explained]

    def show(self):
        done = self.states["completed"]
        lab.show_rows([
            ("jobs done", f"{done:,} of {len(self.acknowledged):,} acknowledged, {done / self.total_seconds:.1f}/s"),
            *((f"  discarded {code}", count) for code, count in sorted(self.reasons.items())),
            ("time", f"{self.total_seconds / 60:.1f} minutes, seed {self.options.seed}"),
            *sorted(self.counts.items()), ("enqueues refused with a reason", self.refusals.total()), *self.own_rows(),
            *((name, len(jobs)) for name, jobs in self.results.items()),
            *((f"recovery: {what}", f"{max(times):.2f} s at most, median {statistics.median(times):.2f} s, "
                                    f"{len(times)} times") for what, times in sorted(self.recoveries.items())),
        ], 56, self.failures())

    def harness_failed(self, name, error):
        self.problems.append(f"the harness failed in {name}: {error!r}")
