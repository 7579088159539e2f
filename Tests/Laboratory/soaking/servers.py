"""The servers of a fleet on this machine: PostgreSQL with a standby, and one that speaks S3."""
import json
import os
import shutil
import signal
import subprocess
import time

import lab

SETTINGS = {
    "listen_addresses": "127.0.0.1", "max_connections": "80", "wal_level": "replica", "max_wal_senders": "4",
    "hot_standby": "on", "shared_buffers": "64MB", "log_min_messages": "fatal", "wal_keep_size": "256MB",
}


class Database:
    """A primary and a standby that follows it. They change places at a failover."""

    def __init__(self, folder, faults):
        folder.mkdir()
        folder.chmod(0o755)  # for the user of the servers
        variables = {"LD_PRELOAD": str(faults), "CAMEO_FAULTS": str(folder)}
        self.clock = folder / "clock"
        self.primary, self.standby = (lab.PostgreSQL(folder / name, SETTINGS, lab.free_port(), variables)
                                      for name in ("one", "two"))
        self.primary.initialize()
        self.primary.start()
        self.follow()

    def restart(self, number):
        self.primary.stop(number)
        self.primary.start()

    def follow(self):
        """Makes the server that is not the primary its standby."""
        shutil.rmtree(self.standby.data, ignore_errors=True)
        self.standby.run("pg_basebackup", "-D", self.standby.data, "-R", "-X", "stream", "-c", "fast",
                         *self.primary.place, "-U", "cameo")
        self.standby.start()

    def fail_over(self, tail):
        """The primary crashes, `tail` seconds after its last commits reached the standby, which takes its place."""
        receivers = list(map(int, self.standby.ask("SELECT pid FROM pg_stat_wal_receiver").split()))
        for pid in receivers:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(tail)
        self.primary.stop()
        for pid in receivers:
            os.kill(pid, signal.SIGKILL)  # with what it has received and not written
        # The server starts anew after the death of one of its processes, and is a standby still.
        self.standby.await_answer()
        self.standby.run("pg_ctl", "promote", "-D", self.standby.data, "-t", "60")
        self.primary, self.standby = self.standby, self.primary

    def ask(self, sql):
        return self.primary.ask(sql, "cameo")

    def number(self, question):
        return int(self.ask(question))

    def leave_idle(self, sql, seconds):
        """Runs a statement in a transaction that goes on without doing anything, until the server ends it."""
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(self.primary.psql(), stdin=subprocess.PIPE, text=True, **quiet) as session:
            session.stdin.write(f"SET search_path TO cameo;\nSET idle_in_transaction_session_timeout = '{seconds}s';\n"
                                f"BEGIN;\n{sql};\n")
            session.stdin.flush()
            time.sleep(seconds + 0.5)
            session.stdin.close()

    def close(self):
        self.primary.stop()
        self.standby.stop()


class Objects:
    """OpenStack Swift with its S3 API, on what is stored in a folder."""

    environment = {"AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": "testing"}

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.start()

    def start(self):
        program = lab.ROOT / "Tests/TestSupport/swift_server.py"
        self.server = subprocess.Popen(
            [lab.ROOT / ".build/object-servers/bin/python", "-W", "ignore", program, self.folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        self.port = json.loads(self.server.stdout.readline())["port"]

    def crash(self):
        self.close()
        self.start()

    def close(self):
        self.server.kill()
        self.server.wait()
