#!/usr/bin/env python3
"""deploy/fuzz MINUTES [--video] [--seed N] [--keep FOLDER] [--json]
deploy/fuzz store [--inputs N] [--seed N] [--keep FOLDER] [--json]

Feeds damaged pictures to a real worker and reports the outcomes. Sets up, builds, makes small pictures of every format
with the vips tools, damages them (flipped bits, truncation, splices, moved or forged chunks, boxes and directories;
drawings with huge numbers, nesting and entities), requests renditions with random options, and enqueues them by SQL in
batches. With --video the same is done with videos of every container and codec, made by ffmpeg.

With `store` instead of a time, it flips one bit in each of N copies of a store (2,000 unless told otherwise), and runs
workers, producers, reports, checks and repairs on it: none may crash or hang, and what a check finds sound must end.

Mutations and renditions are a function of the seed, which is printed, and the input's number. Inputs that crashed or
hung their renderer, or failed without a proper code, are kept. Exits with 1 if a worker died, a job was not finished, or
a failure had no code; otherwise with 0, whatever happened to renderers, because that is their purpose.
"""

import argparse
import json
import pathlib
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # leave no files in the repository

from fuzzing.fixtures import WEIGHTS, make_fixtures
from fuzzing.renditions import DRAWN
from fuzzing.report import Progress, report, show
from fuzzing.run import REPOSITORY, Run
from fuzzing.store import FAULTS, fuzz_store
from fuzzing.video import VIDEO_WEIGHTS, make_videos


def arguments():
    def time(text):
        return text if text == "store" else positive(text)

    def positive(text):
        number = float(text)
        if not 0 < number < 100_000:
            raise ValueError
        return number

    parser = argparse.ArgumentParser(prog="deploy/fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "minutes",
        metavar="MINUTES",
        type=time,
        help="how long to enqueue inputs; those in progress are then finished; or store",
    )
    parser.add_argument("--video", action="store_true", help="test videos instead of pictures")
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(10**9), help="repeat the mutations and renditions of that run"
    )
    parser.add_argument(
        "--keep",
        metavar="FOLDER",
        type=pathlib.Path,
        help="the folder for findings (default: fuzz-findings in the temporary folder)",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--allow-format", metavar="NAMES", action="append", default=[], help="also test jxl, pdf or jxl,pdf"
    )
    parser.add_argument("--formats", metavar="NAMES", help="test only these formats, comma-separated")
    parser.add_argument(
        "--render-timeout",
        type=positive,
        default=5,
        metavar="SECONDS",
        help="the worker's render timeout, low so that hangs cost little (default: 5)",
    )
    parser.add_argument("--inputs", type=int, metavar="N", help="stop after this many inputs")
    parser.add_argument(
        "--plain",
        action="store_true",
        help="request only size, fit, format and quality, to tell the decoder's faults from an option's",
    )
    parser.add_argument(
        "--bin", type=pathlib.Path, metavar="FOLDER", help="use the commands in this folder instead of building them"
    )
    options = parser.parse_args()
    options.allow_format = sorted({name for names in options.allow_format for name in names.split(",")})
    if unknown := set(options.allow_format) - {"jxl", "pdf"}:
        parser.error(f"--allow-format: must be jxl, pdf or both, not {', '.join(sorted(unknown))}")
    formats = set(VIDEO_WEIGHTS) if options.video else set(WEIGHTS) - {"jxl", "pdf"} | set(options.allow_format)
    if options.formats:
        wanted = set(options.formats.split(","))
        if not wanted <= formats:
            parser.error(f"--formats: unknown or not allowed: {', '.join(sorted(wanted - formats))}")
        formats = wanted
    if options.inputs is not None and options.inputs < 1:
        parser.error("--inputs: must be at least 1")
    for name in ["cameo-worker"] + ["cameo-frames"] * options.video:
        if options.bin and not (options.bin / name).exists():
            parser.error(f"--bin: there is no {name} in {options.bin}")
    options.keep = (options.keep or pathlib.Path(tempfile.gettempdir(), "fuzz-findings")).resolve()
    try:
        options.keep.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--keep: {error}")
    return options, formats


def set_up(options):
    """Returns the folder of the commands, built if necessary."""
    if options.bin:
        return options.bin.resolve()
    command = f". deploy/setup build test{' video-tests' * options.video} && deploy/build{' --video' * options.video}"
    build = subprocess.run(["bash", "-c", command], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    if build.returncode != 0:
        sys.exit("the build failed")
    return pathlib.Path(build.stdout.strip().splitlines()[-1])


def check_fields():
    """Exits if the schema has a rendition field that is never drawn."""
    schema = json.loads((REPOSITORY / "proto-json/thumbnail-request.schema.json").read_text())
    if missed := set(schema["$defs"]["rendition"]["properties"]) - DRAWN:
        sys.exit(f"deploy/fuzz does not draw these fields of a rendition: {', '.join(sorted(missed))}")


def main():
    options, formats = arguments()
    check_fields()

    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    run = None
    try:
        bin = set_up(options)
        if options.minutes == "store":
            with tempfile.TemporaryDirectory(prefix="cameo-fuzz-") as name:
                print(f"seed {options.seed}", file=sys.stderr)
                found = fuzz_store(bin, name, options.keep, options.seed, options.inputs or 2_000)
            print(json.dumps(found, indent=2) if options.json else "\n".join(f"{k}: {v}" for k, v in found.items()))
            sys.exit(any(found[kind] for kind in FAULTS))
        tool, package = ("ffmpeg", "ffmpeg") if options.video else ("vips", "libvips-tools")
        if not shutil.which(tool):
            sys.exit(f"{tool} is missing: apt-get install {package}")
        with tempfile.TemporaryDirectory(prefix="cameo-fuzz-") as name:
            folder = pathlib.Path(name).resolve()
            (folder / "work").mkdir()
            print(f"seed {options.seed}; generating {'videos' if options.video else 'pictures'}", file=sys.stderr)
            fixtures = (make_videos if options.video else make_fixtures)(folder / "work", formats)
            shutil.rmtree(folder / "work")
            run = Run(bin, folder, options, fixtures, options.seed)
            try:
                total, refused = run.prepare()
                print(f"{total} intact pictures, {refused} of them refused; damaging them", file=sys.stderr)
                run.go(Progress())
            finally:
                run.stop_worker()
                if run.database:
                    run.database.close()
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        sys.exit(130)
    except (RuntimeError, subprocess.CalledProcessError, sqlite3.Error) as error:
        sys.exit(f"\nthe run was aborted: {error}")
    if sys.stderr.isatty():
        print(file=sys.stderr)
    found = report(run)
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        show(found)
    if found["workerDeaths"] or found["unfinished"] or found["unnamedFailures"]:
        sys.exit(1)


main()
