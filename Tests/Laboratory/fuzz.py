"""deploy/fuzz MINUTES [--video] [--seed N] [--keep FOLDER] [--json]
deploy/fuzz store [--inputs N] [--seed N] [--keep FOLDER] [--json]

Feeds damaged pictures to a real worker and reports the outcomes. Sets up, builds, makes small pictures of every format
with the vips tools, damages them (flipped bits, truncation, splices, moved or forged chunks, boxes and directories;
drawings with huge numbers, nesting and entities), requests renditions with random options, and enqueues them by SQL in
batches. With --video the same is done with videos of every container and codec, made by ffmpeg.

With `store` instead of a time, it flips one bit in each of N copies of a store (2,000 unless told otherwise), and runs
workers, producers, reports, checks and repairs on it: none may crash or hang, and what a check finds sound must end.

Mutations and renditions are a function of the seed, which is printed, and the input's number. Inputs that crashed or
hung their renderer, or failed without a proper code, are kept. Exits with 1 if a worker died, a job was not finished,
or a failure had no code; otherwise with 0, whatever happened to renderers, because that is their purpose.
"""
import contextlib
import json
import pathlib
import secrets
import sqlite3
import subprocess
import sys
import tempfile

import lab
from fuzzing.fixtures import make_pictures, make_videos
from fuzzing.run import Run
from fuzzing.store import FAULTS, fuzz_store


def arguments():
    parser = lab.parser("fuzz", __doc__)
    add = parser.add_argument
    lab.add_bin(add)
    add("minutes", metavar="MINUTES", type=lambda text: text if text == "store" else lab.positive(text),
        help="how long to enqueue inputs; those in progress are then finished; or store")
    add("--video", action="store_true", help="test videos instead of pictures")
    add("--seed", type=int, default=secrets.randbelow(10**9), help="repeat the mutations and renditions of that run")
    add("--keep", metavar="FOLDER", type=lambda path: pathlib.Path(path).resolve(),
        default=f"{tempfile.gettempdir()}/fuzz-findings", help="the folder for findings (default: %(default)s)")
    add("--json", action="store_true", help="print the report as JSON")
    add("--allow-format", action="append", default=[], choices=["jxl", "pdf"], help="also test jxl or pdf")
    add("--inputs", type=int, metavar="N", help="stop after this many inputs")
    options = parser.parse_args()
    if options.inputs is not None and options.inputs < 1:
        parser.error("--inputs: at least 1")
    try:
        options.keep.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--keep: {error}")
    return options


def fuzz(bin, folder, options):
    """Returns the report."""
    lab.need(*(("ffmpeg", "ffmpeg") if options.video else ("vips", "libvips-tools")))
    lab.progress(f"generating {'videos' if options.video else 'pictures'}")
    with tempfile.TemporaryDirectory(dir=folder) as work:
        fixtures = make_videos(work) if options.video else make_pictures(work, options.allow_format)
    with contextlib.closing(Run(bin, folder, options, fixtures)) as run:
        run.prepare()
        run.go()
    return run.report()


def main():
    options = arguments()
    sets, video = " video-tests" * options.video, " --video" * options.video
    bin = lab.built(options, f". deploy/setup build test{sets}\ndeploy/build{video}",
                    "cameo-worker", *["cameo-frames"] * options.video)
    lab.progress(f"seed {options.seed}")
    try:
        with tempfile.TemporaryDirectory(prefix="cameo-fuzz-") as name:
            folder = pathlib.Path(name).resolve()
            if options.minutes == "store":
                kinds, found = FAULTS, fuzz_store(bin, folder, options.keep, options.seed, options.inputs or 2_000)
            else:
                kinds, found = ("workerDeaths", "unfinished", "unnamedFailures"), fuzz(bin, folder, options)
    except (RuntimeError, subprocess.CalledProcessError, sqlite3.Error) as error:
        sys.exit(f"\nthe run was aborted: {error}")
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        lab.show_figures(found)
    return any(found[kind] for kind in kinds)


lab.main(main)
