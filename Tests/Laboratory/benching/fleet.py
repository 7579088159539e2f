"""The queue of a fleet alone, on a temporary PostgreSQL server that really syncs:

- jobs claimed and completed a second by 1 to 16 processes, one, 8 and 32 at a time, beside a bare loop in C;
- a claim beside ten thousand to ten million jobs that have ended;
- the table of waiting jobs under minutes of churn: its size, its dead rows, the time of a claim;
- jobs enqueued a second, and how soon an INSERT is claimed;
- what a job and a thumbnail cost: log, transactions, processor time, bytes in tables and indexes."""
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

from benching import database, environment, fleet_page, machine
from benching.fleet_rates import Rates
from benching.measuring import Notes, Unmeasured, percentile, processor_time, progress, slope

ROOT = pathlib.Path(__file__).resolve().parents[3]
KEPT = ("job", "accepted", "outcome", "change")


class Fleet(Rates):
    # Beside history.

    def history(self):
        schema, points, before = self.store("history"), [], 0
        for rows in (10**power for power in range(4, 7 if self.quick else 8)):
            started = time.monotonic()
            database.fill_ended(self.server, schema, rows - before)
            waiting = int(self.server.ask("SELECT count(*) FROM task WHERE state = 1", schema))
            database.fill_waiting(self.server, schema, 100_000 - waiting)
            self.server.ask("VACUUM ANALYZE task; CHECKPOINT", schema)
            filled, before = time.monotonic() - started, rows
            median, slowest, claimed = self.run(schema, "claim", 100)
            loop = self.command(schema, "loop", 32, 1, self.seconds)
            rates = [self.together(loop, 1) for _ in range(self.rounds)]
            point = {"rows": rows, "claimOf": round(claimed), "claimMilliseconds": round(median, 2),
                     "slowestMilliseconds": round(slowest, 2),
                     "jobMicroseconds": round(1e6 / statistics.median(rates), 1), "fillSeconds": round(filled)}
            points.append(point)
            self.show(f"beside {rows:,} ended", f"claim of {point['claimOf']} in {median:.2f} ms (slowest {slowest:.2f}), "
                      f"claim and completion of a job in {point['jobMicroseconds']} us")
        return points

    # Churn.

    def churn(self):
        schema, pause = self.store("churn"), max(1, self.minutes * 60 / 240)
        started, samples, ended, claims = time.monotonic(), [], 0, []
        command = self.command(schema, "churn", round(self.minutes * 60))
        with tempfile.TemporaryFile("w+") as errors, \
                subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
            try:
                for line in process.stdout:
                    jobs, middle, slowest = map(float, line.split())
                    ended += jobs
                    at = time.monotonic() - started
                    claims.append((at, middle, slowest))
                    if not samples or at - samples[-1]["seconds"] >= pause:
                        samples.append({"seconds": round(at, 1), "ended": round(ended), "claim": round(middle, 2),
                                        **self.look(schema)})
            except BaseException:
                process.kill()
                raise
            if process.wait() or not claims:
                errors.seek(0)
                raise Unmeasured(f"cameo-queue-bench churn: {errors.read().strip()[-300:]}")
        return self.summary(samples, claims, ended)

    def look(self, schema):
        tables = ("task", "new_change", "queue_delta")
        sizes = self.server.rows(
            "SELECT relname, pg_total_relation_size(relid), n_dead_tup FROM pg_stat_user_tables"
            f" WHERE schemaname = '{schema}' AND relname IN {tables}", schema)
        return {name: {"bytes": int(size), "dead": int(dead)} for name, size, dead in sizes}

    def summary(self, samples, claims, ended):
        # The first fifth is how the tables grow to their sizes.
        late = [sample for sample in samples if sample["seconds"] >= claims[-1][0] / 5]
        first, last = ([middle for at, middle, _ in claims if low <= at / claims[-1][0] <= high] for low, high in ((0, 0.2), (0.8, 1)))
        result = {
            "minutes": round(claims[-1][0] / 60, 1), "jobs": round(ended), "jobsPerSecond": round(ended / claims[-1][0]),
            "tables": {
                name: {
                    "largestMiB": round(max(sample[name]["bytes"] for sample in samples) / 2**20, 1),
                    "slopeMiB": round(slope([(sample["seconds"] / 60, sample[name]["bytes"] / 2**20) for sample in late]), 3),
                    "mostDead": max(sample[name]["dead"] for sample in samples),
                } for name in ("task", "new_change", "queue_delta")
            },
            "claim": {"first": round(statistics.median(first), 2), "last": round(statistics.median(last), 2),
                      "slowest": round(max(slowest for _, _, slowest in claims), 1)},
            "samples": samples,
        }
        task = result["tables"]["task"]
        self.show(f"{result['minutes']} minutes of churn, {result['jobs']:,} jobs",
                  f"task at most {task['largestMiB']} MiB, {task['slopeMiB']:+} MiB a minute, claims p50 {result['claim']['first']} ms "
                  f"at first, {result['claim']['last']} ms at last")
        return result

    # Enqueueing.

    def enqueueing(self):
        schema, result = self.store("enqueueing"), {"single": {}}
        count = 5_000 if self.quick else 20_000
        bulk = [jobs / took * 1000 for jobs, took in (self.run(schema, "enqueue", count) for _ in range(self.rounds))]
        result["bulk"] = round(statistics.median(bulk))
        self.show("enqueued, 1,000 a call", f"{result['bulk']:,}/s")
        for clients in (1, 4, 16):
            result["single"][clients] = self.server.insert_rate(schema, clients, self.seconds * 2)
            self.show(f"single INSERTs by {clients}", f"{result['single'][clients]:,.0f}/s")
        return result

    def latency(self):
        schema, times = self.store("latency"), []
        statement = f"INSERT INTO job(request) VALUES ('{database.request('%d')}') RETURNING id;\n"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        with subprocess.Popen(self.command(schema, "follow"), **pipes) as follower, \
                subprocess.Popen(self.server.psql(), **pipes) as producer:
            try:
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
            finally:
                follower.kill()
                producer.kill()
        result = {"p50": round(statistics.median(times), 2), "p99": round(percentile(times, 0.99), 2),
                  "slowest": round(max(times), 2), "idle": idle}
        self.show("INSERT until claimed", f"p50 {result['p50']} ms, p99 {result['p99']} ms")
        self.show("an idle worker", f"{idle['server']} ms of the server a second, {idle['client']} of its own")
        return result

    def idle(self, worker, seconds):
        """The milliseconds of processor time that a worker without jobs takes a second."""
        pids = {"server": self.server.process.pid, "client": worker.pid}
        before, started = {name: processor_time(pid) for name, pid in pids.items()}, time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - started
        return {name: round((processor_time(pid) - before[name]) / took * 1000, 2) for name, pid in pids.items()}

    # What a job costs.

    def costs(self):
        schema = self.store("costs")
        count = 5_000 if self.quick else 20_000
        result = {"enqueue": self.cost(count, lambda: self.run(schema, "enqueue", count))}
        for name, batch, jobs, more in (("complete", 32, count, ()), ("complete1", 1, count // 10, ()),
                                        ("thumbnail", 32, count // 4, (15_000,))):
            if name != "complete":
                self.run(schema, "enqueue", jobs)
            words = ("loop", batch, 1, 600, *more)  # until nothing is left
            result[name] = self.cost(jobs, lambda: self.run(schema, *words, input="\n"))
        for name, figures in result.items():
            self.show(f"a job, {name}", f"{figures['log']:,} bytes of log, {figures['transactions']} transactions, "
                      f"{figures['server']} us of the server, {figures['client']} us of the client")
        return result

    def cost(self, jobs, act):
        def used():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return (self.server.written(), self.server.transactions(), processor_time(self.server.process.pid) * 1e6,
                    (usage.ru_utime + usage.ru_stime) * 1e6)

        self.server.ask("CHECKPOINT")
        before = used()
        act()
        log, transactions, server, client = ((after - start) / jobs for start, after in zip(before, used()))
        return {"log": round(log), "transactions": round(transactions, 3), "server": round(server), "client": round(client)}

    def sizes(self):
        rows = 100_000 if self.quick else 1_000_000
        progress(f"    {rows:,} rows of each table")
        self.store("sizes")
        database.fill_ended(self.server, "sizes", rows)
        database.fill_thumbnails(self.server, "sizes", rows)
        return database.sizes(self.server, "sizes", (*KEPT, "blob", "thumbnail"))


PARTS = ("rates", "churn", "enqueueing", "latency", "costs", "sizes", "history")


def run(bin, options):
    started, notes = time.monotonic(), Notes()
    output = (options.output or ROOT / ".build" / "bench" / "fleet").resolve()
    place = environment.Environment(ROOT / ".build" / "bench", notes)
    result = {"date": machine.now(), "commit": machine.commit(ROOT), "quick": options.quick, "minutes": 0,
              "machine": machine.describe(ROOT, place)}
    with database.Server() as server:
        result["machine"] |= {"syncMilliseconds": machine.sync(server.folder), "postgresql": server.ask("SHOW server_version"),
                              "fileSystem": machine.output("stat", "-f", "-c", "%T", str(server.folder))}
        bench = Fleet(bin, server, options)
        for part in PARTS:
            if options.only and part not in options.only:
                continue
            progress(f"fleet: {part}")
            with notes.failures_of(part):
                result[part] = getattr(bench, part)()
            result["minutes"] = round((time.monotonic() - started) / 60, 1)
            result["failed"] = notes.failed
            page = fleet_page.write(result, output)
    shutil.rmtree(place.work, ignore_errors=True)
    print(page)
    progress(f"The report is in {output}")
    return 1 if notes.failed else 0
