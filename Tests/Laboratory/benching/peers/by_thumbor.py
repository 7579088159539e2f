"""thumbor, a process for each core, which reads files and keeps no results; its clients hold their connections."""
import concurrent.futures
import http.client
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

from conversation import serve

CONFIG = """
LOADER = "thumbor.loaders.file_loader"
FILE_LOADER_ROOT_PATH = "/"
STORAGE = "thumbor.storages.no_storage"
RESULT_STORAGE = None
ALLOW_UNSAFE_URL = True
MAX_PIXELS = 500000000
"""


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


class Clients:
    """Twice as many connections as processes, so that none waits for a client."""

    def __init__(self, port, count):
        self.port, self.local = port, threading.local()
        self.pool = concurrent.futures.ThreadPoolExecutor(count)

    def get(self, url):
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        self.local.connection.request("GET", url)
        response = self.local.connection.getresponse()
        data = response.read()
        if response.status != 200:
            raise RuntimeError(f"{response.status} for {url}")
        return data

    def save(self, task):
        path, rendition, folder = task
        box = f"{rendition['width']}x{rendition['height']}"
        fit = box if rendition["fit"] == "cover" else f"fit-in/{box}"
        filters = f"filters:format({rendition['format']}):quality({rendition['quality']})"
        data = self.get(f"/unsafe/{fit}/{filters}/{urllib.parse.quote(path.lstrip('/'))}")
        name = f"{pathlib.Path(path).stem}-{rendition['label']}.{rendition['suffix']}"
        pathlib.Path(folder, name).write_bytes(data)

    def make(self, pictures, renditions, folder):
        tasks = [(path, rendition, folder) for path in pictures for rendition in renditions]
        for _ in self.pool.map(self.save, tasks):
            pass


def main():
    folder, port, count = os.environ["BENCH_FOLDER"], free_port(), int(sys.argv[1])
    pathlib.Path(folder, "thumbor.conf").write_text(CONFIG)
    command = [pathlib.Path(sys.executable).parent / "thumbor", "-i", "127.0.0.1", "-p", str(port), "-c",
               f"{folder}/thumbor.conf", "-l", "error", "--processes", str(count)]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    try:
        limit = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if server.poll() is not None or time.monotonic() > limit:
                    raise RuntimeError("thumbor does not start")
                time.sleep(0.05)
        serve(Clients(port, count * 2).make)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
