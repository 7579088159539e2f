"""The report of a run."""

import sys
import time

# Failures that precede decoders. image.unsupportedFormat does not always, but is counted as such.
BEFORE_DECODER = {"image.unsupportedFormat", "request.invalid", "worker.lost", "job.timedOut"}


def report(run):
    decoded = sum(
        count
        for code, count in run.outcomes.items()
        if code not in BEFORE_DECODER and not code.startswith(("source.", "store."))
    )
    return {
        "seed": run.seed, "minutes": round(run.seconds / 60, 2), "inputs": run.ended, "intoDecoder": decoded,
        "intoDecoderShare": round(decoded / max(1, run.ended), 4),
        "outcomes": dict(run.outcomes.most_common()),
        "outcomesByFormat": {
            format: dict(counts.most_common()) for format, counts in sorted(run.by_format.items())
        },
        "rendererDeaths": dict(run.deaths.most_common()), "timeouts": run.timeouts,
        "renderTimeoutSeconds": run.options.render_timeout, "workerDeaths": run.worker_deaths,
        "unfinished": len(run.waiting), "unnamedFailures": run.unnamed,
        "slowest": {"milliseconds": run.slowest[0], "input": run.slowest[1], "mutations": run.slowest[2]},
        "peakMiB": {"worker": round(run.peaks[0]), "renderer": round(run.peaks[1])},
        "jobsPerSecond": round(run.ended / run.seconds, 1), "findings": run.kept,
        "findingsFolder": str(run.options.keep),
    }


def show(report):
    deaths = ", ".join(f"{signal} {count}" for signal, count in report["rendererDeaths"].items())
    rows = [
        (
            "inputs",
            f"{report['inputs']:,} in {report['minutes']:.1f} minutes, {report['jobsPerSecond']} jobs/s, "
            f"seed {report['seed']}",
        ),
        (
            "into a decoder",
            f"{report['intoDecoder']:,} ({100 * report['intoDecoderShare']:.1f} %): the header was handed to a decoder",
        ),
        *((f"  {code}", f"{count:,}") for code, count in report["outcomes"].items()),
        ("renderer deaths", f"{sum(report['rendererDeaths'].values())}{f' ({deaths})' if deaths else ''}"),
        ("timeouts", f"{report['timeouts']} (killed after {report['renderTimeoutSeconds']:g} s)"),
        ("worker deaths", str(report["workerDeaths"])),
        ("unfinished jobs", str(report["unfinished"])),
        ("unnamed failures", str(len(report["unnamedFailures"]))),
        (
            "slowest attempt",
            "{milliseconds:,} ms, input {input}: {mutations}".format(**report["slowest"]),
        ),
        ("largest memory", f"worker {report['peakMiB']['worker']} MiB, a renderer {report['peakMiB']['renderer']} MiB"),
        ("findings", f"{report['findings']} in {report['findingsFolder']}" if report["findings"] else "none"),
    ]
    for name, text in rows:
        print(f"{name:26}{text}")
    for line in report["unnamedFailures"][:20]:
        print(f"  unnamed: {line}")


def tell(line):
    """Prints over the previous line on a terminal, else below it."""
    onto = sys.stderr.isatty()
    print(f"\r\033[K{line}" if onto else line, end="" if onto else "\n", file=sys.stderr, flush=True)


class Progress:
    """A line that is redrawn on a terminal; elsewhere one line per minute."""

    def __init__(self):
        self.last, self.every = 0, 0.5 if sys.stderr.isatty() else 60

    def __call__(self, run):
        now = time.monotonic()
        if now - self.last < self.every:
            return
        self.last = now
        seconds = now - run.started
        line = (
            f"{seconds / 60:5.1f} of {run.options.minutes:g} minutes: {run.ended:,} inputs, "
            f"{run.ended / max(seconds, 0.1):.0f}/s, {run.outcomes['completed']:,} completed, "
            f"{sum(run.deaths.values())} renderer deaths, {run.timeouts} timeouts, {run.worker_deaths} worker deaths"
        )
        tell(line)
