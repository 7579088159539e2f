"""A Redis of its own that appends and syncs every write before it answers."""
import contextlib
import pathlib
import shutil
import subprocess
import time

import redis


@contextlib.contextmanager
def running(folder):
    folder = pathlib.Path(folder)
    # The path of a socket is short (108 bytes), so it is relative.
    command = [shutil.which("redis-server") or "redis-server", "--port", "0", "--unixsocket", "redis.sock", "--save", "",
               "--appendonly", "yes", "--appendfsync", "always", "--dir", ".", "--daemonize", "no", "--loglevel", "warning"]
    server = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + 20
        while True:
            with contextlib.suppress(redis.ConnectionError):
                if redis.Redis(unix_socket_path="redis.sock").ping():
                    break
            if server.poll() is not None or time.monotonic() > limit:
                raise RuntimeError("redis-server does not start")
            time.sleep(0.02)
        yield server
    finally:
        server.terminate()
        server.wait()
