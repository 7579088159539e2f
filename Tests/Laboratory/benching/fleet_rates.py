"""Jobs claimed and completed a second by many processes, beside a bare loop in C on the same server."""
import pathlib
import statistics
import subprocess

from benching import database
from benching.fleet_bench import Bench
from benching.measuring import progress

PROCESSES = (1, 2, 3, 4, 8, 16)
BATCHES = (1, 8, 32)
LOOPS = {"mark": "bare loop, marking", "move": "bare loop, moving"}
# So many that the fastest leaves some in a second.
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
    CREATE TABLE outcome(id bigint PRIMARY KEY, state smallint NOT NULL, attempted_at timestamptz, finalized_at timestamptz);
    CREATE TABLE attempt(job_id bigint, number int, started_at timestamptz, finished_at timestamptz,
      PRIMARY KEY (job_id, number))
"""
# How many jobs wait, what adds a number of them, and what is vacuumed then; those of Cameo are added by `fill_waiting`.
WAITING = {
    "cameo": "SELECT count(*) FROM rates.task WHERE state = 1",
    "mark": "SELECT count(*) FROM bare.job WHERE state = 'available'",
    "move": "SELECT count(*) FROM bare.task WHERE state = 1",
}
FILLING = {
    "mark": f"INSERT INTO bare.job(rank, request) SELECT n, ({database.REQUEST})::json FROM generate_series(1, COUNT) AS n",
    "move": f"""
        WITH added AS (
          INSERT INTO bare.request(request) SELECT ({database.REQUEST})::json FROM generate_series(1, COUNT) AS n RETURNING id)
        INSERT INTO bare.task(id, rank) SELECT id, id FROM added
    """,
}
HOT = {"cameo": "rates.task", "mark": "bare.job", "move": "bare.task"}


class Rates(Bench):
    def rates(self):
        self.store("rates")
        self.server.ask(BARE)
        self.bare = self.server.folder / "bare"
        flags = subprocess.run(["pg_config", "--includedir"], capture_output=True, text=True, check=True).stdout.strip()
        source = pathlib.Path(__file__).parent / "bare.c"
        subprocess.run(["cc", "-O2", "-Wall", f"-I{flags}", "-o", self.bare, source, "-lpq"], check=True)
        found = {}
        for number in range(self.rounds):
            for processes in (1, 3) if self.quick else PROCESSES:
                for batch in BATCHES:
                    for maker in ("cameo", *LOOPS):
                        rate = self.rate(maker, processes, batch, 1)
                        found.setdefault((processes, batch), {}).setdefault(maker, []).append(rate)
                for maker in ("cameo", *LOOPS):
                    found.setdefault((processes, "pool"), {}).setdefault(maker, []).append(self.rate(maker, processes, 32, 4))
            progress(f"    round {number + 1} of {self.rounds}")
        return [self.cell(processes, batch, rounds) for (processes, batch), rounds in found.items()]

    def cell(self, processes, batch, rounds):
        cell = {"processes": processes, "batch": batch}
        for maker, rates in rounds.items():
            cell[maker] = {"jobsPerSecond": round(statistics.median(rates)), "rounds": [round(rate) for rate in rates]}
            if maker != "cameo":
                cell[maker]["ratio"] = round(statistics.median(a / b for a, b in zip(rounds["cameo"], rates)), 2)
        loops = "".join(f", {cell[maker]['ratio']} of the {label}" for maker, label in LOOPS.items() if maker in cell)
        what = "4 loops of 32" if batch == "pool" else f"{batch} at a time"
        self.show(f"{processes} processes, {what}", f"{cell['cameo']['jobsPerSecond']:,}/s{loops}")
        return cell

    def rate(self, maker, processes, batch, loops):
        missing = ENOUGH[batch] * self.seconds - int(self.server.ask(WAITING[maker]))
        if missing > 0 and maker == "cameo":
            database.fill_waiting(self.server, "rates", missing)
        elif missing > 0:
            self.server.ask(FILLING[maker].replace("COUNT", str(missing)))
        # What was done before must not slow what is measured now.
        self.server.ask(f"VACUUM ANALYZE {HOT[maker]}")
        if maker == "cameo":
            command = self.command("rates", "loop", batch, loops, self.seconds)
        else:
            # It has one loop a process.
            processes *= loops
            command = [str(word) for word in (self.bare, self.server.connection, maker, batch, self.seconds)]
        return self.together(command, processes)
