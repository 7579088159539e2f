"""What happens to a fleet. Each attack gets the run, and waits until the fleet works again."""
import os
import signal
import subprocess
import time

import lab

LEASE = 15  # seconds
TAIL = 0.5  # seconds of commits that a failover loses


def worker_killed(run):
    host = run.a_busy_host()
    host.kill()
    run.measure("a killed worker's jobs are others'", lambda: host.running() == 0, LEASE + 10)


def all_workers_killed(run):
    for host in run.hosts:
        host.kill()


def worker_frozen_beyond_its_lease(run):
    host = run.a_busy_host()
    host.worker.send(signal.SIGSTOP)
    try:
        run.measure("a frozen worker's jobs are others'", lambda: host.running() == 0, LEASE + 10)
    finally:
        host.worker.send(signal.SIGCONT)


def renderers_killed(run):
    for pid in lab.children(run.a_busy_host().worker.pid):
        os.kill(pid, signal.SIGKILL)
    run.jobs_end_again("renderers were killed")


def connections_killed(run):
    run.database.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cameo'")
    run.jobs_end_again("all connections were killed")


def backend_killed(run):
    """The server crashes and recovers when one of its processes is killed by the kernel, as for want of memory."""
    os.kill(int(run.database.ask("SELECT pid FROM pg_stat_activity WHERE application_name = 'cameo' LIMIT 1")), signal.SIGKILL)
    run.jobs_end_again("a server's process was killed")


def server_restarted(run):
    run.database.restart(signal.SIGINT)
    run.jobs_end_again("the server's restart")


def server_crashed(run):
    run.database.restart(signal.SIGQUIT)
    run.jobs_end_again("the server's crash")


def failover_that_loses_the_tail(run):
    run.database.fail_over(TAIL)
    known = set(map(int, run.database.ask("SELECT id FROM job").split()))
    with run.lock:
        lost = [job for job, at in run.acknowledged.items() if job not in known and time.monotonic() - at < 30]
        for job in lost:
            del run.acknowledged[job]
        run.tail += len(lost)
    run.jobs_end_again("a failover")
    run.database.follow()


def disturbed(link, state, seconds):
    link.become(state)
    time.sleep(seconds)
    link.become("open")


def link_to_the_server_cut(run):
    disturbed(run.rng.choice(run.hosts).link, "cut", run.rng.uniform(1, LEASE + 5))
    run.jobs_end_again("a link was cut")


def link_to_the_server_stalled(run):
    disturbed(run.rng.choice(run.hosts).link, "stalled", run.rng.uniform(1, LEASE + 5))
    run.jobs_end_again("a link was stalled")


def link_to_the_server_slow(run):
    disturbed(run.rng.choice(run.hosts).link, "slow", 5)


def cable_pulled(run):
    host = run.rng.choice(run.hosts)
    host.network.pull_cable()
    time.sleep(run.rng.uniform(1, LEASE + 5))
    host.network.plug_in()
    run.jobs_end_again("a cable was pulled")


def bucket_unreachable(run):
    disturbed(run.bucket, "cut", run.rng.uniform(1, 10))
    run.jobs_end_again("the bucket was away")


def bucket_slow(run):
    disturbed(run.bucket, "slow", 5)


def bucket_server_killed(run):
    run.objects.crash()
    run.jobs_end_again("the S3 server was killed")


def connections_exhausted(run):
    """Others take every connection that is free, for four seconds."""
    words = [*run.database.primary.psql(), "-c", "SELECT pg_sleep(4)"]
    others = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(70)]
    for other in others:
        other.wait()
    run.jobs_end_again("connections ran out")


def transaction_left_idle(run):
    """A foreign transaction locks the queue's table and stays idle until the server ends it, after three seconds."""
    run.database.leave_idle("LOCK TABLE task IN EXCLUSIVE MODE", 3)
    run.jobs_end_again("a transaction was left idle")


def advisory_locks_squatted(run):
    """A stranger holds advisory locks of Cameo's classes for five seconds: what is in use now, and others at random."""
    family = int.from_bytes(b"Came", "big")
    run.database.leave_idle(
        f"""SELECT count(pg_try_advisory_xact_lock(class, key)) FROM (
              SELECT {family} + one % 3 AS class, (random() * 4e9 - 2e9)::integer AS key FROM generate_series(1, 2000) AS one
              UNION SELECT classid::bigint::integer, (objid::bigint << 32 >> 32)::integer FROM pg_locks
                WHERE locktype = 'advisory' AND classid::bigint < 2147483648 AND objid::bigint < 2147483648) AS wanted""", 5)
    run.jobs_end_again("advisory locks were squatted")


def settings_changed(run):
    """Of the role, for connections that begin from now on."""
    settings = {"standard_conforming_strings": "off", "array_nulls": "off", "bytea_output": "escape", "synchronous_commit": "off",
                "statement_timeout": "'5s'"}
    run.database.ask("; ".join(f"ALTER ROLE cameo SET {name} = {value}" for name, value in settings.items()))
    connections_killed(run)
    run.database.ask("ALTER ROLE cameo RESET ALL")


def unfinished_jobs_deleted(run):
    """As people clear what seems stuck. All of it has to be refused."""
    some = "SELECT id FROM task UNION SELECT id FROM arrival"
    for statement in [
        f"DELETE FROM job WHERE id = (SELECT id FROM ({some}) AS one ORDER BY random() LIMIT 1)",
        f"DELETE FROM job WHERE id IN ({some})", "TRUNCATE job CASCADE", "DELETE FROM queue",
    ]:
        try:
            answer = run.database.ask(
                f"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM ({some}) AS unfinished; {statement}; ROLLBACK")
        except RuntimeError as error:
            if any(words in str(error) for words in ("not ended", "unfinished", "foreign key")):
                continue
            raise
        if int(answer) > 0:
            run.problems.append(f"the store let a program {statement}")


ATTACKS = [
    unfinished_jobs_deleted, advisory_locks_squatted, settings_changed, worker_killed, all_workers_killed, worker_frozen_beyond_its_lease, renderers_killed,
    connections_killed, backend_killed, server_restarted, server_crashed, failover_that_loses_the_tail,
    link_to_the_server_cut, link_to_the_server_stalled, link_to_the_server_slow,
    bucket_unreachable, bucket_slow, bucket_server_killed, connections_exhausted, transaction_left_idle,
]
