"""Where everything is measured: the machine; Debian's packages, Python packages in an environment of their own, and
photographs, all of them installed; and a record of what could not be measured."""
import contextlib
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile

import lab
from lab import ROOT, Unmeasured, progress

# With pyvips, pip compiles its binding to the system's libvips.
DEBIAN = ["libvips-tools", "imagemagick", "redis-server", "findutils", "python3-venv", "python3-dev", "gcc",
          "libc6-dev"]
PYTHON = ["pyvips", "huey", "rq redis", "thumbor"]
WALLPAPERS = ["mate-backgrounds", "plasma-workspace-wallpapers", "lomiri-wallpapers-20.04"]


class Place:
    """What every part of the benchmark is told. `failed` makes the exit code 1; `left_out` cannot be done at all (a
    peer that cannot read a format), and does not."""

    def __init__(self, options):
        self.folder, self.quick = ROOT / ".build" / "bench", options.quick
        self.photos, self.rounds = getattr(options, "photos", None), options.rounds
        self.baseline = options.baseline
        self.bin, self.failed, self.left_out = None, json.loads(os.environ.get("BENCH_FAILED", "[]")), []
        self.work, self.python = self.folder / "work", self.folder / "venv" / "bin" / "python"
        self.work.mkdir(parents=True, exist_ok=True)

    # What could not be measured.

    def fail(self, what, reason):
        entry = {"what": what, "reason": " ".join(str(reason).split())[:400]}
        if entry not in self.failed:
            self.failed.append(entry)
            progress(f"FAILED: {what}: {entry['reason']}")

    def leave_out(self, what, reason):
        self.left_out.append({"what": what, "reason": reason})

    @contextlib.contextmanager
    def failures_of(self, what):
        """Records an error of what runs inside instead of ending the program."""
        try:
            yield
        except Exception as error:
            self.fail(what, f"{type(error).__name__}: {error}")

    # Packages.

    def install(self):
        """What the peers need. Goes on in the environment, which is told what has failed, if that can be."""
        with self.failures_of(f"installing {' '.join(DEBIAN)}"):
            # Of Redis only its program is wanted, not the service that Debian starts.
            shell(f""". deploy/setup
                had_redis=$(command -v redis-server || true)
                install_missing {' '.join(DEBIAN)}
                [ "$had_redis" ] || [ ! -d /run/systemd/system ] || {SUDO} systemctl disable --now redis-server""")
        for packages in PYTHON:
            with self.failures_of(f"installing {packages}"):
                environment(self.folder, packages.split())
        with self.failures_of("entering the Python environment"):
            enter(self.python, BENCH_FAILED=json.dumps(self.failed))

    # Pictures.

    def photographs(self):
        """The photographs to use: those below a folder, or those of Debian's backgrounds."""
        folders = [self.photos.resolve()] if self.photos else [self.folder / "wallpapers" / name for name in WALLPAPERS]
        for folder in folders:
            if not folder.exists():
                with self.failures_of(f"fetching {folder.name}"):
                    self.fetch(folder)
        files = [path for folder in folders for path in sorted(folder.rglob("*"))
                 if path.suffix.lower() in {".jpg", ".jpeg"} and path.is_file() and not path.is_symlink()]
        if not files:
            raise Unmeasured(f"no photographs (JPEG) in {self.photos or 'the packages of wallpapers'}")
        return files

    def fetch(self, folder):
        """Unpacks the package of a folder's name, as a whole or not at all."""
        progress(f"fetching {folder.name}")
        new = folder.with_suffix(".new")
        new.mkdir(parents=True, exist_ok=True)
        download = f"apt-get -q download {folder.name}"
        shell(f"cd {new}\n{download} || {{ {SUDO} apt-get update -q; {download}; }}\ndpkg -x *.deb .\nrm *.deb")
        new.rename(folder)

    def sets(self, wanted):
        """{set: [pictures]}, made from the photographs once and kept."""
        photographs = self.photographs()
        listing = json.dumps([[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in photographs])
        folder = self.folder / "pictures" / hashlib.sha256((listing + json.dumps(wanted)).encode()).hexdigest()[:12]
        done = folder / "sets.json"
        if not done.exists():
            progress(f"making the sets of pictures from {len(photographs)} photographs")
            from benching import pictures

            done.write_text(json.dumps(pictures.make(photographs, folder, wanted)))
        made = json.loads(done.read_text())
        for kind, reason in made["missing"].items():
            self.leave_out(f"pictures: {kind}", reason)
        return {kind: [pathlib.Path(path) for path in files] for kind, files in made["sets"].items()}

    # The machine.

    def describe(self):
        """What a report says first."""
        commit, changed = said("git", "rev-parse", "--short=12", "HEAD"), said("git", "status", "--porcelain", "-uno")
        convert = lab.found("magick", "convert-im6.q16") or "-"
        programs = [said(*words) for words in (("vips", "--version"), (convert, "-version"), ("redis-server", "-v"))]
        return {
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "commit": f"{commit}, with changes" if commit and changed else commit, "quick": self.quick, "minutes": 0,
            "machine": {
                "processor": first(r"model name\s*:\s*(.*)", "/proc/cpuinfo") or platform.machine(),
                "cores": lab.CORES, "memoryGiB": round(int(first(r"MemTotal:\s*(\d+)", "/proc/meminfo")) / 2**20, 1),
                "kernel": platform.release(), "system": first(r'PRETTY_NAME="?([^"\n]*)', "/etc/os-release"),
                "versions": [f"Python {platform.python_version()}", f"SQLite {sqlite3.sqlite_version}",
                             *(text.splitlines()[0] for text in programs if text),
                             *(said(str(self.python), "-m", "pip", "freeze") or "").replace("==", " ").splitlines()],
                "loadAverage": round(os.getloadavg()[0], 2), **disk(self.work),
            },
        }


SUDO = "" if os.geteuid() == 0 else "sudo"


def environment(folder, packages):
    """The Python of an environment below a folder that has these packages, at least."""
    python = folder / "venv" / "bin" / "python"
    if not python.with_name("pip").exists():  # without python3-venv, Debian makes one that has none
        progress(f"making a Python environment in {folder / 'venv'}")
        lab.output(sys.executable, "-m", "venv", folder / "venv")
    progress(f"pip install {' '.join(packages)}")
    lab.output(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def enter(python, *more, **variables):
    """Goes on in an environment, if it is not this one, with more arguments and variables."""
    if sys.prefix != str(python.parents[1]):
        variables |= {"PYTHONPATH": str(pathlib.Path(lab.__file__).parent), "PYTHONDONTWRITEBYTECODE": "1"}
        os.execve(python, [python, *sys.argv, *more], {**lab.ONE_CORE, **variables})


def shell(script):
    lab.output("bash", "-euc", script, cwd=ROOT)


def said(*command):
    with contextlib.suppress(OSError):
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip()


def first(pattern, path):
    match = re.search(pattern, pathlib.Path(path).read_text())
    return match and match[1]


def disk(folder, count=100):
    """The kind of a file system, and the median time of a write of 4 KiB and its fdatasync."""
    with tempfile.TemporaryFile(dir=folder) as file:
        def write():
            os.pwrite(file.fileno(), os.urandom(4096), 0)
            os.fdatasync(file.fileno())

        times = [lab.timed(write)[1] * 1000 for _ in range(count)]
    return {"fileSystem": said("stat", "-f", "-c", "%T", str(folder)),
            "syncMilliseconds": round(statistics.median(times), 3)}
