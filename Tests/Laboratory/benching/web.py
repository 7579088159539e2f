"""Measures cameo-web beside nginx, which serves the same bytes as a file:

- loads of a thumbnail of about 20 KiB over kept connections, whole and with `If-None-Match`, by wrk;
- the server's memory after each round, and under load for `--minutes`;
- the worker's time for a job while 100 event streams, `cameo-status events --follow` and `--watch` read along."""
import contextlib
import re
import statistics
import subprocess
import time
import urllib.request

import lab
from benching import store
from lab import Unmeasured

CONNECTIONS, SECONDS = 32, 5
PACKAGES = {"wrk": "wrk", "nginx": "nginx-light", "curl": "curl"}
NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
events {{ worker_connections 2048; }}
http {{
    access_log off; keepalive_requests 1000000000; sendfile on;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    types {{ image/jpeg jpg; }}
    server {{ listen 127.0.0.1:{port}; root {folder}/exported; add_header Cache-Control "max-age=60"; }}
}}
"""


def wrk(url, seconds, *headers):
    """The requests a second; a response is either 200 or 304."""
    words = [word for header in headers for word in ("-H", header)]
    report = lab.output("wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", *words, url)
    if "Non-2xx" in report and not headers:
        raise Unmeasured(report)
    return float(re.search(r"Requests/sec:\s*([\d.]+)", report)[1])


class Bench(store.Bench):
    def web(self, queue, port):
        options = ["--store", queue, "--listen", f"127.0.0.1:{port}", "--log-level", "warning"]
        return lab.server(self.program("cameo-web"), *options,
                          answers=lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live").status)

    def thumbnail(self, queue, picture):
        """Makes thumbnails of a photograph; returns the id and the file of the one that is nearest to 20 KiB."""
        self.make(queue, [picture], *(word for edge in range(160, 520, 40) for word in ("--size", f"{edge}x:jpeg")))
        files = self.export(queue)
        uri, file = min(files.items(), key=lambda one: abs(one[1].stat().st_size - 20_480))
        return uri.removeprefix("cameo://thumb/"), file

    def loads(self, picture, rounds, minutes):
        """Loads a second of either server, and the memory of cameo-web after each round."""
        queue, ports, config = self.folder / "store", (lab.free_port(), lab.free_port()), self.folder / "nginx.conf"
        thumbnail, file = self.thumbnail(queue, picture)
        config.write_text(NGINX.format(folder=self.folder, port=ports[1]))
        urls = {"cameo-web": f"http://127.0.0.1:{ports[0]}/thumb/{thumbnail}",
                "nginx": f"http://127.0.0.1:{ports[1]}/{file.relative_to(self.folder / 'exported')}"}
        nginx = lab.server(lab.found("nginx"), "-c", config,
                           answers=lambda: urllib.request.urlopen(urls["nginx"]).status)
        with self.web(queue, ports[0]) as web, nginx:
            tags = {name: urllib.request.urlopen(url).headers["etag"] for name, url in urls.items()}
            rates, memory, size = {}, [], file.stat().st_size
            for _ in range(rounds):
                for name, url in urls.items():
                    rates.setdefault((name, "whole"), []).append(wrk(url, SECONDS))
                    rates.setdefault((name, "304"), []).append(wrk(url, SECONDS, f"If-None-Match: {tags[name]}"))
                memory.append(lab.memory(web.pid))
            for kind, what in (("whole", f"{size / 1024:.0f} KiB thumbnail"), ("304", "If-None-Match, 304")):
                ours, theirs = (statistics.median(rates[name, kind]) for name in urls)
                self.show(what, f"{ours:,.0f}/s; nginx {theirs:,.0f}/s; ratio {ours / theirs:.2f}")
            self.show("memory after each round", ", ".join(f"{size:.0f} MiB" for size in memory))
            for minute in range(minutes):
                rate = wrk(urls["cameo-web"], 60)
                self.show(f"minute {minute + 1} under load", f"{rate:,.0f}/s, {lab.memory(web.pid):.0f} MiB")

    def readers(self, rounds, count=2_000):
        alone, beside = [], []
        for _ in range(rounds):
            alone.append(self.drained(count)[0])
            took, cores = self.drained(count, self.read_along)
            beside.append(took)
        alone, beside = statistics.median(alone), statistics.median(beside)
        self.show("the worker's time for a tiny job, 100 event streams beside it",
                  f"{beside:.2f} ms; {alone:.2f} ms alone; {(beside / alone - 1) * 100:+.1f} %; "
                  f"they take {cores:.2f} cores")

    def read_along(self, queue, stack):
        """Starts the server and its readers; returns their processes."""
        port, status = lab.free_port(), [self.bin / "cameo-status", "--store", queue]
        web = stack.enter_context(self.web(queue, port))
        streams = [["curl", "-sSN", f"http://127.0.0.1:{port}/events"]] * 100
        commands = [*streams, [*status, "events", "--follow"], [*status, "--watch"]]
        return [web, *(stack.enter_context(lab.running(*command, stderr=subprocess.DEVNULL)) for command in commands)]

    def drained(self, count, beside=lambda queue, stack: []):
        """The worker's processor time for a job, in milliseconds; the cores that what runs beside it takes."""
        queue = self.store()
        self.enqueue(queue, self.tiny(count))
        with contextlib.ExitStack() as stack:
            others = beside(queue, stack)
            time.sleep(1)
            begun, before = time.monotonic(), sum(lab.own_time(other.pid) for other in others)
            worker = stack.enter_context(self.worker(queue))
            store.finished(stack.enter_context(lab.connect(queue)), 1, count, pause=0.1)
            took = lab.own_time(worker.pid)
            cores = (sum(lab.own_time(other.pid) for other in others) - before) / (time.monotonic() - begun)
        return took / count * 1000, cores


def run(bin, picture, rounds, minutes):
    for program, package in PACKAGES.items():
        lab.need(program, package)
    with Bench.temporary(bin) as bench:
        bench.loads(picture, rounds, minutes)
        bench.readers(rounds)
