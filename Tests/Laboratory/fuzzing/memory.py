"""The memory of processes."""

import os
import pathlib
import re
import threading


class Memory(threading.Thread):
    """Samples the high-water marks of the worker and of each of its renderers (VmHWM) four times a second, in MiB."""

    def __init__(self, worker):
        super().__init__(daemon=True)
        self.worker, self.stop, self.worker_peak, self.renderer_peak = worker, threading.Event(), 0, 0

    @staticmethod
    def peak(process):
        match = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{process}/status").read_text())
        return int(match[1]) / 1024 if match else 0

    def run(self):
        while not self.stop.wait(0.25):
            try:
                self.worker_peak = max(self.worker_peak, self.peak(self.worker.pid))
                threads = os.listdir(f"/proc/{self.worker.pid}/task")
                for thread in threads:
                    for child in pathlib.Path(f"/proc/{self.worker.pid}/task/{thread}/children").read_text().split():
                        self.renderer_peak = max(self.renderer_peak, self.peak(child))
            except OSError:
                continue  # it ended while it was looked at
