"""A fleet under attack: three workers, each in a network of its own with links to PostgreSQL and to an S3 server."""

import collections
import contextlib
import itertools
import json
import os
import pathlib
import signal
import statistics
import subprocess
import threading
import time

from soaking import fleet_attacks, network
from soaking.links import Links
from soaking.process import Worker
from soaking.servers import Database, Objects

HOSTS = 3
WAITING = 60  # jobs below which more are enqueued
STUCK = 120  # seconds without any job's end after which the rest counts as stuck
SKEWS = (3_600, -3_600, 0)  # seconds by which the clocks of the hosts are wrong
SIZES = [
    ["--size", "96x96:cover:webp", "--size", "200x:jpeg"],
    ["--size", "420x420:cover:png"],  # beyond 100 KiB: in the bucket
    ["--size", "64x64", "--size", "240x240:contain:png"],
]


class Host:
    """A worker with its network, its links and its clock."""

    def __init__(self, run, number):
        self.run, self.number = run, number
        self.network = network.Namespace(number) if run.has_namespaces else network.ThisNetwork()
        self.link = run.links.link(lambda: run.database.port, self.network.address)
        faults = run.folder / f"faults-{number}"
        faults.mkdir()
        (faults / "clock").write_text(str(SKEWS[number]))
        self.variables = {
            "CAMEO_STORE": f"postgres://cameo@{self.network.address}:{self.link.port}/postgres",
            "LD_PRELOAD": str(run.folder / "faults.so"), "CAMEO_FAULTS": str(faults),
        }
        self.worker = None

    def start(self):
        self.worker = Worker(self.run, "--concurrency", "4", prefix=self.network.prefix, **self.variables)

    def running(self):
        """How many jobs the database says that its worker runs."""
        return int(self.run.database.ask(
            f"SELECT count(*) FROM task WHERE state = 2 AND worker LIKE 'w%-{self.worker.pid}-%'"))


class FleetRun:
    def __init__(self, bin, folder, options, pictures, rng):
        self.bin, self.folder, self.options, self.pictures, self.rng = bin, folder, options, pictures, rng
        (folder / "logs").mkdir()
        (folder / "pictures").mkdir()
        root = pathlib.Path(__file__).resolve().parents[3]
        subprocess.run(
            ["cc", "-O1", "-shared", "-fPIC", "-o", folder / "faults.so", f"{root}/Tests/TestSupport/faults.c"], check=True)
        self.numbers = itertools.count()
        self.lock = threading.Lock()
        self.acknowledged = {}  # job: time
        self.refusals = collections.Counter()
        self.counts, self.problems = collections.Counter(), []
        self.recoveries = collections.defaultdict(list)  # of what: seconds
        self.tail = 0
        self.ending = threading.Event()
        self.links = Links()
        folder.chmod(0o755)  # for the user of the server
        self.database = Database(folder / "database")
        self.objects = Objects(folder / "objects")
        self.producers = self.links.link(lambda: self.database.port)
        self.hosts, self.has_namespaces = [], network.are_possible()
        self.shared = network.SharedAddress() if self.has_namespaces else network.ThisNetwork()
        self.bucket = self.links.link(lambda: self.objects.port, self.shared.address)
        self.environment = dict(
            os.environ, **Objects.environment,
            CAMEO_STORE=f"postgres://cameo@127.0.0.1:{self.producers.port}/postgres",
            CAMEO_BLOBS=f"s3://cameo/soak?endpoint=http://{self.shared.address}:{self.bucket.port}&region=us-east-1",
        )
        for number in range(HOSTS):
            self.hosts.append(Host(self, number))

    # The work

    def go(self, progress):
        self.enqueue(20)
        for host in self.hosts:
            host.start()
        self.wait_for_workers()
        # Under which tables without a key can be neither updated nor deleted from.
        self.database.ask("CREATE PUBLICATION everything FOR ALL TABLES")
        self.started = time.monotonic()
        producer = threading.Thread(target=self.produce)
        producer.start()
        possible = fleet_attacks.ATTACKS + [fleet_attacks.cable_pulled] * self.has_namespaces
        attacks = []
        while (elapsed := time.monotonic() - self.started) < self.options.minutes * 60:
            progress(f"{elapsed / 60:5.1f} of {self.options.minutes:g} minutes: {len(self.acknowledged):,} jobs enqueued, "
                     f"{sum(self.counts.values())} attacks, {len(self.problems)} problems")
            attacks = attacks or self.rng.sample(possible, len(possible))
            attack = attacks.pop()
            try:
                attack(self)
                self.counts[attack.__name__.replace("_", " ")] += 1
            except Exception as error:
                self.problems.append(f"the harness failed in {attack.__name__}: {error!r}")
            for host in self.hosts:
                if not host.worker.is_alive:
                    host.start()
            time.sleep(self.rng.uniform(0.5, 2))
        self.ending.set()
        producer.join()

    def produce(self):
        while not self.ending.is_set():
            try:
                if int(self.database.ask("SELECT count(*) FROM task")) < WAITING:
                    self.enqueue(self.rng.randint(5, 40))
                    continue
            except RuntimeError:
                pass  # the server is away
            time.sleep(0.2)

    def enqueue(self, count):
        paths = []
        for number in itertools.islice(self.numbers, count):
            picture = self.pictures[number % len(self.pictures)]
            path = self.folder / "pictures" / f"{number:07d}{picture.suffix}"
            path.symlink_to(picture)
            paths.append(path)
        if self.rng.random() < 0.3:
            self.enqueue_by_sql(paths)
        else:
            self.enqueue_by_command(paths)

    def enqueue_by_command(self, paths):
        done = subprocess.run(
            [self.bin / "cameo-enqueue", "-", "--json", "--max-attempts", "25", *self.rng.choice(SIZES)],
            input="".join(f"{path}\n" for path in paths), capture_output=True, text=True, env=self.environment)
        self.note([json.loads(line)["id"] for line in done.stdout.splitlines()])
        if done.returncode != 0:
            self.refusals[done.stderr.strip().splitlines()[-1][:120] if done.stderr.strip() else "no reason"] += 1

    def enqueue_by_sql(self, paths):
        rows = ", ".join(
            "('" + json.dumps({"source": f"file://{path}", "renditions": [{"width": 80}], "maxAttempts": 25}) + "')"
            for path in paths)
        try:
            answer = self.database.ask(f"INSERT INTO job(request) VALUES {rows} RETURNING id")
            self.note([int(line) for line in answer.splitlines()])
        except RuntimeError as error:
            self.refusals[f"psql: {str(error)[:100]}"] += 1

    def note(self, jobs):
        with self.lock:
            for job in jobs:
                self.acknowledged[job] = time.monotonic()

    # What attacks need

    def a_busy_host(self):
        for _ in range(200):
            host = self.rng.choice(self.hosts)
            if host.worker.is_alive and host.running() > 0:
                return host
            time.sleep(0.05)
        return self.rng.choice(self.hosts)

    def wait_for_workers(self):
        """A worker that cannot reach its store as it starts ends, and is started again only after an attack."""
        until, started = time.monotonic() + 60, 0
        while started < len(self.hosts):
            if time.monotonic() > until:
                raise RuntimeError("the workers did not start within 60 s")
            with contextlib.suppress(RuntimeError):  # the first of them makes the tables
                started = int(self.database.ask("SELECT count(*) FROM worker"))
            time.sleep(0.05)

    def measure(self, what, is_over, patience):
        """Waits until something is over, and notes how long it took."""
        began = time.monotonic()
        while time.monotonic() - began < patience:
            try:
                if is_over():
                    self.recoveries[what].append(time.monotonic() - began)
                    return
            except RuntimeError:
                pass  # the server is away
            time.sleep(0.05)
        self.problems.append(f"{what} took longer than {patience} s")

    def jobs_end_again(self, what, patience=60):
        """Of the last outcomes, one has to be newer than now."""
        def newest():
            return int(self.database.ask("SELECT coalesce(max(finalized_at), 0) FROM outcome"))

        def now():
            return int(self.database.ask("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"))

        for _ in range(600):
            try:
                begun = now()
                break
            except RuntimeError:
                time.sleep(0.05)
        self.measure(what, lambda: newest() > begun, patience)

    # The end

    def finish(self):
        """Drains the queue without attacks, and checks all of it."""
        for link in [self.bucket, self.producers, *(host.link for host in self.hosts)]:
            link.become("open")
        last, seen = time.monotonic(), -1
        while True:
            left, ended = map(int, self.database.ask(
                "SELECT (SELECT count(*) FROM task) + (SELECT count(*) FROM arrival), (SELECT count(*) FROM outcome)").split("|"))
            if left == 0:
                break
            if ended != seen:
                last, seen = time.monotonic(), ended
            elif time.monotonic() - last > STUCK:
                break
            time.sleep(0.2)
        self.total = time.monotonic() - self.started
        for host in self.hosts:
            if host.worker.end() != 0:
                self.problems.append(f"worker {host.number} ended with code {host.worker.process.returncode}")
        self.verdict()

    def verdict(self):
        rows = [line.split("|") for line in self.database.ask("SELECT id, state, failure_code FROM job_status").splitlines()]
        self.states, self.reasons = collections.Counter(row[1] for row in rows), collections.Counter()
        known, unended = {int(row[0]) for row in rows}, []
        for job, state, code in rows:
            if state == "discarded":
                self.reasons[code] += 1
            elif state not in ("completed", "cancelled"):
                unended.append(int(job))
        doubled = self.database.ask(
            "SELECT job_id FROM attempt WHERE outcome = 'completed' GROUP BY job_id HAVING count(*) > 1").split()
        bare = self.database.ask(
            "SELECT id FROM job_status, json_array_elements(thumbnails) AS one WHERE state = 'completed' AND one->>'blob' IS NULL").split()
        damaged = 0
        uris = self.database.ask("SELECT digest FROM blob WHERE data IS NULL ORDER BY random() LIMIT 200").split()
        for digest in uris:
            read = subprocess.run(
                [self.bin / "cameo-status", "cat", f"cameo://blob/sha256-{digest}"], capture_output=True, env=self.environment)
            damaged += read.returncode != 0
        self.results = {
            "lost": sorted(set(self.acknowledged) - known) + [int(job) for job in bare], "stuck": unended, "duplicated": doubled,
            "unreadable in the bucket": [damaged] if damaged else [],
        }

    def close(self):
        self.ending.set()
        for host in getattr(self, "hosts", []):
            if host.worker and host.worker.is_alive:
                host.worker.send(signal.SIGCONT)
                host.worker.process.kill()
                host.worker.process.wait()
            host.network.close()
        if hasattr(self, "shared"):
            self.shared.close()
        for server in ("database", "objects"):
            if hasattr(self, server):
                getattr(self, server).close()
        self.links.close()

    # The report

    def failures(self):
        found = list(dict.fromkeys(self.problems))
        found += [f"{name}: {', '.join(map(str, jobs[:10]))}" for name, jobs in self.results.items() if jobs]
        return found + [f"{count} jobs were discarded as {code}" for code, count in self.reasons.items() if code != "worker.lost"]

    def show(self):
        done = self.states["completed"]
        rows = [
            ("jobs done", f"{done:,} of {len(self.acknowledged):,} acknowledged, {done / self.total:.1f}/s"),
            *((f"  discarded {code}", f"{count}") for code, count in sorted(self.reasons.items())),
            ("time", f"{self.total / 60:.1f} minutes, seed {self.options.seed}"),
            ("hosts", f"{HOSTS}, " + ("in network namespaces" if self.has_namespaces else "on one network: namespaces need root")),
            ("attacks", f"{sum(self.counts.values())}"),
            *((f"  {name}", f"{count}") for name, count in sorted(self.counts.items())),
            ("refused with a reason", f"{sum(self.refusals.values())} enqueues"),
            ("lost with a failover's tail", f"{self.tail}, acknowledged less than {fleet_attacks.TAIL + 1:g} s before"),
            *((name, f"{len(jobs)}") for name, jobs in self.results.items()),
            *((f"recovery: {what}", f"{max(times):.1f} s at most, median {statistics.median(times):.1f} s, {len(times)} times")
              for what, times in sorted(self.recoveries.items())),
        ]
        for name, text in rows:
            print(f"{name:56}{text}")
        for line in self.failures():
            print(f"FAILED: {line}")
