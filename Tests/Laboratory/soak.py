#!/usr/bin/env python3
"""deploy/soak MINUTES [FOLDER]
deploy/soak --fleet MINUTES [FOLDER]

Runs real workers on real pictures for a while and attacks them continuously, then reports what is missing. Sets up,
builds, copies the pictures of FOLDER (or generates some), and keeps enqueueing jobs: with cameo-enqueue, by SQL, and once
a minute from sixteen processes at once. Meanwhile workers kill themselves at every named kill point (in debug builds),
are killed at random, or are frozen beyond their lease; renderers are killed; writes and syncs fail or are cut short, as
on a faulty or full disk; and power cuts are simulated: everything stops, the store is copied without the data that was
not synced, and the copy must have every acknowledged job.

One worker is never attacked: its memory, its descriptors and the write-ahead log must not grow after the first fifth of
the run. Prints one table. Exits with 1 if anything was lost, stuck, duplicated, damaged or grew, otherwise with 0.

With --fleet, three workers with clocks of their own, two of them an hour off, share a PostgreSQL server, its standby and
an S3 server, all of this run alone; run by root, each worker has a network namespace. Workers are killed or frozen beyond
their lease, renderers are killed; connections are killed or used up; the server restarts, crashes, or is replaced by a
standby that misses its last commits; cables are pulled, links to it and to the bucket are cut, stalled and slow; the S3
server is killed. The table has the time of each kind of recovery.
"""

import argparse
import pathlib
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # leave no files in the repository

from soaking.fleet import FleetRun
from soaking.report import LineProgress, Progress, failures, show
from soaking.run import Run

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def arguments():
    def positive(text):
        number = float(text)
        if not 0 < number < 100_000:
            raise ValueError
        return number

    parser = argparse.ArgumentParser(prog="deploy/soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", metavar="MINUTES", type=positive, help="how long to enqueue jobs and attack")
    parser.add_argument(
        "folder", metavar="FOLDER", nargs="?", type=pathlib.Path, help="pictures to use; small ones make more jobs"
    )
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(10**9), help="repeat the order of attacks of that run"
    )
    parser.add_argument("--fleet", action="store_true", help="attack a fleet on PostgreSQL and S3 instead of a store in a folder")
    parser.add_argument(
        "--no-kills", action="store_true", help="kill and freeze no worker; use a release build, as installed"
    )
    parser.add_argument(
        "--bin", type=pathlib.Path, metavar="FOLDER", help="use the commands in this folder instead of building them"
    )
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="copy the store and all logs to this folder")
    options = parser.parse_args()
    if options.folder and not options.folder.is_dir():
        parser.error(f"FOLDER: {options.folder} is not a folder")
    if options.bin and not (options.bin / "cameo-worker").exists():
        parser.error(f"--bin: there is no cameo-worker in {options.bin}")
    if options.keep and options.keep.exists():
        parser.error(f"--keep: {options.keep} already exists")
    return options


def set_up(options):
    """Returns the folder of the commands, built if necessary."""
    if options.bin:
        return options.bin.resolve()
    configuration = "release" if options.no_kills or options.fleet else "debug"
    fleet = " --fleet" * options.fleet
    script = f". deploy/setup build test{' servers' * options.fleet} && deploy/build{fleet} {configuration}"
    build = subprocess.run(["bash", "-c", script], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    if build.returncode != 0:
        sys.exit("the build failed")
    return pathlib.Path(build.stdout.strip().splitlines()[-1])


def gather(options, originals):
    """Copies the pictures to the disk of the run, where each job gets a link of its own."""
    originals.mkdir()
    if options.folder:
        endings = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif", ".heic", ".tif", ".tiff", ".svg"}
        found = sorted(path for path in options.folder.rglob("*") if path.suffix.lower() in endings and path.is_file())
        for index, path in enumerate(found[:500]):
            shutil.copy(path, originals / f"{index:03d}{path.suffix.lower()}")
    else:
        large = originals.parent / "large"
        large.mkdir()
        subprocess.run([REPOSITORY / "deploy/samples", large], check=True)
        for path in sorted(large.iterdir()):
            for ending in ("jpg", "png", "webp"):
                small = originals / f"{path.stem}-{path.suffix[1:]}.{ending}"
                subprocess.run(["vipsthumbnail", path, "-s", "560x560", "-o", small], check=True, stderr=subprocess.DEVNULL)
        shutil.rmtree(large)
    pictures = sorted(originals.iterdir())
    if not pictures:
        sys.exit(f"there are no pictures in {options.folder}")
    return pictures


def soak_fleet(bin, folder, options, pictures):
    """Returns the exit code."""
    run = FleetRun(bin, folder, options, pictures, random.Random(options.seed))
    try:
        run.go(LineProgress())
        run.finish()
    finally:
        run.close()
        if options.keep:
            shutil.copytree(folder / "logs", options.keep)
    run.show()
    return 1 if run.failures() else 0


def main():
    options = arguments()

    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    bin = set_up(options)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cameo-soak-")).resolve()
    try:
        print(f"seed {options.seed}; gathering pictures", file=sys.stderr)
        pictures = gather(options, folder / "originals")
        if options.fleet:
            sys.exit(soak_fleet(bin, folder, options, pictures))
        run = Run(bin, folder, options, pictures, random.Random(options.seed))
        try:
            run.go(Progress())
            run.finish()
        finally:
            run.end_everything()
            if options.keep:
                shutil.copytree(folder, options.keep)
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        sys.exit(130)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    show(run)
    if failures(run):
        sys.exit(1)


main()
