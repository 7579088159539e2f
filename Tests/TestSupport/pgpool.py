"""Pgpool-II for tests, as it is set up by default: before the server whose socket is in the folder SERVER, and a standby.

    pgpool.py SERVER

It sends what only reads to the standby. Prints the folder of its socket, which has the port 9999. Ends, and removes
everything, with its input: also when the tests are killed.
"""
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import postgres

primary = sys.argv[1]
program = shutil.which("pgpool", path="/usr/sbin:/usr/bin:/usr/local/bin")
if not program:
    sys.exit("there is no pgpool")
version = subprocess.run([program, "--version"], capture_output=True, text=True).stderr.split()[2]
folder = tempfile.mkdtemp(prefix="cameo-pgp-")
# Not fewer than the primary allows.
limits = {"max_connections": "400", "max_locks_per_transaction": "256"}
settings = {"listen_addresses": "", "fsync": "off", "log_min_messages": "fatal"}
standby = postgres.Server(f"{folder}/standby", settings | limits, 5433)
os.chmod(folder, 0o755)
if standby.owner:
    account = pwd.getpwnam("postgres")
    os.chown(folder, account.pw_uid, account.pw_gid)
sockets = "socket_dir" if version < "4.4" else "unix_socket_directories"
with open(f"{folder}/pgpool.conf", "w") as file:
    file.write(f"""\
backend_clustering_mode = 'streaming_replication'
listen_addresses = ''
port = 9999
{sockets} = '{folder}'
pcp_listen_addresses = ''
pcp_socket_dir = '{folder}'
backend_hostname0 = '{primary}'
backend_port0 = 5432
backend_weight0 = 0
backend_flag0 = 'DISALLOW_TO_FAILOVER'
backend_hostname1 = '{standby.folder}'
backend_port1 = 5433
backend_weight1 = 1
backend_flag1 = 'DISALLOW_TO_FAILOVER'
num_init_children = 24
load_balance_mode = on
sr_check_period = 0
sr_check_user = 'cameo'
pool_passwd = ''
pid_file_name = '{folder}/pid'
logdir = '{folder}'
""")
open(f"{folder}/pcp.conf", "w").close()
pooler = None
try:
    standby.run("pg_basebackup", "-h", primary, "-p", "5432", "-U", "cameo", "-D", standby.data, "-R", "-c", "fast")
    standby.start()
    with open(f"{folder}/log", "a") as log:
        pooler = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", program, "-n", "-D", "-f", f"{folder}/pgpool.conf", "-F", f"{folder}/pcp.conf"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, start_new_session=True, **standby.owner)
    for _ in range(3000):
        if pooler.poll() is not None:
            sys.exit(open(f"{folder}/log").read().strip()[-500:])
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(f"{folder}/.s.PGSQL.9999")
            break
        except OSError:
            time.sleep(0.02)
    print(folder, flush=True)
    sys.stdin.read()
finally:
    if pooler and pooler.poll() is None:
        pooler.send_signal(2)
        pooler.wait()
    standby.stop()
    shutil.rmtree(folder, ignore_errors=True)
