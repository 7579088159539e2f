"""A PgBouncer of its own for tests before the server whose socket is in the folder SERVER.

    pgbouncer.py SERVER SIZE MODE    SIZE: the most connections to the server; MODE: transaction, session or statement

Prints the folder of its socket, which has the port 6432. Then it obeys one line at a time and answers each with `ok` or
with what went wrong: `stop`, `start`. Ends, and removes everything, with its input: also when the tests are killed.
"""
import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

server, size, mode = sys.argv[1:]
program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")
if not program:
    sys.exit("there is no pgbouncer")
folder = tempfile.mkdtemp(prefix="cameo-pgb-")
# It refuses to run as root.
owner = {}
if os.geteuid() == 0:
    account = pwd.getpwnam("postgres")
    os.chown(folder, account.pw_uid, account.pw_gid)
    owner = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
settings = os.path.join(folder, "pgbouncer.ini")
with open(settings, "w") as file:
    file.write(f"""\
[databases]
* = host={server}

[pgbouncer]
listen_port = 6432
unix_socket_dir = {folder}
unix_socket_mode = 0777
auth_type = trust
auth_file = {folder}/users
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 400
server_login_retry = 1
""")
with open(os.path.join(folder, "users"), "w") as file:
    file.write('"cameo" ""\n')
os.chmod(folder, 0o755)
pooler = None


libc = ctypes.CDLL(None)


def end_with_parent():
    """Even if this program is killed, the pooler ends (PR_SET_PDEATHSIG)."""
    libc.prctl(1, signal.SIGKILL)


def start():
    global pooler
    log = open(os.path.join(folder, "log"), "a")
    pooler = subprocess.Popen(
        [program, settings], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, preexec_fn=end_with_parent,
        **owner)
    for _ in range(3000):
        if pooler.poll() is not None:
            raise RuntimeError(open(os.path.join(folder, "log")).read().strip())
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(os.path.join(folder, ".s.PGSQL.6432"))
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("PgBouncer has not started within a minute")


def stop():
    """At once, with all its connections."""
    pooler.kill()
    pooler.wait()
    # It refuses to start where another seems to listen.
    try:
        os.unlink(os.path.join(folder, ".s.PGSQL.6432"))
    except FileNotFoundError:
        pass


signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
try:
    start()
    print(folder, flush=True)
    for line in sys.stdin:
        try:
            {"stop": stop, "start": start}[line.strip()]()
            print("ok", flush=True)
        except Exception as error:
            print(str(error).replace("\n", " "), flush=True)
finally:
    if pooler and pooler.poll() is None:
        stop()
    shutil.rmtree(folder, ignore_errors=True)
