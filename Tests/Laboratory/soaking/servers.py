"""The servers of a fleet on this machine: PostgreSQL with a standby, and one that speaks S3."""

import glob
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
SETTINGS = {
    "listen_addresses": "127.0.0.1", "max_connections": "80", "wal_level": "replica", "max_wal_senders": "4",
    "hot_standby": "on", "shared_buffers": "64MB", "log_min_messages": "fatal", "wal_keep_size": "256MB",
}


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Database:
    """A primary and a standby that follows it. They change places at a failover."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))[-1]
        self.owner = {}
        if os.geteuid() == 0:  # as which the server refuses to run
            account = pwd.getpwnam("postgres")
            os.chown(folder, account.pw_uid, account.pw_gid)
            self.owner = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self.nodes = [(folder / name, free_port()) for name in ("one", "two")]
        self.servers = {}
        data, _ = self.nodes[0]
        self.command("initdb", "-D", data, "-U", "cameo", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        self.start(0)
        self.primary = 0
        self.follow()

    def command(self, name, *words):
        done = subprocess.run(
            [f"{self.programs}/{name}", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            cwd=self.folder, **self.owner,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {done.stderr.strip()}")

    @property
    def port(self):
        return self.nodes[self.primary][1]

    def start(self, node):
        data, port = self.nodes[node]
        options = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        with open(self.folder / "log", "a") as log:
            self.servers[node] = subprocess.Popen(
                [f"{self.programs}/postgres", "-D", data, "-p", str(port), "-k", self.folder, *options],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, cwd=self.folder,
                start_new_session=True, **self.owner,
            )
        self.await_answer(node)

    def await_answer(self, node):
        port = self.nodes[node][1]
        for _ in range(3000):
            if self.servers[node].poll() is not None:
                raise RuntimeError((self.folder / "log").read_text()[-2000:])
            ready = subprocess.run([f"{self.programs}/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)])
            if ready.returncode == 0:
                return
            time.sleep(0.02)
        raise RuntimeError("the server has not started within a minute")

    def stop(self, node, number):
        self.servers[node].send_signal(number)
        self.servers[node].wait()

    def restart(self, number):
        """SIGINT: fast; SIGQUIT: immediate, as a crash."""
        self.stop(self.primary, number)
        self.start(self.primary)

    def follow(self):
        """Makes the node that is not the primary its standby."""
        standby = 1 - self.primary
        data, _ = self.nodes[standby]
        shutil.rmtree(data, ignore_errors=True)
        self.command("pg_basebackup", "-D", data, "-R", "-X", "stream", "-c", "fast", "-h", "127.0.0.1", "-p", str(self.port), "-U", "cameo")
        self.start(standby)

    def fail_over(self, tail):
        """The primary crashes, `tail` seconds after its last commits reached the standby, which takes its place."""
        standby = 1 - self.primary
        receivers = self.ask("SELECT pid FROM pg_stat_wal_receiver", node=standby).split()
        for pid in receivers:
            os.kill(int(pid), signal.SIGSTOP)
        time.sleep(tail)
        self.stop(self.primary, signal.SIGQUIT)
        for pid in receivers:
            os.kill(int(pid), signal.SIGKILL)  # with what it has received and not written
        # The server starts anew after the death of one of its processes, and is a standby still.
        self.await_answer(standby)
        self.command("pg_ctl", "promote", "-D", self.nodes[standby][0], "-t", "60")
        self.primary = standby

    def ask(self, sql, node=None):
        """What psql prints: rows in lines, columns separated by |."""
        done = subprocess.run(
            self.psql(self.primary if node is None else node), input=f"SET search_path TO cameo;\n{sql};\n",
            capture_output=True, text=True,
        )
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.strip()

    def psql(self, node):
        return ["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.nodes[node][1]),
                "-U", "cameo", "-d", "postgres"]

    def leave_idle(self, sql, seconds):
        """Runs a statement in a transaction that goes on without doing anything, until the server ends it."""
        with subprocess.Popen(
            self.psql(self.primary), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
        ) as session:
            session.stdin.write(
                f"SET search_path TO cameo;\nSET idle_in_transaction_session_timeout = '{seconds}s';\nBEGIN;\n{sql};\n")
            session.stdin.flush()
            time.sleep(seconds + 0.5)
            session.stdin.close()

    def close(self):
        for node, server in self.servers.items():
            if server.poll() is None:
                self.stop(node, signal.SIGQUIT)


class Objects:
    """OpenStack Swift with its S3 API."""

    environment = {"AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": "testing"}

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.start()

    def start(self):
        script = REPOSITORY / "Tests/TestSupport/swift_server.py"
        self.server = subprocess.Popen(
            [REPOSITORY / ".build/object-servers/bin/python", "-W", "ignore", script, self.folder],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        )
        self.port = json.loads(self.server.stdout.readline())["port"]

    def crash(self):
        """Kills it, and starts it on what it has stored."""
        self.close()
        self.start()

    def close(self):
        self.server.kill()
        self.server.wait()
