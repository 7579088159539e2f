"""Measures Cameo, beside what people use for the same work.

Without a command, or with `all`, it installs what it needs (Debian packages with apt, Python packages into an
environment of its own below .build, photographs from Debian's backgrounds), builds what is missing, measures everything
in interleaved rounds, and writes a report into a folder: report.md with tables, and report.json with every figure.
Ratios say how many times as fast Cameo is. It exits with 1 if anything could not be measured; the report names it.
Nothing here is a test: machines are noisy, ratios are not.
"""
import contextlib
import pathlib
import sys

import lab
from benching import backfill, fleet, folder, jobs, library, place, queue, report, scale, web
from benching.renditions import JOBS, sets_wanted

PARTS = {
    "jobs": "thumbnails of pictures, beside vipsthumbnail, pyvips, huey, RQ, thumbor and ImageMagick",
    "latency": "INSERT until claimed and until readable, idle and busy; an idle worker",
    "workers": "1 to 16 workers, 1 to 16 renderers",
    "memory": "memory over 100,000 jobs, and with photographs",
}
EXAMPLES = """examples:
  deploy/bench                            everything, in half an hour or more; the report is in .build/bench/report
  deploy/bench --quick                    everything, with fewer pictures and rounds, in 5 minutes
  deploy/bench all --photos ~/Pictures --output /tmp/report
  deploy/bench --baseline last.json       what has become slower since that run's report.json
  deploy/bench all --only jobs latency    some parts:
{parts}
  deploy/bench all --only 640-256-jpeg    one of the jobs:
{jobs}
  deploy/bench ~/Pictures                 two jobs on all JPEGs of a folder, beside vipsthumbnail
  deploy/bench fleet --minutes 60         the queue on PostgreSQL, with an hour of jobs that come and go
"""
# What each measures, its default rounds, if it has any, and the products that it needs.
COMMANDS = {
    "all": ("everything (the default)", None),
    "folder": ("pictures of your own beside vipsthumbnail; `deploy/bench FOLDER` is short for it", 3),
    "queue": ("the queue on its own: INSERTs, claims, an idle worker, a million jobs", 0, "cameo-queue-bench"),
    "library": ("loads by a URLSession", 3, "cameo-library-bench"),
    "web": ("cameo-web beside nginx", 3, "cameo-web"),
    "video": ("frames of videos beside ffmpegthumbnailer", 3),
    "backfill": ("cameo-admin backfill over 100,000 thumbnails, with uploads meanwhile", 0),
    "fleet": ("the queue of a fleet on a temporary PostgreSQL server, beside a bare loop in C", None),
}
FLEET = """
    . deploy/setup build fleet
    install_missing postgresql gcc libc6-dev
    export CAMEO_FLEET=1
    swift build -c release --product cameo-queue-bench >&2
    swift build -c release --show-bin-path
"""


def arguments():
    parts = "\n".join(f"    {name:10}{what}" for name, what in PARTS.items())
    names = "\n".join(f"    {job.name:24}{job.title}" for job in JOBS)
    parser = lab.parser("bench", __doc__, epilog=EXAMPLES.format(parts=parts, jobs=names))
    commands, options_of = parser.add_subparsers(dest="command", metavar="COMMAND"), {}
    for name, (what, rounds, *_) in COMMANDS.items():
        options_of[name] = add = commands.add_parser(name, help=what, description=what).add_argument
        lab.add_bin(add)
        if rounds != 0:
            add("--rounds", type=int, default=rounds, metavar="N")
    for name, known, where in (("all", [*PARTS, *(job.name for job in JOBS)], "report"),
                               ("fleet", fleet.PARTS, "fleet")):
        add = options_of[name]
        add("--quick", action="store_true", help="fewer pictures, processes, rounds and jobs: 5 minutes")
        add("--output", type=pathlib.Path, metavar="FOLDER",
            help=f"where the report goes (default: .build/bench/{where})")
        add("--baseline", type=lab.report, metavar="FILE",
            help="the .json of an earlier run; what has become slower by more than the noise of both is a table")
        add("--only", nargs="+", default=[], metavar="NAME", choices=known,
            help="only these parts or jobs: " + ", ".join(known))
    options_of["all"]("--photos", type=pathlib.Path, metavar="FOLDER", help="your photographs (JPEG), not Debian's")
    options_of["folder"]("folder", type=pathlib.Path)
    options_of["web"]("--minutes", type=int, default=0, metavar="N")
    options_of["web"]("picture", type=pathlib.Path)
    options_of["video"]("folder", type=pathlib.Path)
    options_of["fleet"]("--minutes", type=lab.positive, metavar="N",
                        help="how long jobs come and go (default: 3, or half of one)")

    words = sys.argv[1:]
    if not words or words[0] not in {*COMMANDS, "-h", "--help"}:
        # Options alone are those of `all`; anything else is a folder of pictures.
        words = [("all" if not words or words[0].startswith("-") else "folder"), *words]
    options = parser.parse_args(words)
    if getattr(options, "baseline", None) and options.baseline.get("quick") != options.quick:
        parser.error("--baseline is of a quick run, and this one is not, or the other way round")
    return options


def programs(options, *products):
    """The folder of the programs, built if none was named."""
    if options.command == "fleet":
        return lab.built(options, FLEET, "cameo-queue-bench")
    more = [f'log=$(swift build -c release --product {name} 2>&1) || {{ echo "$log" >&2; exit 1; }}'
            for name in products]
    return lab.built(options, "\n".join(["bin=$(deploy/build)", *more, 'echo "$bin"']), "cameo-worker")


def measure_everything(options):
    context = place.Place(options)
    if sys.prefix != str(context.python.parents[1]):
        context.install()
    parts, chosen_jobs = set(options.only) & PARTS.keys(), set(options.only) - PARTS.keys()
    parts = parts | {"jobs"} if chosen_jobs else parts or set(PARTS)
    context.bin = programs(options)
    pictures, output = {}, (options.output or context.folder / "report").resolve()
    with contextlib.closing(report.Report("report", context, output)) as page:
        with context.failures_of("making the sets of pictures"):
            pictures = context.sets(sets_wanted(context.quick))

        def measured(act, kind="photographs"):
            with scale.Scale.temporary(context.bin, context.work, reports=True) as bench:
                return act(bench, context.quick, pictures.get(kind, []))

        def latency():
            found = measured(scale.Scale.latency, "640")
            if "busy" in found and not found["busy"]["backlog"][1]:
                context.fail("latency beside a backlog", "the backlog was done before the measurement")
            return found

        measures = {
            "jobs": lambda: jobs.run(context, pictures, chosen_jobs), "latency": latency,
            "workers": lambda: measured(scale.Scale.many_workers), "memory": lambda: measured(scale.Scale.memory),
        }
        for part, measure in measures.items():
            if part in parts:
                page.measure(part, measure)
    return 1 if context.failed else 0


def main():
    options = arguments()
    if options.command == "all":
        return measure_everything(options)
    bin = programs(options, *COMMANDS[options.command][2:])
    try:
        match options.command:
            case "folder": folder.run(bin, options.folder, options.rounds)
            case "queue": queue.run(bin)
            case "library": library.run(bin, options.rounds)
            case "web": web.run(bin, options.picture.resolve(), options.rounds, options.minutes)
            case "video": folder.run_videos(bin, options.folder.resolve(), options.rounds)
            case "backfill": backfill.run(bin)
            case "fleet": return fleet.run(bin, options)
    except lab.Unmeasured as error:
        sys.exit(str(error))


if __name__ == "__main__":  # and not in the processes of a pool
    lab.main(main)
