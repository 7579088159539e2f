"""What the benchmark installs: Debian's packages, Python packages in an environment of their own, photographs."""
import hashlib
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

from benching.measuring import Unmeasured, progress

DEBIAN = {  # package: a program of it
    "libvips-tools": "vipsthumbnail", "imagemagick": "convert-im6.q16", "redis-server": "redis-server", "findutils": "xargs",
}
PYTHON = {  # the peer that needs them: packages. pyvips uses the system's libvips, as Cameo and vipsthumbnail do.
    "pyvips": ["pyvips"], "huey": ["huey"], "rq": ["rq", "redis"], "thumbor": ["thumbor"],
    "persist-queue": ["persist-queue"], "litequeue": ["litequeue"],
}
WALLPAPERS = ["mate-backgrounds", "plasma-workspace-wallpapers", "lomiri-wallpapers-20.04"]
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


def program(*names):
    """The path of the first of the programs that is there."""
    return next((found for name in names if (found := shutil.which(name, path=PATH))), None)


class Environment:
    def __init__(self, folder, notes):
        self.folder, self.notes = folder, notes
        self.venv = folder / "venv"
        self.work = folder / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self.python = self.venv / "bin" / "python"

    # Packages.

    def install(self):
        self.install_debian()
        self.install_python()

    def install_debian(self):
        missing = [package for package, name in DEBIAN.items() if not program(name)]
        # ImageMagick 7 has another program.
        if program("magick"):
            missing = [package for package in missing if package != "imagemagick"]
        if importlib.util.find_spec("ensurepip") is None:
            missing.append("python3-venv")
        if not missing:
            return
        if not shutil.which("apt-get"):
            return self.notes.fail("installing " + " ".join(missing), "there is no apt-get")
        progress(f"installing {' '.join(missing)}")
        self.apt("update", "-qq")
        for package in missing:
            done = self.apt("install", "-y", "-qq", "--no-install-recommends", package)
            if done.returncode:
                self.notes.fail(f"installing {package}", done.stderr)
            elif package == "redis-server" and pathlib.Path("/run/systemd/system").exists():
                # Only its program is wanted, not the service that Debian starts.
                subprocess.run([*self.sudo, "systemctl", "disable", "--now", package], capture_output=True)

    @property
    def sudo(self):
        return [] if os.geteuid() == 0 else ["sudo"]

    def apt(self, *words):
        command = [*self.sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", *words]
        return subprocess.run(command, capture_output=True, text=True)

    def install_python(self):
        if not self.python.exists():
            progress(f"making a Python environment in {self.venv}")
            subprocess.run([sys.executable, "-m", "venv", self.venv], check=True)
        have = self.versions()
        for peer, packages in PYTHON.items():
            missing = [name for name in packages if name not in have]
            if not missing:
                continue
            progress(f"installing {' '.join(missing)} by pip")
            command = [self.python, "-m", "pip", "install", "--quiet", *missing]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                self.notes.fail(f"installing {peer}", "\n".join(done.stderr.strip().splitlines()[-2:]))

    def versions(self):
        """The Python packages that are installed, with their versions."""
        if not self.python.exists():
            return {}
        command = [self.python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return {entry["name"].lower().replace("_", "-"): entry["version"] for entry in json.loads(listed)}

    def script(self, name, *words, **more):
        """Runs a script of benching/peers by the environment's Python."""
        path = pathlib.Path(__file__).parent / "peers" / name
        return subprocess.run([self.python, path, *map(str, words)], check=True, capture_output=True, text=True, **more)

    # Pictures.

    def photographs(self, own):
        """The photographs to use: those below a folder, or those of Debian's backgrounds."""
        if own:
            folders = [own.resolve()]
        else:
            folders = [self.wallpaper(package) for package in WALLPAPERS]
        files = [
            path for folder in folders if folder for path in sorted(folder.rglob("*"))
            if path.suffix.lower() in {".jpg", ".jpeg"} and path.is_file() and not path.is_symlink()
        ]
        if not files:
            raise Unmeasured(f"no photographs (JPEG) in {own or 'the packages of wallpapers'}")
        return files

    def wallpaper(self, package):
        folder = self.folder / "wallpapers" / package
        if not folder.exists():
            progress(f"fetching {package}")
            fetched = self.folder / "fetched"
            fetched.mkdir(exist_ok=True)
            command = ["apt-get", "download", package]
            done = subprocess.run(command, cwd=fetched, capture_output=True, text=True)
            if done.returncode:
                self.apt("update", "-qq")
                done = subprocess.run(command, cwd=fetched, capture_output=True, text=True)
            archive = next(fetched.glob(f"{package}_*.deb"), None)
            if done.returncode or not archive:
                self.notes.fail(f"fetching {package}", done.stderr or "no file")
                return None
            unpacked = folder.with_suffix(".new")
            unpacked.mkdir(parents=True, exist_ok=True)
            subprocess.run(["dpkg", "-x", archive, unpacked], check=True)
            unpacked.rename(folder)
            archive.unlink()
        return folder

    def sets(self, own, wanted):
        """{set: [pictures]}, made from the photographs once and kept."""
        photographs = self.photographs(own)
        listing = json.dumps([[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in photographs])
        name = hashlib.sha256((listing + json.dumps(wanted)).encode()).hexdigest()[:12]
        folder = self.folder / "pictures" / name
        done = folder / "sets.json"
        if not done.exists():
            progress(f"making the sets of pictures from {len(photographs)} photographs")
            task = {"photographs": [str(path) for path in photographs], "folder": str(folder), "wanted": wanted}
            made = json.loads(self.script("pictures.py", input=json.dumps(task)).stdout)
            done.write_text(json.dumps(made))
        made = json.loads(done.read_text())
        for kind, reason in made["missing"].items():
            self.notes.leave_out(f"pictures: {kind}", reason)
        return {kind: [pathlib.Path(path) for path in files] for kind, files in made["sets"].items()}
