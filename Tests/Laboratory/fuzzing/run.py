"""One worker, its store, and the outcome of every input."""

import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.parse

from fuzzing.damage import damage
from fuzzing.fixtures import WEIGHTS
from fuzzing.memory import Memory
from fuzzing.renditions import rendition
from fuzzing.video import VIDEO_WEIGHTS

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
BATCH = 250  # inputs in one transaction; the next is enqueued when half of what waits is done

KEPT = 200  # inputs at most in the folder of findings

STUCK = 90  # seconds without any job's end after which the rest counts as unfinished

FINDINGS = {"render.crashed", "render.timedOut", "render.failed", "unknown"}


class Run:
    """One worker, its store, and the outcome of every input."""

    def __init__(self, bin, folder, options, fixtures, seed):
        self.bin, self.folder, self.options, self.fixtures, self.seed = bin, folder, options, fixtures, seed
        self.store, self.inputs = folder / "store", folder / "inputs"
        self.inputs.mkdir()
        self.environment = dict(os.environ, CAMEO_STORE=str(self.store))
        self.known = set(
            json.loads((REPOSITORY / "proto-json/job-failure.schema.json").read_text())["properties"]["code"]["enum"]
        ) - {"unknown"}
        self.formats = sorted(fixtures)
        self.weights = [(WEIGHTS | VIDEO_WEIGHTS)[format] for format in self.formats]
        self.waiting = {}  # job: (input's number, path, format, mutations)
        self.outcomes, self.deaths, self.by_format = (
            collections.Counter(), collections.Counter(), collections.defaultdict(collections.Counter),
        )
        self.ended = self.made = self.timeouts = self.worker_deaths = self.kept = 0
        self.unnamed, self.memory, self.worker, self.peaks = [], None, None, [0, 0]
        self.slowest = (0, None, None)
        self.database = None
        self.overlays = []

    # The worker

    def start_worker(self):
        command = [
            self.bin / "cameo-worker",
            "--allow-root", self.folder, "--log-level", "critical", "--retry-base", "0", "--render-timeout",
            str(self.options.render_timeout), "--concurrency", str(len(os.sched_getaffinity(0)) + 2),
        ]
        for format in self.options.allow_format:
            command += ["--allow-format", format]
        self.log = open(self.folder / "worker.log", "ab")
        # A session of its own, so that Ctrl-C reaches only this script, which then stops the worker in good order.
        self.worker = subprocess.Popen(
            command, env=self.environment, stdout=self.log, stderr=self.log, start_new_session=True
        )
        self.memory = Memory(self.worker)
        self.memory.start()

    def note_memory(self):
        self.memory.stop.set()
        self.memory.join()
        self.peaks = [max(self.peaks[0], self.memory.worker_peak), max(self.peaks[1], self.memory.renderer_peak)]

    def watch_worker(self):
        """Records the death of a worker that ended by itself, whatever its exit code."""
        if self.worker.poll() is None:
            return
        self.worker_deaths += 1
        self.note_memory()
        self.log.close()
        last = (self.folder / "worker.log").read_text(errors="replace")[-4_000:]
        print(f"\nthe worker died with exit code {self.worker.returncode}:\n{last}", file=sys.stderr)
        (self.options.keep / f"{self.seed}-worker-{self.worker_deaths}.log").write_text(last)
        if self.worker_deaths >= 5:
            raise RuntimeError("the worker died five times")
        self.start_worker()

    def stop_worker(self):
        if self.worker is None:
            return
        if self.worker.poll() is None:
            self.worker.send_signal(signal.SIGTERM)
            try:
                self.worker.wait(40)
            except subprocess.TimeoutExpired:
                self.worker.kill()
                self.worker.wait()
        self.note_memory()
        self.log.close()

    # Jobs

    def prepare(self):
        """Renders every fixture once, undamaged, because mutants of a refused one would be wasted."""
        sound = {}
        for format, files in self.fixtures.items():
            for name, data in files.items():
                path = self.folder / "sound" / format / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
                sound[str(path)] = f"{format}/{name}"
        listing = "\n".join(sound).encode()
        enqueue = [self.bin / "cameo-enqueue", "-", "--size", "64x64"]
        subprocess.run(enqueue, input=listing, env=self.environment, check=True, stdout=subprocess.DEVNULL)
        self.start_worker()
        self.database = sqlite3.connect(self.store / "cameo.sqlite", timeout=30, isolation_level=None)
        self.database.execute("PRAGMA wal_autocheckpoint=0")
        started = time.monotonic()
        while self.database.execute("SELECT count(*) FROM job_status WHERE finalized_at IS NULL").fetchone()[0]:
            self.watch_worker()
            if time.monotonic() - started > 180:
                raise RuntimeError("the undamaged pictures are not done after 180 s")
            time.sleep(0.1)
        refused = self.database.execute(
            "SELECT source, failure_code, failure_message FROM job_status WHERE state <> 'completed'"
        ).fetchall()
        for source, code, message in refused:
            name = sound[urllib.parse.unquote(source.removeprefix("file://"))]
            print(f"the undamaged {name} fails: {code}: {message}", file=sys.stderr)
        self.overlays = [
            path
            for path, name in sound.items()
            if name in ("png/rgba.png", "webp/tiny.webp", "jpeg/grey.jpg", "svg/text.svg")
        ]
        self.overlays = ["file://" + path for path in self.overlays]
        return len(sound), len(refused)

    def draw(self, number):
        """An input and its request, as a function of the seed and the number."""
        rng = random.Random(f"{self.seed}/{number}")
        format = rng.choices(self.formats, self.weights)[0]
        files = self.fixtures[format]
        names = sorted(files)
        large = [name for name in names if name.startswith("large")]
        usual = [name for name in names if not name.startswith("large")]
        name = rng.choice(large if large and rng.random() < 0.01 else usual)
        data, mutations = damage(rng, format, files[name], [files[other] for other in usual])
        path = self.inputs / f"{number:07d}-{name}"
        count = rng.choices([1, 2, 3, 5], [70, 20, 7, 3])[0]
        overlays = [] if self.options.plain else self.overlays
        request = {
            "source": "file://" + urllib.parse.quote(str(path)),
            "renditions": [rendition(rng, index, format, overlays, self.options.plain) for index in range(count)],
            "maxAttempts": 2 if rng.random() < 0.05 else 1,
        }
        return path, data, format, [name, *mutations], request

    def enqueue_batch(self, count):
        drawn = [self.draw(number) for number in range(self.made, self.made + count)]
        for path, data, *_ in drawn:
            path.write_bytes(data)
        self.database.execute("BEGIN IMMEDIATE")
        for offset, (path, _, format, mutations, request) in enumerate(drawn):
            job = self.database.execute("INSERT INTO job(request) VALUES (?)", (json.dumps(request),)).lastrowid
            self.waiting[job] = (self.made + offset, path, format, mutations, request)
        self.database.execute("COMMIT")
        self.made += count

    def collect(self):
        """Records jobs that have ended, and deletes their inputs."""
        if not self.waiting:
            return 0
        first, last = min(self.waiting), max(self.waiting)
        rows = self.database.execute(
            """
            SELECT outcome.id, job_status.state, failure FROM outcome JOIN job_status ON job_status.id = outcome.id
            WHERE outcome.id BETWEEN ? AND ?
            """,
            (first, last),
        ).fetchall()
        rows = [row for row in rows if row[0] in self.waiting]
        attempts = collections.defaultdict(list)
        if rows:
            tried = self.database.execute(
                "SELECT job_id, finished_at - started_at, failure FROM attempt WHERE job_id BETWEEN ? AND ?",
                (first, last),
            )
            for job, milliseconds, failure in tried.fetchall():
                attempts[job].append((milliseconds or 0, json.loads(failure) if failure else None))
        for job, state, failure in rows:
            self.settle(self.waiting.pop(job), state, json.loads(failure) if failure else None, attempts[job])
        self.ended += len(rows)
        return len(rows)

    def settle(self, entry, state, failure, attempts):
        number, path, format, mutations, request = entry
        code = "completed" if state == "completed" else (failure or {}).get("code", "unknown")
        self.outcomes[code] += 1
        self.by_format[format][code] += 1
        if code != "completed" and (state != "discarded" or code not in self.known):
            self.unnamed.append(f"input {number}: {state}, {code}")
            code = "unknown"
        for milliseconds, failed in attempts:
            if milliseconds > self.slowest[0]:
                self.slowest = (milliseconds, number, " ".join(mutations))
            message = (failed or {}).get("message", "")
            if (failed or {}).get("code") == "render.crashed":
                # The worker's message: "… crashed its renderer: SIGSEGV (…)".
                words = re.search(r"crashed its renderer: (signal \d+|exit code \d+|\w+)", message)
                self.deaths[words[1] if words else "unknown"] += 1
            elif (failed or {}).get("code") == "render.timedOut":
                self.timeouts += 1
            elif (failed or {}).get("code") == "source.changed":
                self.deaths["SIGBUS"] += 1  # nobody changes an input, so this is what a SIGBUS is taken for
        if code in FINDINGS and self.kept < KEPT:
            self.kept += 1
            name = f"{self.seed}-{code}-{path.name}"
            shutil.copy(path, self.options.keep / name)
            note = {
                "seed": self.seed, "input": number, "mutations": mutations, "state": state, "failure": failure,
                "request": request,
            }
            (self.options.keep / f"{name}.json").write_text(json.dumps(note, indent=2) + "\n")
        path.unlink()

    def go(self, progress):
        self.started = time.monotonic()
        end = self.started + self.options.minutes * 60
        last = self.started
        while True:
            now = time.monotonic()
            more = now < end and (self.options.inputs is None or self.made < self.options.inputs)
            if more and len(self.waiting) <= BATCH // 2:
                left = BATCH if self.options.inputs is None else min(BATCH, self.options.inputs - self.made)
                self.enqueue_batch(left)
            elif not more and not self.waiting:
                break
            if self.collect():
                last = time.monotonic()
            elif time.monotonic() - last > STUCK + self.options.render_timeout:
                break
            self.watch_worker()
            progress(self)
            time.sleep(0.05)
        self.seconds = time.monotonic() - self.started
        alive = self.worker.poll() is None
        self.stop_worker()
        if alive and self.worker.returncode != 0:
            self.worker_deaths += 1
            print(f"\nthe worker answered SIGTERM with exit code {self.worker.returncode}", file=sys.stderr)
