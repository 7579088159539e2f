"""A PostgreSQL server of its own for tests: a temporary cluster on a Unix socket.

    postgres.py [--tls]    --tls: also on a port of 127.0.0.1, with a certificate for localhost (authority: ca.pem beside
                           the socket)

Prints the folder of the socket, that of the server's programs and, with --tls, the port once it accepts connections. Then
it obeys one line at a time and answers each with `ok` or with what went wrong: `stop smart`, `stop fast`, `stop immediate`
(as a crash), `start`. Ends, and removes everything, with its input: also when the tests are killed.
"""
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


class Server:
    """A server on a Unix socket in `folder`, whose data are below it. All else than `settings` is as initdb leaves it.
    `variables` are more of its environment."""

    def __init__(self, folder, settings, port=5432, variables={}):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        if not found:
            sys.exit("there is no PostgreSQL server in /usr/lib/postgresql: apt-get install postgresql")
        self.programs, self.folder, self.settings, self.port = found[-1], str(folder), settings, port
        self.data, self.place = f"{folder}/data", ("-h", str(folder), "-p", str(port))
        self.process, self.owner, self.variables = None, {}, variables
        os.makedirs(folder, exist_ok=True)
        if os.geteuid() == 0:  # as which the server refuses to run
            account = pwd.getpwnam("postgres")
            os.chown(folder, account.pw_uid, account.pw_gid)
            self.owner = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}

    def run(self, *command):
        """What a program prints, run by the server's user."""
        path = f"{self.programs}:{os.environ['PATH']}"
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=self.folder,
                              env=dict(os.environ, PATH=path), **self.owner)
        if done.returncode:
            raise RuntimeError(f"{command[0]}: {done.stderr.strip()}")
        return done.stdout

    def initialize(self, *options):
        self.run("initdb", "-D", self.data, "-U", "cameo", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", *options)

    def start(self):
        """Even if this program is killed, its server ends."""
        options = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        command = ["setpriv", "--pdeathsig", "QUIT", f"{self.programs}/postgres", "-D", self.data, "-k", self.folder,
                   "-p", str(self.port), *options]
        with open(f"{self.folder}/log", "a") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                                            cwd=self.folder, start_new_session=True,
                                            env={**os.environ, **self.variables}, **self.owner)
        self.await_answer()

    def await_answer(self):
        for _ in range(3000):
            if self.process.poll() is not None:
                with open(f"{self.folder}/log") as log:
                    raise RuntimeError(f"the server does not start: {log.read().strip()[-500:]}")
            if subprocess.run([f"{self.programs}/pg_isready", "-q", *self.place], stdin=subprocess.DEVNULL).returncode == 0:
                return
            time.sleep(0.02)
        raise RuntimeError("the server has not started within a minute")

    def stop(self, number=signal.SIGQUIT):
        """SIGTERM: once all clients have gone; SIGINT: in order; SIGQUIT: as a crash."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(120)


def make_certificate(server):
    """Makes an authority and its certificate for localhost, and lets the server use it."""
    new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    server.run(*new, "-days", "2", "-x509", "-subj", "/CN=Test Authority", "-keyout", "ca.key", "-out", "ca.pem")
    with open(f"{server.folder}/names", "w") as file:
        file.write("subjectAltName=DNS:localhost\n")
    server.run(*new, "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr")
    server.run("openssl", "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
               "-days", "2", "-extfile", "names", "-out", "server.pem")
    server.settings |= {"listen_addresses": "127.0.0.1", "ssl": "on", "ssl_cert_file": f"{server.folder}/server.pem",
                        "ssl_key_file": f"{server.folder}/server.key"}


def obey(server, words):
    if words[0] == "stop":
        server.stop({"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}[words[1]])
    elif words[0] == "start":
        server.start()
    else:
        raise RuntimeError("unknown command")


def main():
    has_tls, port = "--tls" in sys.argv[1:], 5432
    if has_tls:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    # A crash of the server loses nothing that the kernel has, so that tests need not wait for the disk.
    server = Server(tempfile.mkdtemp(prefix="cameo-pg-"), {
        "listen_addresses": "", "max_connections": "400", "fsync": "off", "shared_buffers": "64MB",
        "max_locks_per_transaction": "256", "log_min_messages": "fatal",
    }, port)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whoever ends a run of tests ends all of their processes.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    try:
        server.initialize("--no-sync")
        if has_tls:
            make_certificate(server)
        server.start()
        print(server.folder, server.programs, *[port] * has_tls, flush=True)
        for line in sys.stdin:
            try:
                obey(server, line.split())
                print("ok", flush=True)
            except Exception as error:
                print(str(error).replace("\n", " "), flush=True)
    finally:
        server.stop()
        shutil.rmtree(server.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
