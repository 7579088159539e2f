"""JuiceFS' S3 gateway on 127.0.0.1: a dialect that knows no conditions, and writes again what is there.

    juicefs_server.py FOLDER

Needs `juicefs` beside the Python that runs this. Keeps its data in the folder, prints {"port": …} when it answers, and
ends with its input. The key is `tester` with the secret `testing-secret`; the bucket `cameo` exists.
"""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


libc = ctypes.CDLL(None)


def end_with_parent():
    """Even if this program is killed, the gateway ends (PR_SET_PDEATHSIG)."""
    libc.prctl(1, signal.SIGKILL)


def main():
    folder = os.path.abspath(sys.argv[1])
    juicefs = os.path.join(os.path.dirname(sys.executable), "juicefs")
    database = f"sqlite3://{folder}/meta.db"
    log = open(f"{folder}/log", "w+")
    subprocess.run([juicefs, "format", "--storage", "file", "--bucket", f"{folder}/data/", "--trash-days", "0", database,
                    "cameo"], check=True, stdout=log, stderr=log)
    port = free_port()
    environment = os.environ | {"MINIO_ROOT_USER": "tester", "MINIO_ROOT_PASSWORD": "testing-secret"}
    gateway = subprocess.Popen([juicefs, "gateway", "--no-usage-report", "--no-banner", "--cache-dir", f"{folder}/cache",
                                "--metrics", "127.0.0.1:0", database, f"127.0.0.1:{port}"],
                               env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                               preexec_fn=end_with_parent)
    try:
        deadline = time.monotonic() + 30
        while not answers(port):
            if gateway.poll() is not None or time.monotonic() > deadline:
                log.seek(0)
                sys.exit(f"the gateway does not start: {log.read()}")
            time.sleep(0.02)
        print(json.dumps({"port": port}), flush=True)
        sys.stdin.read()
    finally:
        gateway.send_signal(signal.SIGKILL)
        gateway.wait()


main()
