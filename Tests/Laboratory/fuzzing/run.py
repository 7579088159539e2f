"""One worker, its store, and the outcome of every input."""
import collections
import contextlib
import json
import random
import re
import shutil
import time
import urllib.parse

import lab
from fuzzing.damage import damage
from fuzzing.fixtures import VIDEO_WEIGHTS, WEIGHTS
from fuzzing.renditions import rendition

BATCH = 250  # inputs in one transaction; the next is enqueued when half of what waits is done
KEPT = 200  # inputs at most in the folder of findings
RENDER_TIMEOUT = 5  # seconds, few, so that hangs cost little
STUCK = 90  # seconds without any job's end after which the rest counts as unfinished
FINDINGS = {"render.crashed", "render.timedOut", "render.failed", "unknown"}
# Failures that precede decoders. image.unsupportedFormat does not always, but is counted as such.
BEFORE_DECODER = {"image.unsupportedFormat", "request.invalid", "worker.lost", "job.timedOut"}


class Run:
    def __init__(self, bin, folder, options, fixtures):
        self.bin, self.folder, self.options, self.fixtures, self.seed = bin, folder, options, fixtures, options.seed
        self.store, self.inputs = folder / "store", folder / "inputs"
        self.inputs.mkdir()
        schema = json.loads((lab.ROOT / "proto-json/job-failure.schema.json").read_text())
        self.known = set(schema["properties"]["code"]["enum"]) - {"unknown"}
        self.waiting = {}  # job: (input's number, path, format, mutations, request)
        self.outcomes, self.deaths = collections.Counter(), collections.Counter()
        self.by_format = collections.defaultdict(collections.Counter)
        self.ended = self.made = self.timeouts = self.worker_deaths = self.kept = 0
        self.unnamed, self.overlays, self.peaks, self.slowest = [], [], [0, 0], (0, None, None)
        self.open, self.of_worker = contextlib.ExitStack(), contextlib.ExitStack()

    def close(self):
        self.of_worker.close()
        self.open.close()

    # The worker

    def start_worker(self):
        log = self.of_worker.enter_context(open(self.folder / "worker.log", "ab"))
        allowed = [word for format in self.options.allow_format for word in ("--allow-format", format)]
        # A session of its own, so that Ctrl-C reaches only this script, which then stops the worker in good order.
        self.worker = self.of_worker.enter_context(lab.running(
            self.bin / "cameo-worker", "--store", self.store, "--allow-root", self.folder, "--log-level", "critical",
            "--retry", "base=0", "--render-timeout", RENDER_TIMEOUT, "--concurrency", lab.CORES + 2, *allowed,
            stdout=log, stderr=log, start_new_session=True))
        self.of_worker.enter_context(lab.meanwhile(self.note_memory, 0.25))

    def note_memory(self):
        now = lab.memory(self.worker.pid, "VmHWM"), lab.largest_child(self.worker.pid, "VmHWM")
        self.peaks = list(map(max, self.peaks, now))

    def watch_worker(self):
        """Records the death of a worker that ended by itself, whatever its exit code."""
        if self.worker.poll() is None:
            return
        self.worker_deaths += 1
        self.of_worker.close()
        last = (self.folder / "worker.log").read_text(errors="replace")[-4_000:]
        lab.progress(f"\nthe worker died with exit code {self.worker.returncode}:\n{last}")
        (self.options.keep / f"{self.seed}-worker-{self.worker_deaths}.log").write_text(last)
        if self.worker_deaths >= 5:
            raise RuntimeError("the worker died five times")
        self.start_worker()

    # Jobs

    def prepare(self):
        """Renders every fixture once, undamaged, because mutants of a refused one would be wasted."""
        sound = {}
        for format, files in self.fixtures.items():
            for name, data in files.items():
                path = self.folder / "sound" / format / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
                sound[f"file://{urllib.parse.quote(str(path))}"] = f"{format}/{name}"
        lab.output(self.bin / "cameo-enqueue", "--store", self.store, "-", "--size", "64x64", input="\n".join(sound))
        self.start_worker()
        self.database = self.open.enter_context(lab.connect(self.store))

        def is_done():
            self.watch_worker()
            return not lab.one(self.database, "SELECT count(*) FROM job_status WHERE finalized_at IS NULL")

        lab.wait_until(is_done, "rendering the undamaged files", 180, 0.1)
        refused = self.database.execute(
            "SELECT source, failure_code, failure_message FROM job_status WHERE state <> 'completed'").fetchall()
        for source, code, message in refused:
            lab.progress(f"the undamaged {sound.get(source, source)} fails: {code}: {message}")
        usable = ("png/rgba.png", "webp/tiny.webp", "jpeg/grey.jpg", "svg/text.svg")
        self.overlays = [source for source, name in sound.items() if name in usable]
        lab.progress(f"{len(sound)} intact files, {len(refused)} of them refused; damaging them")

    def draw(self, number):
        """An input and its request, as a function of the seed and the number."""
        rng = random.Random(f"{self.seed}/{number}")
        formats = sorted(self.fixtures)
        format = rng.choices(formats, [(WEIGHTS | VIDEO_WEIGHTS)[format] for format in formats])[0]
        files = self.fixtures[format]
        large = [name for name in sorted(files) if name.startswith("large")]
        usual = sorted(files.keys() - set(large))
        name = rng.choice(large if large and rng.random() < 0.01 else usual)
        data, mutations = damage(rng, format, files[name], [files[other] for other in usual])
        path = self.inputs / f"{number:07d}-{name}"
        count = rng.choices([1, 2, 3, 5], [70, 20, 7, 3])[0]
        request = {
            "source": "file://" + urllib.parse.quote(str(path)),
            "renditions": [rendition(rng, index, format, self.overlays) for index in range(count)],
            "maxAttempts": 2 if rng.random() < 0.05 else 1,
        }
        return path, data, format, [name, *mutations], request

    def enqueue_batch(self, count):
        self.database.execute("BEGIN IMMEDIATE")
        for number in range(self.made, self.made + count):
            path, data, format, mutations, request = self.draw(number)
            path.write_bytes(data)
            job = self.database.execute("INSERT INTO job(request) VALUES (?)", (json.dumps(request),)).lastrowid
            self.waiting[job] = number, path, format, mutations, request
        self.database.execute("COMMIT")
        self.made += count

    def collect(self):
        """Records jobs that have ended, and deletes their inputs."""
        if not self.waiting:
            return 0
        rows = [row for row in self.database.execute(
            """SELECT outcome.id, job_status.state, failure FROM outcome JOIN job_status ON job_status.id = outcome.id
               WHERE outcome.id BETWEEN ? AND ?""", (min(self.waiting), max(self.waiting))) if row[0] in self.waiting]
        for job, state, failure in rows:
            look = "SELECT finished_at - started_at, failure FROM attempt WHERE job_id = ?"
            attempts = self.database.execute(look, [job])
            self.settle(*self.waiting.pop(job), state, json.loads(failure or "{}"), attempts)
        self.ended += len(rows)
        return len(rows)

    def settle(self, number, path, format, mutations, request, state, failure, attempts):
        code = "completed" if state == "completed" else failure.get("code", "unknown")
        self.outcomes[code] += 1
        self.by_format[format][code] += 1
        if code != "completed" and (state != "discarded" or code not in self.known):
            self.unnamed.append(f"input {number}: {state}, {code}")
            code = "unknown"
        for milliseconds, failed in attempts:
            self.slowest = max(self.slowest, (milliseconds or 0, number, " ".join(mutations)), key=lambda one: one[0])
            failed = json.loads(failed or "{}")
            match failed.get("code"):
                case "render.crashed":
                    # The worker's message: "… crashed its renderer: SIGSEGV (…)".
                    cause = r"crashed its renderer: (signal \d+|exit code \d+|\w+)"
                    words = re.search(cause, failed.get("message", ""))
                    self.deaths[words[1] if words else "unknown"] += 1
                case "render.timedOut": self.timeouts += 1
                # Nobody changes an input, so this is what a SIGBUS is taken for.
                case "source.changed": self.deaths["SIGBUS"] += 1
        if code in FINDINGS and self.kept < KEPT:
            self.kept += 1
            kept = self.options.keep / f"{self.seed}-{code}-{path.name}"
            shutil.copy(path, kept)
            note = {"seed": self.seed, "input": number, "mutations": mutations, "state": state,
                    "failure": failure or None, "request": request}
            kept.with_name(f"{kept.name}.json").write_text(json.dumps(note, indent=2) + "\n")
        path.unlink()

    def go(self):
        started = last = time.monotonic()
        line, end, inputs = lab.Line(), started + self.options.minutes * 60, self.options.inputs
        while True:
            more = time.monotonic() < end and (inputs is None or self.made < inputs)
            if more and len(self.waiting) <= BATCH // 2:
                self.enqueue_batch(BATCH if inputs is None else min(BATCH, inputs - self.made))
            elif not more and not self.waiting:
                break
            if self.collect():
                last = time.monotonic()
            elif time.monotonic() - last > STUCK:
                break
            self.watch_worker()
            seconds = time.monotonic() - started
            line(f"{seconds / 60:5.1f} of {self.options.minutes:g} minutes: {self.ended:,} inputs, "
                 f"{self.ended / max(seconds, 0.1):.0f}/s, {self.outcomes['completed']:,} completed, "
                 f"{sum(self.deaths.values())} renderer deaths, {self.timeouts} timeouts, "
                 f"{self.worker_deaths} worker deaths")
            time.sleep(0.05)
        line.close()
        self.seconds = time.monotonic() - started
        alive, code = self.worker.poll() is None, lab.end(self.worker, 40)
        if alive and code != 0:
            self.worker_deaths += 1
            lab.progress(f"\nthe worker answered SIGTERM with exit code {code}")

    # The report

    def report(self):
        decoded = sum(count for code, count in self.outcomes.items()
                      if code not in BEFORE_DECODER and not code.startswith(("source.", "store.")))
        return {
            "seed": self.seed, "minutes": round(self.seconds / 60, 2), "inputs": self.ended, "intoDecoder": decoded,
            "intoDecoderShare": round(decoded / max(1, self.ended), 4), "outcomes": dict(self.outcomes.most_common()),
            "outcomesByFormat": {format: dict(counts) for format, counts in sorted(self.by_format.items())},
            "rendererDeaths": dict(self.deaths.most_common()), "timeouts": self.timeouts,
            "workerDeaths": self.worker_deaths,
            "unfinished": len(self.waiting), "unnamedFailures": self.unnamed,
            "slowest": dict(zip(("milliseconds", "input", "mutations"), self.slowest)),
            "peakMiB": {"worker": round(self.peaks[0]), "renderer": round(self.peaks[1])},
            "jobsPerSecond": round(self.ended / self.seconds, 1), "findings": self.kept,
            "findingsFolder": str(self.options.keep),
        }

