"""A disk that fails on request, and a record of what was synced (Tests/TestSupport/faults.c)."""
import os
import shutil

import lab

# Each fault's rule, without its counts.
FAULTS = {
    "log write fails": "write EIO -wal",
    "log sync fails": "sync EIO -wal",
    "disk full for the log": "write ENOSPC -wal",
    "half a write to the log": "write SHORT -wal",
    "blob write fails": "write EIO /blobs/",
    "blob sync fails": "sync EIO /blobs/",
    "disk full for a blob": "write ENOSPC /blobs/",
    "half a write to a blob": "write SHORT /blobs/",
}


class Disk:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        lab.faults(folder / "faults.so")
        self.environment = {"LD_PRELOAD": str(folder / "faults.so"), "CAMEO_FAULTS": str(folder)}

    def fail(self, name, count):
        """Makes the next calls of that kind fail in every process."""
        new = self.folder / "rules.new"
        new.write_text(f"{FAULTS[name]} 0 {count}\n")
        new.rename(self.folder / "rules")

    def heal(self):
        (self.folder / "rules").unlink(missing_ok=True)

    def account(self, name):
        """What is known so far of `fired` failures, the `durable` part of the log, or `synced` files."""
        path = self.folder / name
        return path.read_bytes() if path.exists() else b""

    def fired(self):
        """The number of failures so far, by fault."""
        counts, lines = {}, self.account("fired").decode().splitlines()
        for name, rule in FAULTS.items():
            call, error, part = rule.split()
            counts[name] = sum(1 for line in lines if line.startswith(f"{call} {error} ") and part in line)
        return counts

    def copy_after_power_cut(self, store, copy):
        """Copies a store whose writers are stopped as a power failure would leave it."""
        copy.mkdir(mode=0o700)
        shutil.copy(store / "cameo.sqlite", copy)
        log = copy / "cameo.sqlite-wal"
        if (store / log.name).exists():
            data, end = (store / log.name).read_bytes(), int.from_bytes(self.account("durable"), "little")
            # Bytes beyond the synced end may be anything, so they are replaced by random ones.
            log.write_bytes(data[:end] + os.urandom(min(len(data[end:]), 65_536)))
        kept = set(self.account("synced").split())
        for path in (store / "blobs").rglob("*"):
            target = copy / "blobs" / path.relative_to(store / "blobs")
            if path.is_dir():
                target.mkdir(parents=True, exist_ok=True, mode=0o700)
            elif str(path.stat().st_ino).encode() in kept:
                os.link(path, target)  # blobs are immutable
            else:
                target.touch()
