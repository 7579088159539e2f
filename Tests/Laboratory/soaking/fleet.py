"""A fleet under attack: three workers, each in a network of its own with links to PostgreSQL and to an S3 server."""
import collections
import contextlib
import json
import os
import statistics
import subprocess
import threading
import time

import lab
from soaking import fleet_attacks, network
from soaking.servers import Database, Objects
from soaking.soak import WAITING, Soak, Worker

SKEWS = (3_600, -3_600, 0)  # seconds by which the clocks of the hosts are wrong
STATES = ("SELECT id, state, failure_code, state = 'completed' AND EXISTS (SELECT FROM json_array_elements(thumbnails) AS one"
          " WHERE one->>'blob' IS NULL) FROM job_status")


class Host:
    """A worker with its network, its links and its clock."""

    def __init__(self, run, number):
        self.run, self.number, self.worker = run, number, None
        self.network = network.Namespace(number) if run.has_namespaces else network.ThisNetwork()
        self.link = run.links.link(lambda: run.database.port, self.network.address)
        faults = run.folder / f"faults-{number}"
        faults.mkdir()
        (faults / "clock").write_text(str(SKEWS[number]))
        self.variables = {
            "CAMEO_STORE": f"postgres://cameo@{self.network.address}:{self.link.port}/postgres",
            "LD_PRELOAD": str(run.folder / "faults.so"), "CAMEO_FAULTS": str(faults),
        }

    def start(self):
        self.worker = Worker(self.run, "--concurrency", "4", prefix=self.network.prefix, **self.variables)

    def kill(self):
        self.worker.kill()

    def running(self):
        """How many jobs the database says that its worker runs."""
        return int(self.run.database.ask(f"SELECT count(*) FROM task WHERE state = 2 AND worker LIKE '{self.worker.name}'"))


class FleetSoak(Soak):
    sql_share = 0.3
    sizes = [
        ["--size", "96x96:cover:webp", "--size", "200x:jpeg"],
        ["--size", "420x420:cover:png"],  # beyond 100 KiB: in the bucket
        ["--size", "64x64", "--size", "240x240:contain:png"],
    ]

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.recoveries, self.tail = collections.defaultdict(list), 0  # of what: seconds
        lab.faults(self.folder / "faults.so")
        self.folder.chmod(0o755)  # for the user of the server
        self.open = contextlib.ExitStack()  # closed in the reverse order
        try:
            self.links = self.keep(network.Links())
            self.database, self.objects = self.keep(Database(self.folder / "database")), self.keep(Objects(self.folder / "objects"))
            self.producers, self.has_namespaces = self.links.link(lambda: self.database.port), network.are_possible()
            self.shared = self.keep(network.SharedAddress() if self.has_namespaces else network.ThisNetwork())
            self.bucket = self.links.link(lambda: self.objects.port, self.shared.address)
            self.environment = dict(
                os.environ, **Objects.environment,
                CAMEO_STORE=f"postgres://cameo@127.0.0.1:{self.producers.port}/postgres",
                CAMEO_BLOBS=f"s3://cameo/soak?endpoint=http://{self.shared.address}:{self.bucket.port}&region=us-east-1",
            )
            self.hosts = []
            for number in range(len(SKEWS)):
                self.hosts.append(Host(self, number))
                self.keep(self.hosts[-1].network)
        except BaseException:
            self.open.close()
            raise

    def keep(self, what):
        self.open.callback(what.close)
        return what

    def close(self):
        self.ending.set()
        for host in self.hosts:
            if host.worker and host.worker.is_alive:
                host.kill()
        self.open.close()

    # The work

    def go(self):
        self.enqueue(20, self.rng)
        for host in self.hosts:
            host.start()
        # A worker that cannot reach its store as it starts ends, and is started again only after an attack.
        lab.wait_until(lambda: self.number_of("SELECT count(*) FROM worker") == len(self.hosts), "starting the workers")
        # Under which tables without a key can be neither updated nor deleted from.
        self.database.ask("CREATE PUBLICATION everything FOR ALL TABLES")
        self.started = time.monotonic()
        producer = threading.Thread(target=self.produce_jobs)
        producer.start()
        possible = fleet_attacks.ATTACKS + [fleet_attacks.cable_pulled] * self.has_namespaces
        attacks, line = [], lab.Line()
        while (elapsed := time.monotonic() - self.started) < self.options.minutes * 60:
            line(f"{elapsed / 60:5.1f} of {self.options.minutes:g} minutes: {len(self.acknowledged):,} jobs enqueued, "
                 f"{sum(self.counts.values())} attacks, {len(self.problems)} problems")
            attacks = attacks or self.rng.sample(possible, len(possible))
            attack = attacks.pop()
            try:
                attack(self)
                self.counts[attack.__name__.replace("_", " ")] += 1
            except Exception as error:
                self.harness_failed(attack.__name__, error)
            for host in self.hosts:
                if not host.worker.is_alive:
                    host.start()
            time.sleep(self.rng.uniform(0.5, 2))
        line.close()
        self.ending.set()
        producer.join()

    def number_of(self, question):
        """The answer of the server, None while it is away."""
        with contextlib.suppress(RuntimeError):
            return int(self.database.ask(question))

    def produce_jobs(self):
        while not self.ending.is_set():
            waiting = self.number_of("SELECT count(*) FROM task")
            if waiting is not None and waiting < WAITING:
                self.enqueue(self.rng.randint(5, 40), self.rng)
            else:
                time.sleep(0.2)

    def enqueue_by_sql(self, paths, rng):
        # The letters of many names are the same, and so are their thumbnails.
        sources = [f"initials:A{rng.random()}%20B" if rng.random() < 0.3 else f"file://{path}" for path in paths]
        requests = [json.dumps({"source": one, "renditions": [{"width": 80}], "maxAttempts": 25}) for one in sources]
        rows = ", ".join(f"('{request}')" for request in requests)
        statements = ["SET search_path TO cameo;", f"INSERT INTO job(request) VALUES {rows} RETURNING id;"]
        self.produce(self.database.primary.psql(), statements, int)

    # What attacks need

    def a_busy_host(self):
        for _ in range(200):
            host = self.rng.choice(self.hosts)
            if host.worker.is_alive and host.running() > 0:
                return host
            time.sleep(0.05)
        return self.rng.choice(self.hosts)

    def measure(self, what, is_over, patience):
        """Waits until something is over, and notes how long it took."""
        def is_seen():
            with contextlib.suppress(RuntimeError):  # the server is away
                return is_over()

        try:
            self.recoveries[what].append(lab.timed(lab.wait_until, is_seen, what, patience, 0.05)[1])
        except lab.Unmeasured as error:
            self.problems.append(str(error))

    def jobs_end_again(self, what):
        """Of the last outcomes, one has to be newer than now."""
        now = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
        begun = lab.wait_until(lambda: self.number_of(now), "an answer of the server", 30, 0.05)
        newest = "SELECT coalesce(max(finalized_at), 0) FROM outcome"
        self.measure(f"jobs end after {what}", lambda: int(self.database.ask(newest)) > begun, 60)

    # The end

    def unfinished(self):
        return int(self.database.ask("SELECT (SELECT count(*) FROM task) + (SELECT count(*) FROM arrival)"))

    def ended_jobs(self):
        return int(self.database.ask("SELECT count(*) FROM outcome"))

    def finish(self):
        """Drains the queue without attacks, and checks all of it."""
        for link in [self.bucket, self.producers, *(host.link for host in self.hosts)]:
            link.become("open")
        self.wait_for_the_rest()
        for host in self.hosts:
            if host.worker.end() != 0:
                self.problems.append(f"worker {host.number} ended with code {host.worker.process.returncode}")
        rows = [line.split("|") for line in self.database.ask(STATES).splitlines()]
        self.judge([(int(job), state, bare == "t", code) for job, state, code, bare in rows], self.database.ask(
            "SELECT job_id FROM attempt WHERE outcome = 'completed' GROUP BY job_id HAVING count(*) > 1").split())
        digests = self.database.ask("SELECT digest FROM blob WHERE data IS NULL ORDER BY random() LIMIT 200").split()
        self.results["unreadable in the bucket"] = [digest for digest in digests if subprocess.run(
            lab.words(self.bin / "cameo-status", "cat", f"cameo://blob/sha256-{digest}"), capture_output=True,
            env=self.environment).returncode]

    # The report

    def failures(self):
        return super().failures({"worker.lost"})

    def show(self):
        where = "in network namespaces" if self.has_namespaces else "on one network: namespaces need root"
        lab.show_rows([
            *self.common_rows(), ("hosts", f"{len(self.hosts)}, {where}"), ("attacks", sum(self.counts.values())),
            *((f"  {name}", count) for name, count in sorted(self.counts.items())),
            ("refused with a reason", f"{sum(self.refusals.values())} enqueues"),
            ("lost with a failover's tail", f"{self.tail}, acknowledged less than {fleet_attacks.TAIL + 1:g} s before"),
            *self.result_rows(),
            *((f"recovery: {what}", f"{max(times):.1f} s at most, median {statistics.median(times):.1f} s, {len(times)} times")
              for what, times in sorted(self.recoveries.items())),
        ], 56, self.failures())
