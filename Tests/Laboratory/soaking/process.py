"""A worker process and its statistics from the kernel."""

import os
import pathlib
import re
import signal
import subprocess
import time


class Worker:
    """A worker process of its own session, with its log in a file."""

    count = 0

    def __init__(self, run, *arguments, prefix=(), **environment):
        Worker.count += 1
        self.log = run.folder / "logs" / f"worker-{Worker.count:04d}.log"
        command = [
            *prefix, run.bin / "cameo-worker", "--allow-root", run.folder, "--log-level", "warning", "--retry-base", "0.05",
            "--retry-cap", "1", "--render-concurrency", "1", *arguments,
        ]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, env={**run.environment, **environment}, stdout=log, stderr=log, start_new_session=True
            )
        self.pid = self.process.pid
        self.started = time.time()

    @property
    def is_alive(self):
        return self.process.poll() is None

    def send(self, number):
        if self.is_alive:
            self.process.send_signal(number)

    def wait(self, seconds):
        """The time of its end, or None while it runs."""
        try:
            self.process.wait(seconds)
            return time.time()
        except subprocess.TimeoutExpired:
            return None

    def end(self):
        """Stops it in good order and returns its exit code."""
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        if self.wait(60) is None:
            self.process.kill()
            self.process.wait()
        return self.process.returncode

    def children(self):
        found = []
        for task in pathlib.Path(f"/proc/{self.pid}/task").glob("*/children"):
            try:
                found += [int(word) for word in task.read_text().split()]
            except OSError:
                continue  # the thread ended while it was looked at
        return found

    def memory(self):
        """The resident memory in MiB, or None once it has ended."""
        return self._memory_of(self.pid)

    @staticmethod
    def _memory_of(pid):
        try:
            match = re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())
        except OSError:
            return None
        return int(match[1]) / 1024 if match else None

    def descriptors(self):
        try:
            return len(os.listdir(f"/proc/{self.pid}/fd"))
        except OSError:
            return None
