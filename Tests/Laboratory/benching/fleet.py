"""The queue of a fleet alone, on a temporary PostgreSQL server that really syncs:

- jobs claimed and completed a second by 1 to 16 processes, one, 8 and 32 at a time, beside a bare loop in C;
- a claim beside ten thousand to ten million jobs that have ended;
- the table of waiting jobs under minutes of churn: its size, its dead rows, the time of a claim;
- jobs enqueued a second, and how soon an INSERT is claimed;
- what a job and a thumbnail cost: log, transactions, processor time, bytes in tables and indexes."""
import contextlib
import itertools
import pathlib
import statistics
import subprocess
import time

import lab
from benching import database, place, report
from lab import Unmeasured

KEPT = ("job", "accepted", "outcome", "change")
CHURNED = ("task", "new_change", "queue_delta")
# So many that the fastest leaves some in a second, by the size of a batch.
ENOUGH = {1: 10_000, 8: 40_000, 32: 120_000}
BARE = """
    CREATE SCHEMA bare;
    SET search_path TO bare;
    -- As little as possible: a job is marked as completed.
    CREATE TABLE job(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, rank bigint NOT NULL,
      state text NOT NULL DEFAULT 'available', token uuid, attempt int NOT NULL DEFAULT 0, request json NOT NULL,
      finalized_at timestamptz) WITH (fillfactor = 70);
    CREATE INDEX job_ready ON job(rank) WHERE state = 'available';
    -- As Cameo's: a job that has ended is moved to its history.
    CREATE TABLE request(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, request json NOT NULL);
    CREATE TABLE task(id bigint PRIMARY KEY, rank bigint NOT NULL, state smallint NOT NULL DEFAULT 1, token uuid,
      attempted_at timestamptz) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0,
      autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
    CREATE INDEX task_ready ON task(rank) WHERE state = 1;
    CREATE TABLE outcome(id bigint PRIMARY KEY, state smallint NOT NULL, attempted_at timestamptz,
      finalized_at timestamptz);
    CREATE TABLE attempt(job_id bigint, number int, started_at timestamptz, finished_at timestamptz,
      PRIMARY KEY (job_id, number))
"""
# Of each maker the table that is vacuumed, what waits in it, and what adds COUNT jobs, if not `fill_waiting`.
WAITING = {
    "cameo": ("rates.task", "state = 1", None),
    "mark": ("bare.job", "state = 'available'",
             f"""INSERT INTO bare.job(rank, request)
                 SELECT n, ({database.REQUEST})::json FROM generate_series(1, COUNT) AS n"""),
    "move": ("bare.task", "state = 1", f"""
        WITH added AS (
          INSERT INTO bare.request(request)
          SELECT ({database.REQUEST})::json FROM generate_series(1, COUNT) AS n RETURNING id)
        INSERT INTO bare.task(id, rank) SELECT id, id FROM added
    """),
}


class Fleet:
    def __init__(self, bin, server, options):
        self.program, self.server, self.quick = bin / "cameo-queue-bench", server, options.quick
        self.rounds = options.rounds or (1 if options.quick else 3)
        self.seconds = 1 if options.quick else 2
        self.minutes = options.minutes or (0.5 if options.quick else 3)

    def command(self, schema, *words):
        return [self.program, self.server.store(schema), *words]

    def run(self, schema, *words, **more):
        """The numbers that a measurement of cameo-queue-bench prints."""
        return [float(word) for word in lab.output(*self.command(schema, *words), **more).split() if word != "ready"]

    def store(self, schema):
        """A new store, with one job."""
        self.run(schema, "enqueue", 1)
        return schema

    def together(self, command, count):
        """Jobs a second by so many processes that begin at one time."""
        figures = lab.together(command, count)
        if min(took for _, took in figures) < self.seconds * 900:
            raise Unmeasured("the jobs were done before the time was over")
        return sum(jobs for jobs, _ in figures) / max(took for _, took in figures) * 1000

    # Beside a bare loop.

    def rates(self):
        self.store("rates")
        self.server.ask(BARE)
        self.bare, found = pathlib.Path(self.server.folder, "bare"), {}
        include = lab.output("pg_config", "--includedir").strip()
        source = pathlib.Path(__file__).parent / "bare.c"
        lab.output("cc", "-O2", "-Wall", f"-I{include}", "-o", self.bare, source, "-lpq")
        counts = (1, 3) if self.quick else (1, 2, 3, 4, 8, 16)
        kinds = ((1, 1, 1), (8, 8, 1), (32, 32, 1), ("pool", 32, 4))
        for number in range(self.rounds):
            for processes, (what, batch, loops) in itertools.product(counts, kinds):
                for maker in WAITING:
                    rate = self.rate(maker, processes, batch, loops)
                    found.setdefault((processes, what), {}).setdefault(maker, []).append(rate)
            lab.progress(f"    round {number + 1} of {self.rounds}")
        return [self.cell(processes, batch, rounds) for (processes, batch), rounds in found.items()]

    def cell(self, processes, batch, rounds):
        cell = {"processes": processes, "batch": batch}
        for maker, rates in rounds.items():
            cell[maker] = {"jobsPerSecond": round(statistics.median(rates)), "rounds": [round(rate) for rate in rates]}
            if maker != "cameo":
                cell[maker]["ratio"] = round(statistics.median(a / b for a, b in zip(rounds["cameo"], rates)), 2)
        return cell

    def rate(self, maker, processes, batch, loops):
        table, waiting, filling = WAITING[maker]
        missing = ENOUGH[batch] * self.seconds - self.server.number(f"SELECT count(*) FROM {table} WHERE {waiting}")
        if missing > 0 and filling:
            self.server.ask(filling.replace("COUNT", str(missing)))
        elif missing > 0:
            self.server.fill_waiting("rates", missing)
        # What was done before must not slow what is measured now.
        self.server.ask(f"VACUUM ANALYZE {table}")
        if maker == "cameo":
            return self.together(self.command("rates", "loop", batch, loops, self.seconds), processes)
        # It has one loop a process.
        connection = f"host={self.server.folder} user=cameo dbname=postgres"
        return self.together([self.bare, connection, maker, batch, self.seconds], processes * loops)

    # Beside history.

    def history(self):
        schema, points, before = self.store("history"), [], 0
        for rows in (10**power for power in range(4, 7 if self.quick else 8)):
            _, filling = lab.timed(self.fill_history, schema, rows - before)
            before = rows
            median, slowest, claimed = self.run(schema, "claim", 100)
            loop = self.command(schema, "loop", 32, 1, self.seconds)
            rates = [self.together(loop, 1) for _ in range(self.rounds)]
            points.append({"rows": rows, "claimOf": round(claimed), "claimMilliseconds": round(median, 2),
                           "slowestMilliseconds": round(slowest, 2),
                           "jobMicroseconds": round(1e6 / statistics.median(rates), 1), "fillSeconds": round(filling)})
            lab.progress(f"    beside {rows:,} ended")
        return points

    def fill_history(self, schema, count):
        self.server.fill_ended(schema, count)
        waiting = self.server.number("SELECT count(*) FROM task WHERE state = 1", schema)
        self.server.fill_waiting(schema, 100_000 - waiting)
        self.server.ask("VACUUM ANALYZE task; CHECKPOINT", schema)

    # Churn.

    def churn(self):
        schema, pause = self.store("churn"), max(1, self.minutes * 60 / 240)
        started, samples, ended, claims = time.monotonic(), [], 0, []
        command = self.command(schema, "churn", round(self.minutes * 60))
        with lab.running(*command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                jobs, middle, slowest = map(float, line.split())
                ended, at = ended + jobs, time.monotonic() - started
                claims.append((at, middle, slowest))
                if not samples or at - samples[-1]["seconds"] >= pause:
                    samples.append({"seconds": round(at, 1), "ended": round(ended), "claim": round(middle, 2),
                                    **self.look(schema)})
            if process.wait() or not claims:
                raise Unmeasured("cameo-queue-bench churn has failed")
        # The first fifth is how the tables grow to their sizes.
        end = claims[-1][0]
        late = [sample for sample in samples if sample["seconds"] >= end / 5]
        first = [middle for at, middle, _ in claims if at <= end * 0.2]
        last = [middle for at, middle, _ in claims if at >= end * 0.8]
        return {
            "minutes": round(end / 60, 1), "jobs": round(ended), "jobsPerSecond": round(ended / end),
            "tables": {name: {
                "largestMiB": round(max(sample[name]["bytes"] for sample in samples) / 2**20, 1),
                "slopeMiB": round(lab.slope([(sample["seconds"] / 60, sample[name]["bytes"] / 2**20)
                                             for sample in late]), 3),
                "mostDead": max(sample[name]["dead"] for sample in samples),
            } for name in CHURNED},
            "claim": {"first": round(statistics.median(first), 2), "last": round(statistics.median(last), 2),
                      "slowest": round(max(slowest for _, _, slowest in claims), 1)},
            "samples": samples,
        }

    def look(self, schema):
        sizes = self.server.rows("SELECT relname, pg_total_relation_size(relid), n_dead_tup FROM pg_stat_user_tables"
                                 f" WHERE schemaname = '{schema}' AND relname IN {CHURNED}", schema)
        return {name: {"bytes": int(size), "dead": int(dead)} for name, size, dead in sizes}

    # Enqueueing.

    def enqueueing(self):
        schema, count = self.store("enqueueing"), 5_000 if self.quick else 20_000
        bulk = [jobs / took * 1000 for jobs, took in (self.run(schema, "enqueue", count) for _ in range(self.rounds))]
        single = {clients: self.server.insert_rate(schema, clients, self.seconds * 2) for clients in (1, 4, 16)}
        return {"bulk": round(statistics.median(bulk)), "single": single}

    def latency(self):
        schema, times = self.store("latency"), []
        statement = f"INSERT INTO job(request) VALUES ('{database.request('%d')}') RETURNING id;\n"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        with lab.running(*self.command(schema, "follow"), **pipes) as follower, \
                lab.running(*self.server.psql(), **pipes) as producer:
            follower.stdout.readline()  # the job of the empty store
            time.sleep(2)
            idle = self.idle(follower, 5 if self.quick else 20)
            producer.stdin.write(f"SET search_path TO {schema};\n")
            for number in range(100 if self.quick else 500):
                time.sleep(0.02)
                producer.stdin.write(statement % number)
                job, committed = producer.stdout.readline(), time.monotonic()
                claimed = follower.stdout.readline()
                if not job or claimed != job:
                    raise Unmeasured(f"job {job.strip()} was inserted, and {claimed.strip()} claimed")
                times.append((time.monotonic() - committed) * 1000)
            follower.kill()
        return {**lab.quantiles(times), "idle": idle}

    def idle(self, worker, seconds):
        """The milliseconds of processor time that a worker without jobs takes a second."""
        pids = {"server": self.server.process.pid, "client": worker.pid}
        before = {name: lab.processor_time(pid) for name, pid in pids.items()}
        _, took = lab.timed(time.sleep, seconds)
        return {name: round((lab.processor_time(pid) - before[name]) / took * 1000, 2) for name, pid in pids.items()}

    # What a job costs.

    def costs(self):
        schema = self.store("costs")
        count = 5_000 if self.quick else 20_000
        result = {"enqueue": self.cost(count, schema, "enqueue", count)}
        for name, batch, jobs, more in (("complete", 32, count, ()), ("complete1", 1, count // 10, ()),
                                        ("thumbnail", 32, count // 4, (15_000,))):
            if name != "complete":
                self.run(schema, "enqueue", jobs)
            result[name] = self.cost(jobs, schema, "loop", batch, 1, 600, *more)  # until nothing is left
        return result

    def cost(self, jobs, *command):
        def used():
            """Bytes of write-ahead log; transactions that wrote something; microseconds of the server and of the
            clients."""
            return (self.server.number("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"),
                    self.server.number("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"),
                    lab.processor_time(self.server.process.pid) * 1e6, lab.children_time() * 1e6)

        self.server.ask("CHECKPOINT")
        before = used()
        self.run(*command, input="\n")
        log, transactions, server, client = ((after - start) / jobs for start, after in zip(before, used()))
        return {"log": round(log), "transactions": round(transactions, 3), "server": round(server),
                "client": round(client)}

    def sizes(self):
        rows = 100_000 if self.quick else 1_000_000
        lab.progress(f"    {rows:,} rows of each table")
        schema = self.store("sizes")
        self.server.fill_ended(schema, rows)
        self.server.fill_thumbnails(schema, rows)
        return self.server.sizes(schema, (*KEPT, "blob", "thumbnail"))


PARTS = ("rates", "churn", "enqueueing", "latency", "costs", "sizes", "history")


def run(bin, options):
    here = place.Place(options)
    output = (options.output or here.folder / "fleet").resolve()
    with database.Server.temporary() as server, contextlib.closing(report.Report("fleet", here, output)) as page:
        version = f"PostgreSQL {server.ask('SHOW server_version')} as `initdb` leaves it, here, by a Unix socket"
        page.found["machine"] |= {**place.disk(server.folder), "versions": [version]}
        bench = Fleet(bin, server, options)
        for part in PARTS:
            if not options.only or part in options.only:
                page.measure(part, getattr(bench, part))
    return 1 if here.failed else 0
