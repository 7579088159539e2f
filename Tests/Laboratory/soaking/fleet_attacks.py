"""What happens to a fleet. Each attack gets the run, and waits until the fleet works again."""

import os
import signal
import subprocess
import time

LEASE = 15  # seconds
TAIL = 0.5  # seconds of commits that a failover loses


def worker_killed(run):
    host = run.a_busy_host()
    host.worker.process.kill()
    host.worker.process.wait()
    run.measure("a killed worker's jobs are others'", lambda: host.running() == 0, LEASE + 10)


def all_workers_killed(run):
    for host in run.hosts:
        host.worker.process.kill()
        host.worker.process.wait()


def worker_frozen_beyond_its_lease(run):
    host = run.a_busy_host()
    host.worker.send(signal.SIGSTOP)
    try:
        run.measure("a frozen worker's jobs are others'", lambda: host.running() == 0, LEASE + 10)
    finally:
        host.worker.send(signal.SIGCONT)


def renderers_killed(run):
    host = run.a_busy_host()
    for pid in host.worker.children():
        os.kill(pid, signal.SIGKILL)
    run.jobs_end_again("jobs end after renderers were killed")


def connections_killed(run):
    run.database.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cameo'")
    run.jobs_end_again("jobs end after all connections were killed")


def backend_killed(run):
    """The server crashes and recovers when one of its processes is killed by the kernel, as for want of memory."""
    os.kill(int(run.database.ask("SELECT pid FROM pg_stat_activity WHERE application_name = 'cameo' LIMIT 1")), signal.SIGKILL)
    run.jobs_end_again("jobs end after a server's process was killed")


def server_restarted(run):
    run.database.restart(signal.SIGINT)
    run.jobs_end_again("jobs end after the server's restart")


def server_crashed(run):
    run.database.restart(signal.SIGQUIT)
    run.jobs_end_again("jobs end after the server's crash")


def failover_that_loses_the_tail(run):
    run.database.fail_over(TAIL)
    known = set(map(int, run.database.ask("SELECT id FROM job").split()))
    with run.lock:
        missing = [job for job, time_ in run.acknowledged.items() if job not in known]
        for job in missing:
            if time.monotonic() - run.acknowledged[job] < 30:
                run.tail += 1
                del run.acknowledged[job]
    run.jobs_end_again("jobs end after a failover")
    run.database.follow()


def change_a_link(run, state):
    host = run.rng.choice(run.hosts)
    host.link.become(state)
    time.sleep(run.rng.uniform(1, LEASE + 5))
    host.link.become("open")
    run.jobs_end_again(f"jobs end after a link was {state}")


def link_to_the_server_cut(run):
    change_a_link(run, "cut")


def link_to_the_server_stalled(run):
    change_a_link(run, "stalled")


def link_to_the_server_slow(run):
    host = run.rng.choice(run.hosts)
    host.link.become("slow")
    time.sleep(5)
    host.link.become("open")


def cable_pulled(run):
    host = run.rng.choice(run.hosts)
    host.network.pull_cable()
    time.sleep(run.rng.uniform(1, LEASE + 5))
    host.network.plug_in()
    run.jobs_end_again("jobs end after a cable was pulled")


def bucket_unreachable(run):
    run.bucket.become("cut")
    time.sleep(run.rng.uniform(1, 10))
    run.bucket.become("open")
    run.jobs_end_again("jobs end after the bucket was away")


def bucket_slow(run):
    run.bucket.become("slow")
    time.sleep(5)
    run.bucket.become("open")


def bucket_server_killed(run):
    run.objects.crash()
    run.jobs_end_again("jobs end after the S3 server was killed")


def connections_exhausted(run):
    """Others take every connection that is free, for four seconds."""
    words = ["psql", "-X", "-q", "-h", "127.0.0.1", "-p", str(run.database.port), "-U", "cameo", "-d", "postgres", "-c", "SELECT pg_sleep(4)"]
    others = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(70)]
    for other in others:
        other.wait()
    run.jobs_end_again("jobs end after connections ran out")


def transaction_left_idle(run):
    """A foreign transaction locks the queue's table and stays idle until the server ends it, after three seconds."""
    run.database.leave_idle("LOCK TABLE task IN EXCLUSIVE MODE", 3)
    run.jobs_end_again("jobs end after a transaction was left idle")


def unfinished_jobs_deleted(run):
    """As people clear what seems stuck. All of it has to be refused."""
    some = "SELECT id FROM task UNION SELECT id FROM arrival"
    for statement in [
        f"DELETE FROM job WHERE id = (SELECT id FROM ({some}) AS one ORDER BY random() LIMIT 1)",
        f"DELETE FROM job WHERE id IN ({some})",
        "TRUNCATE job CASCADE",
        "DELETE FROM queue",
    ]:
        try:
            answer = run.database.ask(
                f"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM ({some}) AS unfinished; {statement}; ROLLBACK")
        except RuntimeError as error:
            if "not ended" in str(error) or "unfinished" in str(error) or "foreign key" in str(error):
                continue
            raise
        if int(answer) > 0:
            run.problems.append(f"the store let a program {statement}")


ATTACKS = [
    unfinished_jobs_deleted,
    worker_killed, all_workers_killed, worker_frozen_beyond_its_lease, renderers_killed,
    connections_killed, backend_killed, server_restarted, server_crashed, failover_that_loses_the_tail,
    link_to_the_server_cut, link_to_the_server_stalled, link_to_the_server_slow,
    bucket_unreachable, bucket_slow, bucket_server_killed, connections_exhausted, transaction_left_idle,
]
