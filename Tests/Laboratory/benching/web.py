"""Measures cameo-web beside nginx, which serves the same bytes as a file:

- loads of a thumbnail of about 20 KiB over kept connections, whole and with `If-None-Match`, by wrk;
- the server's memory after each round, and under load for `--minutes`;
- the worker's time for a job while 100 event streams, `cameo-status events --follow` and `--watch` read along."""
import contextlib
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from shutil import which

import lab
from benching import store
from lab import Unmeasured

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
BURN = """
import time
while True:
    end = time.monotonic() + {busy}
    while time.monotonic() < end: pass
    time.sleep({rest})
"""


def wrk(url, *headers, seconds=None):
    """The requests a second; a response is either 200 or 304."""
    words = [word for header in headers for word in ("-H", header)]
    report = lab.output("wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds or SECONDS}s", *words, url)
    if "Non-2xx" in report and not headers:
        raise Unmeasured(report)
    return float(re.search(r"Requests/sec:\s*([\d.]+)", report)[1])


@contextlib.contextmanager
def server(*command, url):
    def answers():
        if process.poll() is not None:
            raise Unmeasured(f"{command[0]} has ended")
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(url).status

    with lab.running(*command) as process:
        lab.wait_until(answers, f"starting {command[0]}", pause=0.05)
        yield process


class Bench(store.Bench):
    def web(self, queue, port):
        return server(self.bin / "cameo-web", "--store", queue, "--listen", f"127.0.0.1:{port}", "--log-level", "warning",
                      url=f"http://127.0.0.1:{port}/health/live")

    def thumbnail(self, queue, picture):
        """Makes thumbnails of a photograph; returns the id and the file of the one that is nearest to 20 KiB."""
        sizes = [word for edge in range(160, 520, 40) for word in ("--size", f"{edge}x:jpeg")]
        self.run("cameo-enqueue", "--store", queue, picture, *sizes)
        self.run("cameo-worker", "--store", queue, "--drain", "--allow-root", picture.parent)
        self.run("cameo-status", "--store", queue, "export", self.folder / "files")
        nearest = min((self.folder / "files").glob("*.jpg"), key=lambda file: abs(file.stat().st_size - 20_480))
        manifest = (self.folder / "files" / "manifest.json").read_text()
        uri = re.search(r'\{[^{}]*"' + re.escape(nearest.name) + r'"[^{}]*\}', manifest)[0]
        return re.search(r"cameo://thumb/([0-9a-f]+)", uri)[1], nearest

    def loads(self, picture, rounds, minutes):
        """Loads a second of either server, and the memory of cameo-web after each round."""
        queue, ports, config = self.folder / "store", (lab.free_port(), lab.free_port()), self.folder / "nginx.conf"
        thumbnail, file = self.thumbnail(queue, picture)
        config.write_text(NGINX.format(folder=self.folder, port=ports[1]))
        urls = {"cameo-web": f"http://127.0.0.1:{ports[0]}/thumb/{thumbnail}", "nginx": f"http://127.0.0.1:{ports[1]}/{file.name}"}
        nginx = which("nginx", path=lab.PATH)
        with self.web(queue, ports[0]) as web, server(nginx, "-c", config, url=urls["nginx"]):
            tags = {name: urllib.request.urlopen(url).headers["etag"] for name, url in urls.items()}
            rates, memory = {}, []
            for _ in range(rounds):
                for name, url in urls.items():
                    rates.setdefault((name, "whole"), []).append(wrk(url))
                    rates.setdefault((name, "304"), []).append(wrk(url, f"If-None-Match: {tags[name]}"))
                memory.append(lab.resident(web.pid))
            figures = {"bytes": file.stat().st_size, "memory": memory}
            for kind, what in (("whole", f"{file.stat().st_size / 1024:.0f} KiB thumbnail"), ("304", "If-None-Match, 304")):
                ours, theirs = (statistics.median(rates[name, kind]) for name in urls)
                figures[kind] = {"cameoWeb": ours, "nginx": theirs, "ratio": ours / theirs}
                self.show(what, f"{ours:,.0f}/s; nginx {theirs:,.0f}/s; ratio {ours / theirs:.2f}")
            self.show("memory after each round", ", ".join(f"{size:.0f} MiB" for size in memory))
            for minute in range(minutes):
                rate = wrk(urls["cameo-web"], seconds=60)
                self.show(f"minute {minute + 1} under load", f"{rate:,.0f}/s, {lab.resident(web.pid):.0f} MiB")
        return figures

    def readers(self, rounds, count=2_000):
        """Whatever runs beside a worker slows it where there are few cores, so an unrelated program that takes as much
        processor time as the readers is measured too."""
        times = {"alone": [], "readers": [], "other work": []}
        for _ in range(rounds):
            times["alone"].append(self.drained(count)[0])
            took, cores = self.drained(count, self.read_along)
            times["readers"].append(took)
            busy = min(cores / 2, 1) * 0.005
            program = [sys.executable, "-c", BURN.format(busy=busy, rest=0.005 - busy)]
            times["other work"].append(self.drained(count, lambda _, stack: self.start(stack, [program] * 2))[0])
        alone, beside, other = map(statistics.median, times.values())
        self.show("the worker's time for a tiny job, 100 event streams beside it",
                  f"{beside:.2f} ms; {alone:.2f} ms alone; {(beside / alone - 1) * 100:+.1f} %; "
                  f"{(other / alone - 1) * 100:+.1f} % beside an unrelated program as busy as they ({cores:.2f} cores)")

    def read_along(self, queue, stack):
        """Starts the server and its readers; returns their processes."""
        port, status = lab.free_port(), [self.bin / "cameo-status", "--store", queue]
        streams = [["curl", "-sSN", f"http://127.0.0.1:{port}/events"]] * 100
        return [stack.enter_context(self.web(queue, port)),
                *self.start(stack, [*streams, [*status, "events", "--follow"], [*status, "--watch"]])]

    def start(self, stack, commands):
        return [stack.enter_context(lab.running(*command, stderr=subprocess.DEVNULL)) for command in commands]

    def drained(self, count, beside=lambda queue, stack: []):
        """The worker's processor time for a job, in milliseconds; the cores that what runs beside it takes."""
        queue = self.store()
        self.enqueue(queue, self.tiny(count))
        with contextlib.ExitStack() as stack:
            others = beside(queue, stack)
            time.sleep(1)
            begun, before = time.monotonic(), sum(lab.own_time(other.pid) for other in others)
            worker = stack.enter_context(self.worker(queue))
            with contextlib.closing(lab.connect(queue)) as db:
                store.finished(db, 1, count, pause=0.1)
            took = lab.own_time(worker.pid)
            cores = (sum(lab.own_time(other.pid) for other in others) - before) / (time.monotonic() - begun)
        return took / count * 1000, cores


def missing():
    """The programs that are not installed, with their packages."""
    programs = ("wrk", "wrk"), ("nginx", "nginx-light"), ("curl", "curl")
    return [(program, package) for program, package in programs if not which(program, path=lab.PATH)]


def run(bin, picture, rounds, minutes):
    for program, package in missing():
        lab.need(program, package)
    with Bench.temporary(bin) as bench:
        bench.loads(picture, rounds, minutes)
        bench.readers(rounds)
