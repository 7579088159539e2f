"""What happens to a fleet. Each attack gets the run, and waits until the fleet works again."""
import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import lab
from soaking import network
from soaking.soak import jump

LEASE = 15  # seconds
TAIL = 0.5  # seconds of commits that a failover loses


def kill_worker(run):
    host = run.a_busy_host()
    host.worker.kill()
    run.measure("a killed worker's jobs are others'", lambda: host.running() == 0, LEASE + 10)


def kill_all_workers(run):
    for host in run.hosts:
        host.worker.kill()


def freeze_worker(run):
    host = run.a_busy_host()
    host.worker.send(signal.SIGSTOP)
    try:
        run.measure("a frozen worker's jobs are others'", lambda: host.running() == 0, LEASE + 10)
    finally:
        host.worker.send(signal.SIGCONT)


def kill_renderers(run):
    for pid in lab.children(run.a_busy_host().worker.pid):
        os.kill(pid, signal.SIGKILL)


def kill_connections(run):
    run.database.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cameo'")


def cancel_statements(run):
    """For some seconds, of whatever sessions of Cameo are at work."""
    for _ in range(60):
        run.database.ask("SELECT pg_cancel_backend(pid) FROM pg_stat_activity "
                         "WHERE application_name = 'cameo' AND state = 'active' ORDER BY random() LIMIT 3")
        time.sleep(0.05)


def lose_standby(run):
    """Commits wait for a synchronous standby that does not exist."""
    try:
        run.database.ask("ALTER SYSTEM SET synchronous_standby_names = 'absent'")
        run.database.ask("SELECT pg_reload_conf()")
        time.sleep(run.rng.uniform(4, LEASE - 3))
    finally:
        run.database.ask("ALTER SYSTEM RESET synchronous_standby_names")
        run.database.ask("SELECT pg_reload_conf()")


def kill_backend(run):
    """The server crashes and recovers when one of its processes is killed by the kernel, as for want of memory."""
    pid = run.database.number("SELECT pid FROM pg_stat_activity WHERE application_name = 'cameo' LIMIT 1")
    os.kill(pid, signal.SIGKILL)


def fail_over(run):
    run.database.fail_over(TAIL)
    known = set(map(int, run.database.ask("SELECT id FROM job").split()))
    with run.lock:
        lost = [job for job, at in run.acknowledged.items() if job not in known and time.monotonic() - at < 30]
        for job in lost:
            del run.acknowledged[job]
        # Their seals may have been lost with them.
        run.sealed = {batch: seal for batch, seal in run.sealed.items() if time.monotonic() - seal[1] >= 30}
        run.tail += len(lost)
    run.jobs_end_again("a failover")
    run.database.follow()


def disturb(run, link, state, least, most):
    link.become(state)
    time.sleep(run.rng.uniform(least, most))
    link.become("open")


def disturb_host(run, state, least=1, most=LEASE + 5):
    disturb(run, run.rng.choice(run.hosts).link, state, least, most)


def pull_cable(run):
    cable = run.rng.choice(run.hosts).cable
    network.ip(f"link set {cable} down")
    time.sleep(run.rng.uniform(1, LEASE + 5))
    network.ip(f"link set {cable} up")


def exhaust_connections(run):
    """Others take every connection that is free, for four seconds."""
    words = [*run.database.primary.psql(), "-c", "SELECT pg_sleep(4)"]
    others = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(70)]
    for other in others:
        other.wait()


def squat_advisory_locks(run):
    """A stranger holds advisory locks of Cameo's classes for five seconds: what is in use now, and others at random."""
    family = int.from_bytes(b"Came", "big")
    run.database.leave_idle(
        f"""SELECT count(pg_try_advisory_xact_lock(class, key)) FROM (
              SELECT {family} + one % 3 AS class, (random() * 4e9 - 2e9)::integer AS key
                FROM generate_series(1, 2000) AS one
              UNION SELECT classid::bigint::integer, (objid::bigint << 32 >> 32)::integer FROM pg_locks
                WHERE locktype = 'advisory' AND classid::bigint < 2147483648 AND objid::bigint < 2147483648
            ) AS wanted""", 5)


def change_settings(run):
    """Of the role, for connections that begin from now on."""
    settings = {"standard_conforming_strings": "off", "array_nulls": "off", "bytea_output": "escape",
                "synchronous_commit": "off", "statement_timeout": "'5s'"}
    run.database.ask("; ".join(f"ALTER ROLE cameo SET {name} = {value}" for name, value in settings.items()))
    kill_connections(run)
    run.jobs_end_again("all connections were killed")
    run.database.ask("ALTER ROLE cameo RESET ALL")


def deny_deletes(run):
    """Retention meets an object that it may not remove, puts it off, and removes it once it may."""
    digest = hashlib.sha256(os.urandom(9)).hexdigest()
    run.database.ask(f"INSERT INTO blob(digest, size, created_at) VALUES ('{digest}', 200000, 0);"
                     f"INSERT INTO orphan VALUES ('{digest}', 0)")
    mark = run.objects.folder / "no-deletes"
    mark.touch()
    prune = lab.words(run.bin / "cameo-admin", "prune")
    quiet = {"env": run.environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    put_off = f"SELECT count(*) FROM orphan WHERE digest = '{digest}' AND since > 0"

    def has_pruned(question, count):
        # A worker may have the turn.
        subprocess.run(prune, **quiet)
        return run.database.number(question) == count

    try:
        run.measure("an object is put off that may not be deleted", lambda: has_pruned(put_off, 1), 90)
        run.jobs_end_again("deletes were denied")
    finally:
        mark.unlink()
    run.database.ask(f"UPDATE orphan SET since = 0 WHERE digest = '{digest}'")
    left = f"SELECT count(*) FROM blob WHERE digest = '{digest}'"
    run.measure("the object is deleted once that is allowed", lambda: has_pruned(left, 0), 90)


def jump_clock(run):
    """Of the server or of a worker's host, by days, for some seconds."""
    clock = run.rng.choice([run.database.clock, run.rng.choice(run.hosts).clock])
    before = clock.read_text() if clock.exists() else "0"
    clock.write_text(jump(run.rng))
    time.sleep(run.rng.uniform(2, 6))
    clock.write_text(before)
    run.jobs_end_again("a clock jumped")
    run.retain()


def code_answers(run):
    """Whoever reads from the bucket gets a coding that nobody asked for, and a repair reads all of it."""
    program = lab.ROOT / "Tests/TestSupport/faulty_proxy.py"
    rule = {"do": "code", "codings": ["gzip"], "method": "GET", "count": 10**9}
    target = run.bucket.target

    def lead_to(target):
        run.bucket.target = target
        for state in ("cut", "open"):  # connections that stand would lead elsewhere
            run.bucket.become(state)

    with subprocess.Popen([sys.executable, program, str(run.objects.port)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as proxy:
        port = json.loads(proxy.stdout.readline())["port"]
        proxy.stdin.write(json.dumps(rule) + "\n")
        proxy.stdin.flush()
        proxy.stdout.readline()
        try:
            lead_to(lambda: port)
            repair = lab.words(run.bin / "cameo-admin", "check", "--repair")
            said = subprocess.run(repair, env=run.environment, capture_output=True, text=True)
        finally:
            lead_to(target)
            proxy.stdin.close()
    if "blobs: all" not in said.stdout:
        run.problems.append(f"a repair read coded answers and said: {said.stdout}{said.stderr}")


def delete_unfinished_jobs(run):
    """As people clear what seems stuck. All of it has to be refused."""
    some = "SELECT id FROM task UNION SELECT id FROM arrival"
    for statement in [
        f"DELETE FROM job WHERE id = (SELECT id FROM ({some}) AS one ORDER BY random() LIMIT 1)",
        f"DELETE FROM job WHERE id IN ({some})", "TRUNCATE job CASCADE", "DELETE FROM queue",
    ]:
        try:
            left = run.database.number(
                f"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM ({some}) AS unfinished; {statement}; "
                "ROLLBACK")
        except RuntimeError as error:
            if any(words in str(error) for words in ("not ended", "unfinished", "foreign key")):
                continue
            raise
        if left > 0:
            run.problems.append(f"the store let a program {statement}")


# By name: what is done, and after what jobs have to end again, if that is measured.
ATTACKS = {
    "deletes denied": (deny_deletes, None),
    "clock jumps by days": (jump_clock, None),
    "answers coded": (code_answers, "answers were coded"),
    "unfinished jobs deleted": (delete_unfinished_jobs, None),
    "advisory locks squatted": (squat_advisory_locks, "advisory locks were squatted"),
    "settings changed": (change_settings, None),
    "worker killed": (kill_worker, None),
    "all workers killed": (kill_all_workers, None),
    "worker frozen beyond its lease": (freeze_worker, None),
    "renderers killed": (kill_renderers, "renderers were killed"),
    "connections killed": (kill_connections, "all connections were killed"),
    "statements cancelled": (cancel_statements, "statements were cancelled"),
    "synchronous standby away": (lose_standby, "a synchronous standby was away"),
    "backend killed": (kill_backend, "a server's process was killed"),
    "server restarted": (lambda run: run.database.restart(signal.SIGINT), "the server's restart"),
    "server crashed": (lambda run: run.database.restart(signal.SIGQUIT), "the server's crash"),
    "failover that loses the tail": (fail_over, None),
    "link to the server cut": (lambda run: disturb_host(run, "cut"), "a link was cut"),
    "link to the server stalled": (lambda run: disturb_host(run, "stalled"), "a link was stalled"),
    "link to the server slow": (lambda run: disturb_host(run, "slow", 5, 5), None),
    "cable pulled": (pull_cable, "a cable was pulled"),
    "bucket unreachable": (lambda run: disturb(run, run.bucket, "cut", 1, 10), "the bucket was away"),
    "bucket slow": (lambda run: disturb(run, run.bucket, "slow", 5, 5), None),
    "bucket server killed": (lambda run: run.objects.crash(), "the S3 server was killed"),
    "connections exhausted": (exhaust_connections, "connections ran out"),
    # Locks the queue's table and stays idle until the server ends it.
    "transaction left idle": (lambda run: run.database.leave_idle("LOCK TABLE task IN EXCLUSIVE MODE", 3),
                              "a transaction was left idle"),
}
