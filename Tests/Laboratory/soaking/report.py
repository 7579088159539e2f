"""The report of a run."""

import statistics
import sys
import time

from fuzzing.report import tell

from soaking import jobs

# The growth allowed after the first fifth: resident MiB, descriptors, MiB of the log.
TOLERANCES = (12, 6, 8)
# The jobs that may be discarded: their workers were killed six times, or their renderers twice.
EXPLAINED = {"worker.lost", jobs.RENDERERS_KILLED}


def growth(run):
    """For memory, descriptors and the log: the maximum of the first fifth, and the median and maximum of the rest."""
    end = run.seconds / 5
    result = []
    for column in (1, 2, 3):
        first = [sample[column] for sample in run.samples if sample[0] < end]
        rest = [sample[column] for sample in run.samples if sample[0] >= end]
        result.append((max(first, default=0), statistics.median(rest) if rest else 0, max(rest, default=0)))
    return result


def failures(run):
    verdict = run.verdict
    found = list(dict.fromkeys(run.problems))
    for name in ("lost", "stuck", "duplicated"):
        if verdict[name]:
            found.append(f"{name}: jobs {', '.join(map(str, verdict[name][:10]))}")
    for code, count in verdict["reasons"].items():
        if code not in EXPLAINED:
            found.append(f"{count} jobs were discarded as {code}")
    for name, (first, median, largest), tolerance in zip(("memory", "descriptors", "log"), growth(run), TOLERANCES):
        if median > first + tolerance:
            found.append(f"{name} grew: {first:.0f} in the first fifth, {median:.0f} in the rest")
    return found


def show(run):
    verdict, counts = run.verdict, run.counts
    kills = {name.removeprefix("kill "): count for name, count in sorted(counts.items()) if name.startswith("kill ")}
    workers = sum(count for name, count in kills.items() if name != "renderer")
    memory, descriptors, log = growth(run)
    minutes = run.total_seconds / 60
    done = verdict["states"]["completed"]
    recoveries = sorted(run.recoveries)
    rows = [
        ("jobs done", f"{done:,} of {len(run.jobs.acknowledged):,} acknowledged, {done / run.total_seconds:.1f}/s"),
        *((f"  discarded {code}", f"{count}") for code, count in sorted(verdict["reasons"].items())),
        ("time", f"{minutes:.1f} minutes, seed {run.options.seed}"),
        ("workers killed", f"{workers}"),
        *((f"  {name}", f"{count}") for name, count in kills.items() if name != "renderer"),
        ("renderers killed", f"{kills.get('renderer', 0)}"),
        (
            "workers frozen",
            f"{counts['frozen']}, beyond their lease; {counts['jobs taken from the frozen']} of their jobs went to others",
        ),
        ("deletions refused", f"{counts['deletions refused']}"),
        ("storage faults", f"{sum(run.fired.values())}"),
        *((f"  {name}", f"{count}") for name, count in run.fired.items() if count),
        ("  refused with a reason", f"{sum(run.jobs.refusals.values())} enqueues, {counts['workers refused']} workers"),
        ("power cuts", f"{counts['power cuts']}"),
        ("storms of 16 producers", f"{counts['storms']}"),
        ("lost", f"{len(verdict['lost'])}"),
        ("stuck", f"{len(verdict['stuck'])}"),
        ("duplicated", f"{len(verdict['duplicated'])}"),
        (
            "slowest recovery",
            f"{recoveries[-1]:.0f} ms from a death until others had its jobs, median {statistics.median(recoveries):.0f} ms"
            if recoveries
            else "none",
        ),
        ("worker memory", "{:.0f} MiB at most in the first fifth; then median {:.0f}, {:.0f} at most".format(*memory)),
        ("worker descriptors", "{} at most in the first fifth; then median {:.0f}, {} at most".format(*descriptors)),
        ("write-ahead log", "{:.1f} MiB at most in the first fifth; then median {:.1f}, {:.1f} at most".format(*log)),
    ]
    if sys.stderr.isatty():
        print(file=sys.stderr)
    for name, text in rows:
        print(f"{name:26}{text}")
    for line in failures(run):
        print(f"FAILED: {line}")


class LineProgress:
    """A line that is redrawn on a terminal; elsewhere one line per minute."""

    def __init__(self):
        self.last, self.every = 0, 1 if sys.stderr.isatty() else 60

    def __call__(self, line):
        now = time.monotonic()
        if now - self.last >= self.every:
            self.last = now
            tell(line)


class Progress(LineProgress):
    """The line of a run."""

    def __call__(self, run, elapsed):
        kills = sum(count for name, count in run.counts.items() if name.startswith("kill ") and name != "kill renderer")
        super().__call__(
            f"{elapsed / 60:5.1f} of {run.options.minutes:g} minutes: {run.done:,} jobs, {kills} kills, "
            f"{sum(run.disk.fired().values())} faults, {run.counts['power cuts']} power cuts, "
            f"{len(run.problems)} problems"
        )
