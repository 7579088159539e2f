"""deploy/soak MINUTES [FOLDER]
deploy/soak --fleet MINUTES [FOLDER]

Runs real workers on real pictures for a while and attacks them continuously, then reports what is missing. Sets up,
builds, copies the pictures of FOLDER (or generates some), and keeps enqueueing jobs: with cameo-enqueue, by SQL, and
once a minute from sixteen processes at once. Meanwhile workers kill themselves at every named kill point (in debug
builds), are killed at random, or are frozen beyond their lease; renderers are killed; writes and syncs fail or are cut
short, as on a faulty or full disk; the clock jumps by days, and retention follows; and power cuts are simulated:
everything stops, the store is copied without the data that was not synced, and the copy must have every acknowledged
job.

Some jobs are of a batch that is sealed: each must end once, with all of its jobs.

One worker is never attacked: its memory, its descriptors and the write-ahead log must not grow after the first fifth of
the run. Prints one table. Exits with 1 if anything was lost, stuck, duplicated, damaged or grew, otherwise with 0.

With --fleet, three workers with clocks of their own, two of them an hour off, share a PostgreSQL server, its standby
and an S3 server, all of this run alone; run by root, each worker has a network namespace. Workers are killed or
frozen beyond their lease, renderers are killed; connections are killed or used up, advisory locks squatted, the
role's settings changed; many thumbnails are equal; the server restarts, crashes, or is replaced by a standby that
misses its last commits; cables are pulled, links to it and to the bucket are cut, stalled and slow; the S3 server is
killed, denies deletes, and answers with a content coding that nobody asked for while a repair runs; clocks jump by days.
The table has the time of each kind of recovery.
"""
import contextlib
import itertools
import pathlib
import random
import secrets
import shutil
import sys
import tempfile

import lab
from soaking.fleet import FleetSoak
from soaking.store import StoreSoak

ENDINGS = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif", ".heic", ".tif", ".tiff", ".svg"}


def arguments():
    parser = lab.parser("soak", __doc__)
    add = parser.add_argument
    lab.add_bin(add)
    add("minutes", metavar="MINUTES", type=lab.positive, help="how long to enqueue jobs and attack")
    add("folder", metavar="FOLDER", nargs="?", type=pathlib.Path, help="pictures to use; small ones make more jobs")
    add("--seed", type=int, default=secrets.randbelow(10**9), help="repeat the order of attacks of that run")
    add("--fleet", action="store_true", help="attack a fleet on PostgreSQL and S3 instead of a store in a folder")
    add("--no-kills", action="store_true", help="kill and freeze no worker; use a release build, as installed")
    add("--keep", type=pathlib.Path, metavar="FOLDER", help="copy the store and all logs to this folder")
    options = parser.parse_args()
    if options.folder and not options.folder.is_dir():
        parser.error(f"FOLDER: {options.folder} is not a folder")
    if options.keep and options.keep.exists():
        parser.error(f"--keep: {options.keep} already exists")
    return options


def gather(folder, originals):
    """Copies the pictures to the disk of the run, where each job gets a link of its own."""
    originals.mkdir()
    if folder:
        found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file())
        for index, path in enumerate(found[:500]):
            shutil.copy(path, originals / f"{index:03d}{path.suffix.lower()}")
    else:
        with tempfile.TemporaryDirectory(dir=originals.parent) as large:
            lab.output(lab.ROOT / "deploy/samples", large)
            for path, ending in itertools.product(pathlib.Path(large).iterdir(), ("jpg", "png", "webp")):
                small = originals / f"{path.stem}-{path.suffix[1:]}.{ending}"
                lab.output("vipsthumbnail", path, "-s", "560x560", "-o", small)
    return sorted(originals.iterdir()) or sys.exit(f"there are no pictures in {folder}")


def main():
    options = arguments()
    sets, fleet = "build test" + " servers" * options.fleet, " --fleet" * options.fleet
    configuration = "release" if options.no_kills or options.fleet else "debug"
    bin = lab.built(options, f". deploy/setup {sets}\ndeploy/build{fleet} {configuration}", "cameo-worker")
    with tempfile.TemporaryDirectory(prefix="cameo-soak-", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name).resolve()
        lab.progress(f"seed {options.seed}; gathering pictures")
        pictures = gather(options.folder, folder / "originals")
        kind = FleetSoak if options.fleet else StoreSoak
        run = kind(bin, folder, options, pictures, random.Random(options.seed))
        try:
            with contextlib.closing(run):
                run.go()
                run.finish()
        finally:
            if options.keep:
                shutil.copytree(folder / "logs" if options.fleet else folder, options.keep)
    run.show()
    return 1 if run.failures() else 0


lab.main(main)
