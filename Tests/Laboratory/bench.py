"""Measures Cameo, beside what people use for the same work.

Without a command, or with `all`, it installs what it needs (Debian packages with apt, Python packages into an environment
of its own below .build, photographs from Debian's backgrounds), builds what is missing, measures everything in
interleaved rounds, and writes a report into a folder: report.md with tables, and report.json with every figure. Ratios
say how many times as fast Cameo is. It exits with 1 if anything could not be measured; the report names it. Nothing here
is a test: machines are noisy, ratios are not.
"""
import contextlib
import pathlib
import sys

import lab
from benching import backfill, fleet, folder, jobs, place, queue, queues, reads, report, scale, web
from benching.renditions import JOBS, sets_wanted

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
# name: what it measures, default rounds, whether it takes --quick, --output and --only, the products that it needs
COMMANDS = {
    "all": ("everything (the default)", None, True),
    "folder": ("pictures of your own beside vipsthumbnail; `deploy/bench FOLDER` is short for it", 3, False),
    "queue": ("the queue on its own: INSERTs, claims, an idle worker, a million jobs", 0, False, "cameo-queue-bench"),
    "library": ("loads by a URLSession", 3, False, "cameo-library-bench"),
    "web": ("cameo-web beside nginx", 3, False, "cameo-web"),
    "video": ("frames of videos beside ffmpegthumbnailer", 3, False),
    "backfill": ("cameo-admin backfill over 100,000 thumbnails, with uploads meanwhile", 0, False),
    "fleet": ("the queue of a fleet on a temporary PostgreSQL server, beside a bare loop in C", None, True),
}
FLEET = """
    . deploy/setup build fleet
    install_missing postgresql gcc libc6-dev
    export CAMEO_FLEET=1
    swift build -c release --product cameo-queue-bench >&2
    swift build -c release --show-bin-path
"""


def arguments():
    listed = {"parts": PARTS.items(), "jobs": [(job.name, job.title) for job in JOBS]}
    lists = {name: "\n".join(f"    {word:{10 if name == 'parts' else 24}}{what}" for word, what in rows) for name, rows in listed.items()}
    parser = lab.parser("bench", __doc__, epilog=EXAMPLES.format(**lists), has_bin=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    options_of = {}
    for name, (what, rounds, reports, *_) in COMMANDS.items():
        options_of[name] = add = commands.add_parser(name, help=what, description=what).add_argument
        lab.add_bin(add)
        if rounds != 0:
            add("--rounds", type=int, default=rounds, metavar="N")
        if reports:
            add("--quick", action="store_true", help="fewer pictures, processes, rounds and jobs: 5 minutes")
            add("--output", type=pathlib.Path, metavar="FOLDER",
                help=f"where the report goes (default: .build/bench/{'report' if name == 'all' else name})")
            add("--only", nargs="+", default=[], metavar="NAME", choices=fleet.PARTS if name == "fleet" else None,
                help="only these parts" + (f": {', '.join(fleet.PARTS)}" if name == "fleet" else " or jobs"))
    options_of["all"]("--photos", type=pathlib.Path, metavar="FOLDER", help="your photographs (JPEG) instead of Debian's")
    options_of["all"]("--cache", type=pathlib.Path, metavar="FOLDER", help="what is installed and fetched (default: .build/bench)")
    options_of["folder"]("folder", type=pathlib.Path)
    options_of["folder"]("--pattern", default="*.jpg", help="the pictures below the folder (default: *.jpg)")
    options_of["web"]("--minutes", type=int, default=0, metavar="N")
    options_of["web"]("picture", type=pathlib.Path)
    options_of["video"]("folder", type=pathlib.Path)
    options_of["fleet"]("--minutes", type=float, metavar="N", help="how long jobs come and go (default: 3, or half of one)")

    words = sys.argv[1:]
    if not words or words[0] not in {*COMMANDS, "-h", "--help"}:
        # Options alone are those of `all`; anything else is a folder of pictures.
        words = [("all" if not words or words[0].startswith("-") else "folder"), *words]
    options = parser.parse_args(words)
    lab.check_bin(options, parser.error, "cameo-queue-bench" if options.command == "fleet" else "cameo-worker")
    if options.command == "fleet" and options.minutes is not None and options.minutes < 0.1:
        parser.error("--minutes: at least 0.1")
    if options.command == "all":
        if unknown := [name for name in options.only if name not in PARTS and name not in {job.name for job in JOBS}]:
            parser.error(f"--only: there is no {unknown[0]}; deploy/bench --help lists the names")
    return options


def programs(options, *products):
    """The folder of the programs, built if none was named."""
    if options.command == "fleet":
        return lab.built(options, FLEET)
    more = "".join(f"\nlog=$(swift build -c release --product {name} 2>&1) || {{ echo \"$log\" >&2; exit 1; }}" for name in products)
    return lab.built(options, f"bin=$(deploy/build){more}\necho \"$bin\"")


def measure_everything(options):
    cache = (options.cache or lab.ROOT / ".build" / "bench").resolve()
    context = place.Place(cache, options)
    context.install()
    chosen = {name for name in options.only if name in PARTS}
    chosen_jobs = {name for name in options.only if name not in PARTS}
    chosen = chosen | {"jobs"} if chosen_jobs else chosen or set(PARTS)
    products = {"cameo-queue-bench": {"queue", "rows"}, "cameo-library-bench": {"reads"}, "cameo-web": {"reads"}}
    context.bin = programs(options, *(product for product, parts in products.items() if parts & chosen))
    pictures = {}
    with contextlib.closing(report.Report("report", context, (options.output or cache / "report").resolve())) as page:
        with context.failures_of("making the sets of pictures"):
            pictures = context.sets(sets_wanted(context.quick))

        def measured(bench, kind="photographs"):
            with bench.temporary(context.bin, context.work, reports=True) as made:
                return made.measure(context.quick, pictures.get(kind, []))

        def latency():
            found = measured(scale.Latency, "640")
            if "busy" in found and not found["busy"]["backlog"][1]:
                context.fail("latency beside a backlog", "the backlog was done before the measurement")
            return found

        measures = {
            "jobs": lambda: jobs.run(context, pictures, chosen_jobs), "queue": lambda: queues.run(context), "latency": latency,
            "rows": lambda: measured(scale.Rows), "workers": lambda: measured(scale.Workers),
            "memory": lambda: measured(scale.Memory), "reads": lambda: reads.run(context, pictures["photographs"]),
        }
        for part, measure in measures.items():
            if part in chosen:
                page.measure(part, measure)
    return page.exit_code


def main():
    options = arguments()
    if options.command == "all":
        return measure_everything(options)
    bin = programs(options, *COMMANDS[options.command][3:])
    try:
        match options.command:
            case "folder": folder.run(bin, options.folder, options.pattern, options.rounds)
            case "queue": queue.run(bin)
            case "library": reads.run_library(bin, options.rounds)
            case "web": web.run(bin, options.picture.resolve(), options.rounds, options.minutes)
            case "video": folder.run_videos(bin, options.folder.resolve(), options.rounds)
            case "backfill": backfill.run(bin)
            case "fleet": return fleet.run(bin, options)
    except lab.Unmeasured as error:
        sys.exit(str(error))


lab.main(main)
