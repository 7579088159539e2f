"""A Redis of its own that appends and syncs every write before it answers."""
import contextlib
import subprocess
import time

import redis


@contextlib.contextmanager
def running(folder):
    # The path of a socket is short (108 bytes), so it is relative.
    command = ["redis-server", "--port", "0", "--unixsocket", "redis.sock", "--save", "", "--appendonly", "yes", "--appendfsync",
               "always", "--dir", ".", "--daemonize", "no", "--loglevel", "warning"]
    server = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        limit, is_ready = time.monotonic() + 20, False
        while not is_ready:
            with contextlib.suppress(redis.ConnectionError):
                is_ready = redis.Redis(unix_socket_path="redis.sock").ping()
            if server.poll() is not None or time.monotonic() > limit:
                raise RuntimeError("redis-server does not start")
            time.sleep(0.02)
        yield server
    finally:
        server.terminate()
        server.wait()
