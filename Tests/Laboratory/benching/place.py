"""Where everything is measured: the machine; Debian's packages, Python packages in an environment of their own, and
photographs, all of them installed; and a record of what could not be measured."""
import contextlib
import datetime
import hashlib
import importlib.util
import json
import os
import pathlib
import platform
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

import lab
from lab import ROOT, Unmeasured, progress

DEBIAN = {  # package: a program of it
    "libvips-tools": "vipsthumbnail", "imagemagick": "convert-im6.q16", "redis-server": "redis-server", "findutils": "xargs",
}
PYTHON = {  # the peer that needs them: packages. pyvips uses the system's libvips, as Cameo and vipsthumbnail do.
    "pyvips": ["pyvips"], "huey": ["huey"], "rq": ["rq", "redis"], "thumbor": ["thumbor"],
    "persist-queue": ["persist-queue"], "litequeue": ["litequeue"],
}
WALLPAPERS = ["mate-backgrounds", "plasma-workspace-wallpapers", "lomiri-wallpapers-20.04"]
PEERS = pathlib.Path(__file__).parent / "peers"
FOR_PEERS = dict(os.environ, PYTHONPATH=f"{PEERS}:{PEERS.parents[1]}", PYTHONDONTWRITEBYTECODE="1")


def program(*names):
    """The path of the first of the programs that is there."""
    return next((found for name in names if (found := shutil.which(name, path=lab.PATH))), None)


class Place:
    """What every part of the benchmark is told. `failed` makes the exit code 1; `left_out` cannot be done at all (a peer
    that cannot read a format), and does not."""

    def __init__(self, folder, options):
        self.folder, self.quick = folder.resolve(), options.quick
        self.photos, self.rounds = getattr(options, "photos", None), options.rounds
        self.bin, self.failed, self.left_out = None, [], []
        self.work, self.python = self.folder / "work", self.folder / "venv" / "bin" / "python"
        self.work.mkdir(parents=True, exist_ok=True)

    # What could not be measured.

    def fail(self, what, reason):
        entry = {"what": what, "reason": " ".join(str(reason).split())[:400]}
        if entry not in self.failed:
            self.failed.append(entry)
            progress(f"FAILED: {what}: {entry['reason']}")

    def leave_out(self, what, reason):
        entry = {"what": what, "reason": reason}
        if entry not in self.left_out:
            self.left_out.append(entry)

    @contextlib.contextmanager
    def failures_of(self, what):
        """Records an error of what runs inside instead of ending the program."""
        try:
            yield
        except Exception as error:
            self.fail(what, f"{type(error).__name__}: {error}")

    # Packages.

    def install(self):
        """What the peers need."""
        missing = [package for package, name in DEBIAN.items() if not program(name)]
        if program("magick") and "imagemagick" in missing:  # ImageMagick 7 has another program
            missing.remove("imagemagick")
        if importlib.util.find_spec("ensurepip") is None:
            missing.append("python3-venv")
        if missing and not shutil.which("apt-get"):
            self.fail("installing " + " ".join(missing), "there is no apt-get")
        elif missing:
            progress(f"installing {' '.join(missing)}")
            self.apt("update", "-qq")
            for package in missing:
                done = self.apt("install", "-y", "-qq", "--no-install-recommends", package)
                if done.returncode:
                    self.fail(f"installing {package}", done.stderr)
                elif package == "redis-server" and pathlib.Path("/run/systemd/system").exists():
                    # Only its program is wanted, not the service that Debian starts.
                    subprocess.run([*self.sudo, "systemctl", "disable", "--now", package], capture_output=True)
        if not self.python.exists():
            progress(f"making a Python environment in {self.folder / 'venv'}")
            subprocess.run([sys.executable, "-m", "venv", self.folder / "venv"], check=True)
        have = self.versions()
        for peer, packages in PYTHON.items():
            if missing := [name for name in packages if name not in have]:
                progress(f"installing {' '.join(missing)} by pip")
                with self.failures_of(f"installing {peer}"):
                    lab.output(self.python, "-m", "pip", "install", "--quiet", *missing)

    @property
    def sudo(self):
        return [] if os.geteuid() == 0 else ["sudo"]

    def apt(self, *words):
        command = [*self.sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", *words]
        return subprocess.run(command, capture_output=True, text=True)

    def versions(self):
        """The Python packages that are installed, with their versions."""
        if not self.python.exists():
            return {}
        listed = lab.output(self.python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check")
        return {entry["name"].lower().replace("_", "-"): entry["version"] for entry in json.loads(listed)}

    def script(self, name, *words, **more):
        """What a script of benching/peers prints, run by the environment's Python."""
        return lab.output(self.python, PEERS / name, *words, env=FOR_PEERS, **more)

    # Pictures.

    def photographs(self):
        """The photographs to use: those below a folder, or those of Debian's backgrounds."""
        folders = [self.photos.resolve()] if self.photos else [self.wallpaper(package) for package in WALLPAPERS]
        files = [path for folder in folders if folder for path in sorted(folder.rglob("*"))
                 if path.suffix.lower() in {".jpg", ".jpeg"} and path.is_file() and not path.is_symlink()]
        if not files:
            raise Unmeasured(f"no photographs (JPEG) in {self.photos or 'the packages of wallpapers'}")
        return files

    def wallpaper(self, package):
        folder, fetched = self.folder / "wallpapers" / package, self.folder / "fetched"
        if folder.exists():
            return folder
        progress(f"fetching {package}")
        fetched.mkdir(exist_ok=True)
        for is_last in (False, True):
            done = subprocess.run(["apt-get", "download", package], cwd=fetched, capture_output=True, text=True)
            if done.returncode and not is_last:
                self.apt("update", "-qq")
        archive = next(fetched.glob(f"{package}_*.deb"), None)
        if done.returncode or not archive:
            return self.fail(f"fetching {package}", done.stderr or "no file")
        unpacked = folder.with_suffix(".new")
        unpacked.mkdir(parents=True, exist_ok=True)
        subprocess.run(["dpkg", "-x", archive, unpacked], check=True)
        archive.unlink()
        return unpacked.rename(folder)

    def sets(self, wanted):
        """{set: [pictures]}, made from the photographs once and kept."""
        photographs = self.photographs()
        listing = json.dumps([[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in photographs])
        folder = self.folder / "pictures" / hashlib.sha256((listing + json.dumps(wanted)).encode()).hexdigest()[:12]
        done = folder / "sets.json"
        if not done.exists():
            progress(f"making the sets of pictures from {len(photographs)} photographs")
            task = {"photographs": [str(path) for path in photographs], "folder": str(folder), "wanted": wanted}
            done.write_text(self.script("pictures.py", input=json.dumps(task)))
        made = json.loads(done.read_text())
        for kind, reason in made["missing"].items():
            self.leave_out(f"pictures: {kind}", reason)
        return {kind: [pathlib.Path(path) for path in files] for kind, files in made["sets"].items()}

    # The machine.

    def describe(self):
        """What a report says first."""
        commit, changed = said("git", "rev-parse", "--short=12", "HEAD"), said("git", "status", "--porcelain", "-uno")
        cpu = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
        memory = int(re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) / 2**20
        convert, versions = program("magick", "convert-im6.q16"), self.versions()
        programs = {
            "libvips": re.sub(r"^vips-?\s*|[- ].*$", "", said("vips", "--version")), "SQLite": sqlite3.sqlite_version,
            "ImageMagick": found(r"ImageMagick (\S+)", said(convert, "-version") if convert else ""),
            "Redis": found(r"v=(\S+)", said("redis-server", "--version")),
        }
        names = ("pyvips", "huey", "rq", "redis", "thumbor", "pillow", "persist-queue", "litequeue")
        return {
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "commit": f"{commit}, with changes" if commit and changed else commit, "quick": self.quick, "minutes": 0,
            "machine": {
                "processor": cpu[1] if cpu else platform.machine(), "cores": lab.CORES, "memoryGiB": round(memory, 1),
                "kernel": platform.release(), "python": platform.python_version(),
                "system": found(r'PRETTY_NAME="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text()),
                "programs": {name: version for name, version in programs.items() if version},
                "packages": {name: versions[name] for name in names if name in versions},
                "loadAverage": round(os.getloadavg()[0], 2), **disk(self.work),
            },
        }


def said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    except OSError:
        return ""


def found(pattern, text):
    match = re.search(pattern, text)
    return match[1] if match else ""


def disk(folder, count=100):
    """The kind of a file system, and the median time of a write of 4 KiB and its fdatasync."""
    with tempfile.TemporaryFile(dir=folder) as file:
        def write():
            os.pwrite(file.fileno(), os.urandom(4096), 0)
            os.fdatasync(file.fileno())

        times = [lab.timed(write)[1] * 1000 for _ in range(count)]
    return {"fileSystem": said("stat", "-f", "-c", "%T", str(folder)), "syncMilliseconds": round(statistics.median(times), 3)}
