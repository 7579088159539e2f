"""Measures cameo-web beside nginx, which serves the same bytes as a file:

- loads of a thumbnail of about 20 KiB over kept connections, whole and with `If-None-Match`, by wrk;
- the server's memory after each round, and under load for `--minutes`;
- the worker's time for a job while 100 event streams, `cameo-status events --follow` and `--watch` read along."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from benching import queue

CONNECTIONS, SECONDS = 32, 5
NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
events {{ worker_connections 2048; }}
http {{
    access_log off; keepalive_requests 1000000000; sendfile on;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    types {{ image/jpeg jpg; }}
    server {{ listen 127.0.0.1:{port}; root {folder}/files; add_header Cache-Control "max-age=60"; }}
}}
"""


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def wrk(url, *headers, seconds=None):
    """The requests a second; ends the program if a response is neither 200 nor 304."""
    words = [word for header in headers for word in ("-H", header)]
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds or SECONDS}s", *words, url]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in report and not headers:
        sys.exit(report)
    return float(re.search(r"Requests/sec:\s*([\d.]+)", report)[1])


def headers_of(url):
    lines = subprocess.run(["curl", "-sSI", url], check=True, capture_output=True, text=True).stdout.splitlines()
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def resident(pid):
    """The resident memory of a process in MiB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s*(\d+)", status)[1]) / 1024


@contextlib.contextmanager
def running(*command, url):
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    try:
        while subprocess.run(["curl", "-sS", "-o", "/dev/null", url], stderr=subprocess.DEVNULL).returncode:
            if process.poll() is not None:
                sys.exit(f"{command[0]} has ended")
            time.sleep(0.05)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


class Bench(queue.Bench):
    def server(self, store, port):
        return running(self.bin / "cameo-web", "--store", store, "--listen", f"127.0.0.1:{port}", "--log-level", "warning",
                       url=f"http://127.0.0.1:{port}/health/live")

    def thumbnail(self, store, picture):
        """Makes thumbnails of a photograph; returns the id and the file of the one that is nearest to 20 KiB."""
        sizes = [word for edge in range(160, 520, 40) for word in ("--size", f"{edge}x:jpeg")]
        self.run("cameo-enqueue", "--store", store, picture, *sizes)
        self.run("cameo-worker", "--store", store, "--drain", "--allow-root", picture.parent)
        self.run("cameo-status", "--store", store, "export", self.folder / "files")
        files = list((self.folder / "files").glob("*.jpg"))
        nearest = min(files, key=lambda file: abs(file.stat().st_size - 20_480))
        manifest = (self.folder / "files" / "manifest.json").read_text()
        uri = re.search(r'\{[^{}]*"' + re.escape(nearest.name) + r'"[^{}]*\}', manifest)[0]
        return re.search(r"cameo://thumb/([0-9a-f]+)", uri)[1], nearest

    def loads(self, picture, rounds, minutes):
        """Loads a second of either server, and the memory of cameo-web after each round."""
        store, ports = self.folder / "store", (free_port(), free_port())
        thumbnail, file = self.thumbnail(store, picture)
        config = self.folder / "nginx.conf"
        config.write_text(NGINX.format(folder=self.folder, port=ports[1]))
        urls = {"cameo-web": f"http://127.0.0.1:{ports[0]}/thumb/{thumbnail}", "nginx": f"http://127.0.0.1:{ports[1]}/{file.name}"}
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        with self.server(store, ports[0]) as web, running(nginx, "-c", config, url=urls["nginx"]):
            tags = {name: headers_of(url)["etag"] for name, url in urls.items()}
            rates, memory = {}, []
            for _ in range(rounds):
                for name, url in urls.items():
                    rates.setdefault((name, "whole"), []).append(wrk(url))
                    rates.setdefault((name, "304"), []).append(wrk(url, f"If-None-Match: {tags[name]}"))
                memory.append(resident(web.pid))
            figures = {"bytes": file.stat().st_size, "memory": memory}
            for kind, what in (("whole", f"{file.stat().st_size / 1024:.0f} KiB thumbnail"), ("304", "If-None-Match, 304")):
                ours, theirs = (statistics.median(rates[name, kind]) for name in urls)
                figures[kind] = {"cameoWeb": ours, "nginx": theirs, "ratio": ours / theirs}
                self.show(what, f"{ours:,.0f}/s; nginx {theirs:,.0f}/s; ratio {ours / theirs:.2f}")
            self.show("memory after each round", ", ".join(f"{size:.0f} MiB" for size in memory))
            for minute in range(minutes):
                rate = wrk(urls["cameo-web"], seconds=60)
                self.show(f"minute {minute + 1} under load", f"{rate:,.0f}/s, {resident(web.pid):.0f} MiB")
        return figures

    def readers(self, rounds, count=2_000):
        """Whatever runs beside a worker slows it where there are few cores, so an unrelated program that takes as much
        processor time as the readers is measured too."""
        times = {"alone": [], "readers": [], "other work": []}
        for _ in range(rounds):
            times["alone"].append(self.drain(count)[0])
            took, cores = self.drain(count, self.read_along)
            times["readers"].append(took)
            times["other work"].append(self.drain(count, lambda _, stack: burn(cores, stack))[0])
        alone, beside, other = (statistics.median(values) for values in times.values())
        self.show(
            "the worker's time for a tiny job, 100 event streams beside it",
            f"{beside:.2f} ms; {alone:.2f} ms alone; {(beside / alone - 1) * 100:+.1f} %; "
            f"{(other / alone - 1) * 100:+.1f} % beside an unrelated program as busy as they ({cores:.2f} cores)",
        )

    def read_along(self, store, stack):
        """Starts the server and its readers; returns their processes."""
        port = free_port()
        server = stack.enter_context(self.server(store, port))
        streams = [["curl", "-sSN", f"http://127.0.0.1:{port}/events"]] * 100
        status = [self.bin / "cameo-status", "--store", store]
        commands = streams + [[*status, "events", "--follow"], [*status, "--watch"]]
        return [server] + [start(stack, command) for command in commands]

    def drain(self, count, beside=None):
        """The worker's processor time for a job, in milliseconds; the cores that what runs beside it takes."""
        store = self.store()
        self.enqueue_tiny(store, count)
        with contextlib.ExitStack() as stack:
            others = beside(store, stack) if beside else []
            time.sleep(1)
            begun, before = time.monotonic(), sum(queue.ticks(other.pid) for other in others)
            worker = self.worker(store)
            with contextlib.closing(queue.connect(store)) as db:
                while db.execute("SELECT count(*) FROM outcome WHERE state = 4").fetchone()[0] < count:
                    time.sleep(0.1)
            took = queue.ticks(worker.pid)
            cores = (sum(queue.ticks(other.pid) for other in others) - before) / (time.monotonic() - begun)
            worker.send_signal(signal.SIGTERM)
            worker.wait()
        return took / count * 1000, cores


def start(stack, command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stack.callback(lambda: (process.kill(), process.wait()))
    return process


def burn(cores, stack):
    """Starts two processes that are busy for a share of each five milliseconds; returns them."""
    busy = min(cores / 2, 1) * 0.005
    program = f"""
import time
while True:
    end = time.monotonic() + {busy}
    while time.monotonic() < end: pass
    time.sleep({0.005 - busy})
"""
    return [start(stack, [sys.executable, "-c", program]) for _ in range(2)]


def missing():
    """The programs that are not installed, with their packages."""
    programs = ("wrk", "wrk"), ("nginx", "nginx-light"), ("curl", "curl")
    path = os.environ["PATH"] + ":/usr/sbin"
    return [(program, package) for program, package in programs if not shutil.which(program, path=path)]


def run(bin, picture, rounds, minutes):
    for program, package in missing():
        sys.exit(f"{program} is missing: apt-get install {package}")
    with tempfile.TemporaryDirectory() as folder:
        # nginx gives up its rights to a user who has to reach the file.
        os.chmod(folder, 0o755)
        bench = Bench(bin, folder)
        bench.loads(picture, rounds, minutes)
        bench.readers(rounds)
