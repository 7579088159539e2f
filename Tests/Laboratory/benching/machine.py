"""The machine beside its figures."""
import datetime
import os
import pathlib
import platform
import re
import sqlite3
import statistics
import subprocess
import tempfile
import time

from benching.environment import program


def output(*command, **more):
    try:
        return subprocess.run(command, capture_output=True, text=True, **more).stdout.strip()
    except OSError:
        return ""


def describe(root, environment):
    cpu = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = int(re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) / 2**20
    release = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    convert = program("magick", "convert-im6.q16")
    programs = {
        "libvips": re.sub(r"^vips-?\s*|[- ].*$", "", output("vips", "--version")),
        "SQLite": sqlite3.sqlite_version,
        "ImageMagick": (re.search(r"ImageMagick (\S+)", output(convert, "-version")) or ["", ""])[1] if convert else "",
        "Redis": (re.search(r"v=(\S+)", output("redis-server", "--version")) or ["", ""])[1],
    }
    versions = environment.versions()
    names = ("pyvips", "huey", "rq", "redis", "thumbor", "pillow", "persist-queue", "litequeue")
    return {
        "processor": cpu[1] if cpu else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memoryGiB": round(memory, 1),
        "kernel": platform.release(),
        "system": release.get("PRETTY_NAME", "").strip('"'),
        "python": platform.python_version(),
        "programs": {name: version for name, version in programs.items() if version},
        "packages": {name: versions[name] for name in names if name in versions},
        "fileSystem": output("stat", "-f", "-c", "%T", str(environment.work)),
        "syncMilliseconds": sync(environment.work),
        "loadAverage": round(os.getloadavg()[0], 2),
    }


def sync(folder, count=100):
    """The median time of a write of 4 KiB and its fdatasync."""
    times = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(count):
            started = time.monotonic()
            os.pwrite(file.fileno(), os.urandom(4096), 0)
            os.fdatasync(file.fileno())
            times.append((time.monotonic() - started) * 1000)
    return round(statistics.median(times), 3)


def commit(root):
    name = output("git", "rev-parse", "--short=12", "HEAD", cwd=root)
    changed = output("git", "status", "--porcelain", "--untracked-files=no", cwd=root)
    return f"{name}, with changes" if name and changed else name


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
