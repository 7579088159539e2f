#!/usr/bin/env python3
"""Measures Cameo, beside what people use for the same work.

Without a command, or with `all`, it installs what it needs (Debian packages with apt, Python packages into an environment
of its own below .build, photographs from Debian's backgrounds), builds what is missing, measures everything in
interleaved rounds, and writes a report into a folder: report.md with tables, report.json with every figure, and plots
(SVG). Ratios say how many times as fast Cameo is. It exits with 1 if anything could not be measured; the report names it.
Nothing here is a test: machines are noisy, ratios are not.
"""
import argparse
import dataclasses
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True

from benching import backfill, environment, fleet, folder, jobs, latency, library, machine, queue, queues, reads, report, scale, video, web
from benching.measuring import Notes, progress
from benching.renditions import JOBS

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = {
    "jobs": "thumbnails of pictures, beside vipsthumbnail, pyvips, huey, RQ, thumbor and ImageMagick",
    "queue": "the queue without pictures, beside huey, persist-queue, litequeue, RQ and bare SQLite",
    "latency": "INSERT until claimed and until readable, idle and busy; an idle worker",
    "rows": "a job's cost among 1,000 to 1,000,000 others",
    "workers": "1 to 16 workers, 1 to 16 renderers",
    "memory": "memory over 100,000 jobs, and with photographs",
    "reads": "cameo-status cat, a URLSession, cameo-web",
}
EXAMPLES = """examples:
  deploy/bench                            everything, in half an hour or more; the report is in .build/bench/report
  deploy/bench --quick                    everything, with fewer pictures and rounds, in 5 minutes
  deploy/bench all --photos ~/Pictures --output /tmp/report
  deploy/bench all --only jobs reads      some parts:
{parts}
  deploy/bench all --only 640-256-jpeg    one of the jobs:
{jobs}
  deploy/bench ~/Pictures                 two jobs on all JPEGs of a folder, beside vipsthumbnail, with the memory used
  deploy/bench fleet --minutes 60         the queue on PostgreSQL, with an hour of jobs that come and go
"""


@dataclasses.dataclass
class Context:
    """What every part of the benchmark is told."""

    bin: pathlib.Path
    environment: environment.Environment
    notes: Notes
    quick: bool
    photos: pathlib.Path | None
    rounds: int | None


def arguments():
    parts = "\n".join(f"    {name:10}{what}" for name, what in PARTS.items())
    names = "\n".join(f"    {job.name:24}{job.title}" for job in JOBS)
    parser = argparse.ArgumentParser(
        prog="deploy/bench", description=__doc__, epilog=EXAMPLES.format(parts=parts, jobs=names),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--bin", type=pathlib.Path, metavar="FOLDER", help="use the programs in this folder instead of building them")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def command(name, what, **defaults):
        added = commands.add_parser(name, parents=[common], help=what, description=what)
        for option, default in defaults.items():
            added.add_argument(f"--{option}", type=int, default=default, metavar="N")
        return added

    everything = command("all", "everything (the default)", rounds=None)
    everything.add_argument("--quick", action="store_true", help="fewer pictures, rounds and jobs: 5 minutes")
    everything.add_argument("--photos", type=pathlib.Path, metavar="FOLDER", help="your photographs (JPEG) instead of Debian's")
    everything.add_argument("--output", type=pathlib.Path, metavar="FOLDER", help="where the report goes (default: .build/bench/report)")
    everything.add_argument("--cache", type=pathlib.Path, metavar="FOLDER", help="what is installed and fetched (default: .build/bench)")
    everything.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these parts or jobs")
    pictures = command("folder", "pictures of your own beside vipsthumbnail; `deploy/bench FOLDER` is short for it", rounds=3)
    pictures.add_argument("folder", type=pathlib.Path)
    pictures.add_argument("--pattern", default="*.jpg", help="the pictures below the folder (default: *.jpg)")
    command("queue", "the queue on its own: INSERTs, claims, an idle worker, a million jobs")
    command("library", "loads by a URLSession", rounds=3)
    command("web", "cameo-web beside nginx", rounds=3, minutes=0).add_argument("picture", type=pathlib.Path)
    command("video", "frames of videos beside ffmpegthumbnailer", rounds=3).add_argument("folder", type=pathlib.Path)
    command("backfill", "cameo-admin backfill over 100,000 thumbnails, with uploads meanwhile")
    many = command("fleet", "the queue of a fleet on a temporary PostgreSQL server, beside a bare loop in C", rounds=None)
    many.add_argument("--quick", action="store_true", help="fewer processes, rounds and jobs: 4 minutes")
    many.add_argument("--minutes", type=float, metavar="N", help="how long jobs come and go (default: 3, or half of one)")
    many.add_argument("--output", type=pathlib.Path, metavar="FOLDER", help="where the report goes (default: .build/bench/fleet)")
    many.add_argument("--only", nargs="+", default=[], metavar="NAME", choices=fleet.PARTS,
                      help=f"only these parts: {', '.join(fleet.PARTS)}")

    words = sys.argv[1:]
    known = {*commands.choices, "-h", "--help"}
    if not words or words[0] not in known:
        # Options alone are those of `all`; anything else is a folder of pictures.
        words = [("all" if not words or words[0].startswith("-") else "folder"), *words]
    options = parser.parse_args(words)
    needed = "cameo-queue-bench" if options.command == "fleet" else "cameo-worker"
    if options.bin and not (options.bin / needed).exists():
        parser.error(f"--bin: there is no {needed} in {options.bin}")
    if options.command == "fleet" and options.minutes is not None and options.minutes < 0.1:
        parser.error("--minutes: at least 0.1")
    if options.command == "all":
        if unknown := [name for name in options.only if name not in PARTS and name not in {job.name for job in JOBS}]:
            parser.error(f"--only: there is no {unknown[0]}; deploy/bench --help lists the names")
    return options


def programs(options, *more):
    """The folder of the programs, built if none was named."""
    if options.bin:
        return options.bin.resolve()
    progress("building (the first time takes some minutes)")
    built = subprocess.run([ROOT / "deploy" / "build"], stdout=subprocess.PIPE, text=True)
    if built.returncode:
        sys.exit("the build failed")
    for product in more:
        done = subprocess.run(["swift", "build", "-c", "release", "--product", product], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{done.stdout}\nthe build of {product} failed")
    return pathlib.Path(built.stdout.strip().splitlines()[-1])


def program_of_fleets(options):
    """The folder of cameo-queue-bench with the engine for fleets, built if none was named."""
    if options.bin:
        return options.bin.resolve()
    progress("building (the first time takes some minutes)")
    script = """
        . deploy/setup build fleet
        install_missing postgresql gcc libc6-dev
        export CAMEO_FLEET=1
        swift build -c release --product cameo-queue-bench >&2
        swift build -c release --show-bin-path
    """
    built = subprocess.run(["bash", "-euc", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if built.returncode:
        sys.exit("the build failed")
    return pathlib.Path(built.stdout.strip().splitlines()[-1])


# ----------------------------------------------------------------------------------------------------------- everything


def measure_everything(options):
    started = time.monotonic()
    notes = Notes()
    cache = (options.cache or ROOT / ".build" / "bench").resolve()
    output = (options.output or cache / "report").resolve()
    installed = environment.Environment(cache, notes)
    installed.install()
    chosen = {name for name in options.only if name in PARTS}
    chosen_jobs = {name for name in options.only if name not in PARTS}
    chosen = chosen | {"jobs"} if chosen_jobs else chosen or set(PARTS)
    products = [
        product for product, parts in (
            ("cameo-queue-bench", {"queue", "rows"}), ("cameo-library-bench", {"reads"}), ("cameo-web", {"reads"})
        ) if parts & chosen
    ]
    bin = programs(options, *products)
    context = Context(bin, installed, notes, options.quick, options.photos, options.rounds)
    result = {
        "date": machine.now(), "commit": machine.commit(ROOT), "quick": options.quick, "minutes": 0,
        "machine": machine.describe(ROOT, installed),
    }

    def written():
        result["minutes"] = round((time.monotonic() - started) / 60, 1)
        result["failed"], result["leftOut"] = notes.failed, notes.left_out
        return report.write(result, output)

    pictures = sets_of_pictures(context)
    measures = {
        "jobs": lambda: jobs.run(context, pictures, chosen_jobs),
        "queue": lambda: queues.run(context),
        "latency": lambda: latency.run(context, pictures.get("640", [])),
        "rows": lambda: scale.run_rows(context),
        "workers": lambda: scale.run_workers(context),
        "memory": lambda: scale.run_memory(context, pictures.get("photographs", [])),
        "reads": lambda: reads.run(context, pictures["photographs"]),
    }
    try:
        for part, measure in measures.items():
            if part not in chosen:
                continue
            began = time.monotonic()
            with notes.failures_of(part):
                result[part] = measure()
            progress(f"{part}: {time.monotonic() - began:.0f} s")
            written()
    finally:
        shutil.rmtree(installed.work, ignore_errors=True)
    print(written())
    print(f"The report is in {output}", file=sys.stderr)
    sys.exit(1 if notes.failed else 0)


def sets_of_pictures(context):
    with context.notes.failures_of("making the sets of pictures"):
        wanted = {}
        for job in JOBS:
            wanted[job.set] = max(wanted.get(job.set, 0), job.pictures[not context.quick])
        return context.environment.sets(context.photos, wanted)
    return {}


def main():
    options = arguments()

    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        match options.command:
            case "all": measure_everything(options)
            case "folder": folder.run(programs(options), options.folder, options.pattern, options.rounds)
            case "queue": queue.run(programs(options, "cameo-queue-bench"))
            case "library": library.run(programs(options, "cameo-library-bench"), options.rounds)
            case "web": web.run(programs(options, "cameo-web"), options.picture.resolve(), options.rounds, options.minutes)
            case "video": video.run(programs(options), options.folder.resolve(), options.rounds)
            case "backfill": backfill.run(programs(options))
            case "fleet": sys.exit(fleet.run(program_of_fleets(options), options))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


main()
