"""A Redis of its own that appends and syncs every write before it answers."""
import contextlib
import subprocess

import redis

import lab


@contextlib.contextmanager
def running():
    # The path of a socket is short (108 bytes), so it is relative.
    command = ["redis-server", "--port", "0", "--unixsocket", "redis.sock", "--save", "", "--appendonly", "yes", "--appendfsync",
               "always", "--dir", ".", "--daemonize", "no", "--loglevel", "warning"]
    with lab.running(*command, stdin=subprocess.DEVNULL) as server:
        def answers():
            if server.poll() is not None:
                raise RuntimeError("redis-server has ended")
            with contextlib.suppress(redis.ConnectionError):
                return redis.Redis(unix_socket_path="redis.sock").ping()

        lab.wait_until(answers, "starting redis-server")
        yield
