"""A PostgreSQL server of its own for tests: a temporary cluster on a Unix socket.

    postgres.py [--tls]    --tls: also on a port of 127.0.0.1, with a certificate for localhost (authority: ca.pem beside
                           the socket)

Prints the folder of the socket, that of the server's programs and, with --tls, the port once it accepts connections. Then
it obeys one line at a time and answers each with `ok` or with what went wrong: `stop smart`, `stop fast`, `stop immediate`
(as a crash), `start`. Ends, and removes everything, with its input: also when the tests are killed.
"""
import ctypes
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

programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
if not programs:
    sys.exit("there is no PostgreSQL server in /usr/lib/postgresql")
programs = programs[-1]
folder = tempfile.mkdtemp(prefix="cameo-pg-")
data = os.path.join(folder, "data")
# The server refuses to run as root.
owner = {}
if os.geteuid() == 0:
    account = pwd.getpwnam("postgres")
    os.chown(folder, account.pw_uid, account.pw_gid)
    owner = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
# A crash of the server loses nothing that the kernel has, so that tests need not wait for the disk.
settings = {
    "listen_addresses": "", "unix_socket_directories": folder, "max_connections": "400", "fsync": "off",
    "shared_buffers": "64MB", "max_locks_per_transaction": "256", "log_min_messages": "fatal",
}
server = None


def run(*command):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=folder, **owner)
    if result.returncode != 0:
        raise RuntimeError(f"{command[0]}: {result.stderr.strip()}")


def serve_tls():
    """Returns the port."""
    new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    run("openssl", *new, "-days", "2", "-x509", "-subj", "/CN=Test Authority", "-keyout", "ca.key", "-out", "ca.pem")
    with open(os.path.join(folder, "names"), "w") as file:
        file.write("subjectAltName=DNS:localhost\n")
    run("openssl", *new, "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr")
    run("openssl", "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days",
        "2", "-extfile", "names", "-out", "server.pem")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings.update({
        "listen_addresses": "127.0.0.1", "port": str(port), "ssl": "on", "ssl_cert_file": f"{folder}/server.pem",
        "ssl_key_file": f"{folder}/server.key"})
    return port


libc = ctypes.CDLL(None)


def end_with_parent():
    """Even if this program is killed, its server ends (PR_SET_PDEATHSIG)."""
    libc.prctl(1, signal.SIGQUIT)


def start():
    global server
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    server = subprocess.Popen(
        [f"{programs}/postgres", "-D", data, *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=open(os.path.join(folder, "log"), "a"), cwd=folder, preexec_fn=end_with_parent, **owner)
    for _ in range(3000):
        if server.poll() is not None:
            raise RuntimeError(open(os.path.join(folder, "log")).read().strip())
        ready = [f"{programs}/pg_isready", "-q", "-h", folder, "-p", settings.get("port", "5432")]
        if subprocess.run(ready, stdin=subprocess.DEVNULL).returncode == 0:
            return
        time.sleep(0.02)
    raise RuntimeError("the server has not started within a minute")


def stop(how):
    server.send_signal({"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}[how])
    server.wait(120)


def obey(words):
    if words[0] == "stop":
        stop(words[1])
    elif words[0] == "start":
        start()
    else:
        raise RuntimeError("unknown command")


signal.signal(signal.SIGINT, signal.SIG_IGN)
# Whoever ends a run of tests ends all of their processes.
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
try:
    run(f"{programs}/initdb", "-D", data, "-U", "cameo", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
    words = [folder, programs] + ([serve_tls()] if "--tls" in sys.argv[1:] else [])
    start()
    print(*words, flush=True)
    for line in sys.stdin:
        try:
            obey(line.split())
            print("ok", flush=True)
        except Exception as error:
            print(str(error).replace("\n", " "), flush=True)
finally:
    if server and server.poll() is None:
        stop("immediate")
    shutil.rmtree(folder, ignore_errors=True)
