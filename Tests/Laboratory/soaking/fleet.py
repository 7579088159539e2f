"""A fleet under attack: three workers, each in a network of its own with links to PostgreSQL and to an S3 server."""
import contextlib
import json
import os
import subprocess
import threading
import time

import lab
from soaking import network
from soaking.fleet_attacks import ATTACKS, TAIL
from soaking.servers import Database, Objects
from soaking.soak import TWICE, WAITING, Soak, Worker, deck

SKEWS = (3_600, -3_600, 0)  # seconds by which the clocks of the hosts are wrong
STATES = """SELECT id, state, state = 'completed' AND EXISTS (SELECT FROM json_array_elements(thumbnails) AS one
    WHERE one->>'blob' IS NULL), failure_code FROM job_status"""


class Host:
    """A worker with its network, its link to the server and its clock."""

    def __init__(self, run, number):
        self.run, self.number, self.worker = run, number, None
        address, self.prefix, self.cable = "127.0.0.1", (), None
        if run.has_namespaces:
            address, self.prefix, self.cable = run.open.enter_context(network.namespace(number))
        self.link = network.Link(run.loop, lambda: run.database.primary.port, address)
        faults = run.folder / f"faults-{number}"
        faults.mkdir()
        self.clock = faults / "clock"
        self.clock.write_text(str(SKEWS[number]))
        self.variables = {
            "CAMEO_STORE": f"postgres://cameo@{address}:{self.link.port}/postgres",
            "LD_PRELOAD": str(run.folder / "faults.so"), "CAMEO_FAULTS": str(faults),
        }

    def start(self):
        self.worker = Worker(self.run, "--concurrency", "4", prefix=self.prefix, **self.variables)

    def running(self):
        """How many jobs the database says that its worker runs."""
        return self.run.database.number(
            f"SELECT count(*) FROM task WHERE state = 2 AND worker LIKE '{self.worker.name}'")


class FleetSoak(Soak):
    sql_share = 0.3
    sizes = [
        ["--size", "96x96:cover:webp", "--size", "200x:jpeg"],
        ["--size", "420x420:cover:png"],  # beyond 100 KiB: in the bucket
        ["--size", "64x64", "--size", "240x240:contain:png"],
    ]
    explained = {"worker.lost"}

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.tail = 0
        lab.faults(self.folder / "faults.so")
        self.folder.chmod(0o755)  # for the user of the server
        self.hosts, self.has_namespaces = [], network.are_possible()
        with contextlib.ExitStack() as self.open:  # closed in the reverse order
            self.loop = self.open.enter_context(network.loop())
            self.database = self.open.enter_context(contextlib.closing(
                Database(self.folder / "database", self.folder / "faults.so")))
            self.objects = self.open.enter_context(contextlib.closing(Objects(self.folder / "objects")))
            shared = self.open.enter_context(network.shared_address()) if self.has_namespaces else "127.0.0.1"
            self.links = [network.Link(self.loop, lambda: self.database.primary.port),
                          network.Link(self.loop, lambda: self.objects.port, shared)]
            of_producers, self.bucket = self.links
            self.environment = dict(
                os.environ, **Objects.environment,
                CAMEO_STORE=f"postgres://cameo@127.0.0.1:{of_producers.port}/postgres",
                CAMEO_BLOBS=f"s3://cameo/soak?endpoint=http://{shared}:{self.bucket.port}&region=us-east-1",
            )
            self.hosts = [Host(self, number) for number in range(len(SKEWS))]
            self.links += [host.link for host in self.hosts]
            self.open = self.open.pop_all()

    def close(self):
        self.ending.set()
        for host in self.hosts:
            if host.worker:
                host.worker.kill()
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
        possible = [name for name in ATTACKS if self.has_namespaces or name != "cable pulled"]
        names, line = deck(self.rng, possible), lab.Line()
        while (elapsed := time.monotonic() - self.started) < self.options.minutes * 60:
            line(f"{elapsed / 60:5.1f} of {self.options.minutes:g} minutes: {len(self.acknowledged):,} jobs enqueued, "
                 f"{sum(self.counts.values())} attacks, {len(self.problems)} problems")
            self.attack(next(names))
            for host in self.hosts:
                if not host.worker.is_alive:
                    host.start()
            time.sleep(self.rng.uniform(0.5, 2))
        line.close()
        self.ending.set()
        producer.join()

    def attack(self, name):
        act, what = ATTACKS[name]
        try:
            act(self)
            if what:
                self.jobs_end_again(what)
            self.counts[name] += 1
        except Exception as error:
            self.harness_failed(name, error)

    def number_of(self, question):
        """The answer of the server, None while it is away."""
        with contextlib.suppress(RuntimeError):
            return self.database.number(question)

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
        self.measure(f"jobs end after {what}", lambda: self.database.number(newest) > begun, 60)

    # The end

    def unfinished(self):
        return self.database.number("SELECT (SELECT count(*) FROM task) + (SELECT count(*) FROM arrival)")

    def ended_jobs(self):
        return self.database.number("SELECT count(*) FROM outcome")

    def rows(self, statement):
        return self.database.primary.rows(statement, "cameo")

    def ids(self, table):
        return set(map(int, self.database.ask(f"SELECT id FROM {table}").split()))

    def finish(self):
        """Drains the queue without attacks, and checks all of it."""
        for link in self.links:
            link.become("open")
        self.wait_for_the_rest()
        for host in self.hosts:
            if host.worker.end() != 0:
                self.problems.append(f"worker {host.number} ended with code {host.worker.process.returncode}")
        rows = self.database.primary.rows(STATES, "cameo")
        self.judge([(int(job), state, is_bare == "t", code) for job, state, is_bare, code in rows],
                   self.database.ask(TWICE).split())
        digests = self.database.ask("SELECT digest FROM blob WHERE data IS NULL ORDER BY random() LIMIT 200").split()
        self.results["removed by a repair"] = self.database.ask("SELECT blob FROM set_aside").split()
        self.results["unreadable in the bucket"] = [digest for digest in digests if subprocess.run(
            lab.words(self.bin / "cameo-status", "cat", f"cameo://blob/sha256-{digest}"), capture_output=True,
            env=self.environment).returncode]

    def own_rows(self):
        where = "in network namespaces" if self.has_namespaces else "on one network: namespaces need root"
        return [("hosts", f"{len(self.hosts)}, {where}"),
                ("lost with a failover's tail", f"{self.tail}, acknowledged less than {TAIL + 1:g} s before")]
