#!/usr/bin/env python3
"""Runs the built tests in phases, for deploy/test, and says how far they are.

    deploy/checking/tests.py BUNDLE NAME:PROCESSES:WIDTH:FILTER[:SKIP] …

A phase runs the tests of BUNDLE whose identifiers match FILTER and not SKIP (regular expressions). With one process,
WIDTH tests run at once; with several, the suites are dealt out to them and each runs its tests one by one: on few cores
that is twice as fast, and a test that ends its process is known. Such a test counts as failed, and those that had not
run then, run again. A phase begins when the one before has dealt out all of its suites, so that no core waits for the
last of them; no more processes run at once than the phase with the most has. A process in which nothing ends for longer
than any test may take is killed, and what ran in it counts as failed. What the tests leave running is killed with them,
and what they leave in the folder for temporary files is removed. Exits with 1 if a test failed; the failures are repeated
last.
"""
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

# Longer than the longest time limit of a suite.
GUARD = float(os.environ.get("CAMEO_TEST_GUARD_S", 11 * 60))
PR_SET_CHILD_SUBREAPER = 36
# What a whole run has in the folder for temporary files at most, in bytes.
ROOM = 6 << 30


class Run:
    """One process of the bundle, and what it has said of its tests."""

    def __init__(self, bundle, options, folder):
        self.events = os.path.join(folder, "events")
        self.output = os.path.join(folder, "output")
        open(self.events, "w").close()
        command = [bundle, "--testing-library", "swift-testing", "--event-stream-output-path", self.events]
        command += ["--event-stream-version", "0", *options]
        # Into a file: a pipe would stay open as long as anything that a test has started.
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
        self.wanted, self.started, self.ended, self.failed, self.skipped = {}, {}, set(), {}, set()
        self.isComplete = False

    def follow(self):
        """Reads events until the process has ended, or nothing has happened for too long."""
        heard = time.monotonic()
        rest = b""
        with open(self.events, "rb") as events:
            while True:
                over = self.process.poll() is not None
                chunk = events.read()
                if chunk:
                    heard = time.monotonic()
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        if line.strip():
                            self.note(json.loads(line))
                elif over:
                    break
                elif time.monotonic() - heard > GUARD:
                    for test in self.running:
                        self.failed.setdefault(test, []).append(f"nothing ended for {GUARD:.0f} s while it ran")
                    break
                else:
                    time.sleep(0.02)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.status = self.process.wait()

    def note(self, record):
        payload = record["payload"]
        if record["kind"] == "test":
            if payload["kind"] == "function":
                self.wanted[payload["id"]] = payload
            return
        test = payload.get("testID")
        if payload["kind"] == "runEnded":
            self.isComplete = True
        elif payload["kind"] == "issueRecorded":
            issue = payload.get("issue", {})
            if not issue.get("isKnown") and issue.get("severity", "error") != "warning":
                place = issue.get("sourceLocation") or {}
                words = " ".join(message["text"] for message in payload.get("messages", []))
                text = f"{place.get('fileID', '')}:{place.get('line', '')}: {words}"
                self.failed.setdefault(test or "no test", []).append(text)
        elif test in self.wanted:
            if payload["kind"] == "testStarted":
                self.started[test] = time.monotonic()
            elif payload["kind"] == "testEnded":
                self.ended.add(test)
            elif payload["kind"] == "testSkipped":
                self.skipped.add(test)

    @property
    def running(self):
        return [test for test in self.started if test not in self.ended]


class Phase:
    """Tests of one kind, in suites."""

    # Suites are dealt out in so many portions a process: enough that all end together, few enough to start quickly.
    PORTIONS = 8

    def __init__(self, words, bundle, listed, log):
        self.name, processes, width, wanted, *skip = words.split(":")
        self.processes, self.width = int(processes), int(width)
        self.bundle, self.log = bundle, log
        self.tests = [test for test in listed if re.search(wanted, test) and not (skip and re.search(skip[0], test))]
        self.passed, self.failed, self.skipped, self.runs, self.told = 0, {}, 0, [], 0

    def deal(self):
        """Sorts the suites into portions."""
        suites = {}
        for test in self.tests:
            suites.setdefault(test.rsplit("/", 1)[0], []).append(test)
        size = len(self.tests) / (self.PORTIONS * self.processes) if self.processes > 1 else len(self.tests)
        self.portions = [[]]
        for suite in sorted(suites, key=lambda name: -len(suites[name])):
            if len(self.portions[-1]) >= size:
                self.portions.append([])
            self.portions[-1] += suites[suite]

    def start(self, slots):
        self.begun = time.monotonic()
        self.threads = [threading.Thread(target=self.work, args=(slots,)) for _ in range(self.processes)]
        for thread in self.threads:
            thread.start()

    @property
    def isOver(self):
        return not any(thread.is_alive() for thread in self.threads)

    def work(self, slots):
        while True:
            with slots:
                with LOCK:
                    if not self.portions:
                        return
                    portion = self.portions.pop(0)
                while portion:
                    portion = self.settle(self.once(portion), portion)

    def once(self, tests):
        options = [word for test in tests for word in ("--filter", "^" + re.escape(test) + "(/|$)")]
        if self.processes > 1:
            options.append("--no-parallel")
        elif self.width:
            options += ["--experimental-maximum-parallelization-width", str(self.width)]
        with tempfile.TemporaryDirectory(prefix="run-") as folder:
            run = Run(self.bundle, options, folder)
            with LOCK:
                self.runs.append(run)
            run.follow()
            with open(run.output, "rb") as output, LOCK, open(self.log, "ab") as log:
                log.write(f"\n==== {self.name}\n".encode() + output.read())
                output.seek(max(0, os.path.getsize(run.output) - 4_000))
                run.lastWords = output.read().decode(errors="replace")
        return run

    def settle(self, run, tests):
        """Takes what a run found out; returns the tests that it has not come to."""
        running = [test for test in run.running if test not in run.failed]
        if running or not run.isComplete:
            for test in running or ["no test of " + self.name]:
                run.failed[test] = [f"ended its process ({how(run.status)}):\n{run.lastWords}"]
        with LOCK:
            self.runs.remove(run)
            self.failed.update(run.failed)
            self.passed += len(run.ended - set(run.failed))
            self.skipped += len(run.skipped)
        come = {named(test) for test in [*run.started, *run.skipped]}
        if run.isComplete or not come:
            return []
        return [test for test in tests if test not in come]

    def progress(self, last=False):
        if not last and time.monotonic() - self.told < PERIOD:
            return
        self.told = time.monotonic()
        with LOCK:
            passed = self.passed + sum(len(run.ended - set(run.failed)) for run in self.runs)
            failed = len(self.failed) + sum(len(run.failed) for run in self.runs)
            done = passed + failed + self.skipped + sum(len(run.skipped) for run in self.runs)
        seconds = self.told - self.begun
        left = f", about {seconds / done * (len(self.tests) - done):.0f} s left" if 0 < done < len(self.tests) else ""
        text = f"{self.name}: {passed} passed, {failed} failed of {len(self.tests)} in {seconds:.0f} s{left}"
        if sys.stderr.isatty():
            text = "\r\033[K" + text
        print(text, end="\n" if last or not sys.stderr.isatty() else "", file=sys.stderr, flush=True)


def named(test):
    """The name of a test without its place in the source, by which it is listed and filtered."""
    return test.rsplit("/", 1)[0]


def how(status):
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def killOrphans():
    """Kills what came to this process because its parent ended: servers and workers of tests that were killed."""
    while True:
        found = False
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat") as stat:
                    parent = int(stat.read().rsplit(")", 1)[1].split()[1])
                if parent == os.getpid():
                    os.kill(int(pid), signal.SIGKILL)
                    os.waitpid(int(pid), 0)
                    found = True
            except (OSError, ValueError):
                pass
        if not found:
            return


LOCK = threading.Lock()
PERIOD = 0.5 if sys.stderr.isatty() else 30


def main():
    bundle, *words = sys.argv[1:]
    log = os.environ.get("CAMEO_TEST_LOG", os.devnull)
    # What tests start and leave comes to this process, which ends it.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    command = [bundle, "--testing-library", "swift-testing", "--list-tests"]
    listed = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout.split()
    phases = [Phase(word, bundle, listed, log) for word in words]
    slots = threading.Semaphore(max(phase.processes for phase in phases))
    # What killed tests and their servers leave goes with the run. Servers and some tests are other users.
    folder = tempfile.TemporaryDirectory(prefix="cameo-tests-", ignore_cleanup_errors=True)
    os.chmod(folder.name, 0o1777)
    if (free := shutil.disk_usage(folder.name).free) < ROOM:
        print(f"{folder.name} has {free >> 20} MiB free; tests that need more will fail", file=sys.stderr)
    os.environ["TMPDIR"] = tempfile.tempdir = folder.name
    os.environ["CAMEO_TEST_PICTURES"] = os.path.join(folder.name, "pictures")
    os.mkdir(os.environ["CAMEO_TEST_PICTURES"])
    waiting, running = phases[:], []
    for phase in phases:
        phase.deal()
    while waiting or running:
        if waiting and not any(phase.portions for phase in running):
            running.append(waiting.pop(0))
            running[-1].start(slots)
        time.sleep(0.2)
        for phase in running[:]:
            isOver = phase.isOver
            phase.progress(last=isOver)
            if isOver:
                running.remove(phase)
    killOrphans()
    for phase in phases:
        for test, texts in phase.failed.items():
            print(f"\n✘ {test}", *texts[:20], sep="\n    ")
            if len(texts) > 20:
                print(f"    and {len(texts) - 20} more")
    passed, failed, skipped = (sum(counts) for counts in zip(*((p.passed, len(p.failed), p.skipped) for p in phases)))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or not passed else 0)


main()
