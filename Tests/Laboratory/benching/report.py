"""A report: a file of JSON with every figure, and a page of tables in Markdown."""
import json
import shutil
import time

import lab
from lab import number, table

QUICK = """A quick run shows that everything works, and roughly what it costs. It has so few pictures that the starts of the processes
of vipsthumbnail and ImageMagick, which the others have behind them, are a large share of their time.
"""
RATIOS = """Figures are medians of interleaved rounds. A ratio says how many times as fast Cameo is (the median of the rounds' own
ratios): above 1, Cameo is faster.
"""


class Report:
    """NAME.json and NAME.md in a folder, rewritten after each part. Closing it prints the page."""

    def __init__(self, name, place, folder):
        self.name, self.place, self.folder, self.started = name, place, folder, time.monotonic()
        self.found = place.describe()

    def measure(self, part, act):
        lab.progress(part)
        began = time.monotonic()
        with self.place.failures_of(part):
            self.found[part] = act()
        lab.progress(f"{part}: {time.monotonic() - began:.0f} s")
        self.write()

    def write(self):
        self.found["minutes"] = round((time.monotonic() - self.started) / 60, 1)
        self.found["failed"], self.found["leftOut"] = self.place.failed, self.place.left_out
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{self.name}.json").write_text(json.dumps(self.found, indent=1, ensure_ascii=False) + "\n")
        page = self.page()
        (self.folder / f"{self.name}.md").write_text(page)
        return page

    def close(self):
        shutil.rmtree(self.place.work, ignore_errors=True)
        print(self.write())
        lab.progress(f"The report is in {self.folder}")

    @property
    def exit_code(self):
        return 1 if self.place.failed else 0

    def page(self):
        machine, whole = self.found["machine"], "quick" if self.found["quick"] else "whole"
        versions = [f"{name} {version}" for name, version in (machine["programs"] | machine["packages"]).items()]
        if "postgresql" in machine:
            versions = [f"PostgreSQL {machine['postgresql']} as `initdb` leaves it, on the same machine, by a Unix socket"]
        parts = [
            f"# {TITLES[self.name]}\n",
            f"{self.found['date']}, commit {self.found['commit']}, {whole} run of {self.found['minutes']} minutes.\n",
            "{processor}, {cores} cores, {memoryGiB} GiB, {system}, Linux {kernel}.\nA synced write of 4 KiB takes "
            "{syncMilliseconds} ms ({fileSystem}); load before: {loadAverage}.\n".format(**machine) + ", ".join(versions) + ".\n",
            RATIOS, *[QUICK] * (self.found["quick"] and self.name == "report"),
        ]
        for section, write in SECTIONS[self.name].items():
            if self.found.get(section):
                parts += write(self.found[section])
        for title, entries in (("Failed", self.place.failed), ("Left out", self.place.left_out)):
            if entries:
                parts += [f"## {title}\n", "".join(f"- {entry['what']}: {entry['reason']}\n" for entry in entries)]
        return "\n".join(parts)


# ---------------------------------------------------------------------------------------------------------- Everything


def jobs(found):
    """Whole jobs by every maker, Cameo first."""
    makers = {"cameo": "Cameo"} | {name: figure["label"] for job in found for name, figure in job["makers"].items()}
    others, same = ({name: label for name, label in makers.items() if name != left} for left in ("cameo", "vipsthumbnail"))

    def of(job, name, key, digits):
        return number(job["makers"].get(name, {}).get(key), digits)

    def spread(job):
        value = job["makers"].get("cameo", {}).get("spread")
        return "-" if value is None else f"{value * 100:.0f} %"

    def differences(job, name):
        return f"{of(job, name, 'meanDifference', 2)}, {of(job, name, 'largestDifference', 1)}" if name in job["makers"] else "-"

    def share(job, name):
        own, theirs = (job["makers"].get(maker, {}).get("bytes") for maker in (name, "vipsthumbnail"))
        return number(own / theirs if own and theirs else None, 2)

    return [
        "## Whole jobs\n",
        "From enqueueing to the last committed thumbnail, by workers that wait: Cameo's pictures a second, how far its rounds\n"
        "lie apart, the cores that it keeps busy, and ratios.\n",
        table(["job", "pictures", "Cameo /s", "spread", "busy cores", *(f"to {label}" for label in others.values())], [
            [job["title"], job["pictures"], of(job, "cameo", "picturesPerSecond", 1), spread(job), of(job, "cameo", "busyCores", 2),
             *(of(job, name, "ratio", 2) for name in others)] for job in found]),
        "Processor time of a picture in milliseconds, of everything that takes part:\n",
        table(["job", *makers.values()], [[job["title"], *(of(job, name, "cpuMilliseconds", 1) for name in makers)] for job in found]),
        "That it is the same work: difference from vipsthumbnail's pixels (of 255), on average and of the worst picture:\n",
        table(["job", *same.values()], [[job["title"], *(differences(job, name) for name in same)] for job in found]),
        "Bytes relative to vipsthumbnail's:\n",
        table(["job", *same.values()], [[job["title"], *(share(job, name) for name in same)] for job in found]),
    ]


def queues(section):
    found = section["queues"].values()
    singles, works = (sorted({count for queue in found for count in queue[what]}) for what in ("single", "work"))
    rows = [[queue["label"], *(number(queue["single"].get(count)) for count in singles), number(queue.get("bulk")),
             *(number(queue["work"].get(count)) + "*" * (count in queue["repeated"]) for count in works)] for queue in found]
    notes = [f"- {queue['label']} {queue['note']}\n" for queue in found if queue.get("note")]
    notes += [f"- \\* {queue['label']}: {count} processes were given {again} jobs more than once, which are counted once\n"
              for queue in found for count, again in queue["repeated"].items()]
    head = ["queue", *(f"put singly, {count}" for count in singles), "in bulk", *(f"claim + complete, {count}" for count in works)]
    return ["## The queue alone\n", "Jobs a second by so many processes, durable before a call returns.\n", table(head, rows),
            "".join(notes)]


def values(found, keys):
    """The figures of keys such as `name:digits`."""
    return [number(found[key], int(digits or 0)) for key, _, digits in (word.partition(":") for word in keys.split())]


def latency(section):
    rows = [[f"INSERT until {what}, {name}", *values(section[when][what], "p50:1 p99:1 slowest:1")]
            for when, name in (("idle", "idle worker"), ("busy", "beside a backlog of pictures")) if when in section
            for what in ("claimed", "readable")]
    return ["## Latency\n", f"In milliseconds. An idle worker and its renderers use {section['idleCores'] * 100:.2f} % of a core.\n",
            table(["what", "p50", "p99", "slowest"], rows)]


def rows(points):
    keys = "enqueueMicroseconds:1 completeMicroseconds:1 laterEnqueueMicroseconds:1 laterCompleteMicroseconds:1 claimMilliseconds:1 " \
           "statusMilliseconds:1"
    head = ["jobs", "enqueue us", "complete us", "enqueue beside ended us", "complete beside ended us", "claim of 32 ms", "status ms"]
    return ["## Many jobs\n", "What a job costs among so many others, without pictures. Enqueueing includes the command's start.\n",
            table(head, [[number(point["rows"]), *values(point, keys)] for point in points])]


def workers(section):
    return ["## Many workers\n", "Jobs for pictures of 16 x 16, by workers x renderers of each.\n",
            table(["workers", "jobs a second", "CPU ms a job"], [
                ["{workers} x {renderers}".format(**point), *values(point, "jobsPerSecond:1 cpuMilliseconds:2")]
                for point in section["processes"] + section["renderers"]])]


def memory(section):
    names = {"tiny": "pictures of 16 x 16", "photographs": "photographs to 1024 JPEG"}
    return ["## Memory\n", "Resident MiB; slopes in MiB for 10,000 jobs, after the first fifth.\n",
            table(["jobs", "jobs a second", "worker peak", "worker slope", "largest renderer", "its slope"], [
                [f"{part['jobs']:,} {names[name]}", *values(part, "jobsPerSecond:1 workerPeak:1 workerSlope:2 rendererPeak:1 rendererSlope:2")]
                for name, part in section.items()])]


def reads(section):
    lines = []
    if cat := section.get("cat"):
        lines.append([f"cameo-status cat, {cat['bytes'] / 1024:.0f} KiB", f"{cat['cameo']['p50']} ms",
                      f"{cat['cat']['p50']} ms by cat of a file"])
    for load in section.get("URLSession", ()):
        lines.append([f"URLSession, {load['bytes'] / 1024:.0f} KiB", f"{load['first']:.0f} us", f"{load['again']:.0f} us again"])
    if http := section.get("HTTP"):
        for key, what in (("whole", f"cameo-web, {http['bytes'] / 1024:.0f} KiB"), ("304", "cameo-web, If-None-Match")):
            lines.append([what, f"{http[key]['cameoWeb']:,.0f}/s", f"{http[key]['nginx']:,.0f}/s by nginx"])
    return ["## Reads\n", table(["thumbnail", "Cameo", "beside it"], lines)]


# ------------------------------------------------------------------------------------------------------------- A fleet

COSTS = {
    "enqueue": "enqueued, 1,000 a call", "complete": "claimed and completed, 32 at a time", "complete1": "claimed and completed singly",
    "thumbnail": "the same with a thumbnail of 15,000 bytes, 32 at a time",
}
RATES = """Jobs a second, without pictures, by processes that begin at one time. The loops are a C program with one connection a
process. One UPDATEs each job twice; the other moves it to tables of outcomes and attempts, as Cameo does. Cameo also
keeps counts, a feed of changes and leases. `4 x 32`: four loops in each process, so that one claims while others
complete, as in a busy worker, beside four times as many of the other processes.
"""
CHURN = """{jobs:,} jobs enqueued, claimed and completed in {minutes} minutes ({jobsPerSecond:,} a second), about 2,000 waiting, with
the schema's autovacuum. Slopes after the first fifth. A claim of 32 took {claim[first]} ms in the first fifth of the time and
{claim[last]} ms in the last (medians), the slowest {claim[slowest]} ms.
"""
NOTIFIED = """From the commit of an INSERT until an idle worker, which is notified, has claimed its job: p50 {p50} ms, p99 {p99} ms,
slowest {slowest} ms. That worker took {idle[server]} ms of the server's processor time a second before, and {idle[client]} of its own.
"""


def rates(cells):
    head = ["processes", "at a time", "Cameo /s", "a loop that marks /s", "ratio", "a loop that moves /s", "ratio"]
    rows = [[cell["processes"], "4 x 32" if cell["batch"] == "pool" else cell["batch"], *values(cell["cameo"], "jobsPerSecond"),
             *(value for loop in ("mark", "move") for value in values(cell[loop], "jobsPerSecond ratio:2"))] for cell in cells]
    return ["## Claimed and completed\n", RATES, table(head, rows)]


def history(points):
    head = ["jobs that have ended", f"claim of {points[0]['claimOf']} ms", "slowest ms", "claim + complete us a job"]
    return ["## Beside history\n", "With 100,000 jobs that wait.\n", table(head, [
        values(point, "rows claimMilliseconds:2 slowestMilliseconds:2 jobMicroseconds:1") for point in points])]


def churn(section):
    return ["## Churn\n", CHURN.format(**section), table(["table", "largest MiB", "MiB a minute", "most dead rows"], [
        [f"`{name}`", *values(figures, "largestMiB:1 slopeMiB:3 mostDead")] for name, figures in section["tables"].items()])]


def enqueueing(section):
    singles = [[f"single INSERTs by {clients} clients of pgbench", number(rate)] for clients, rate in section["single"].items()]
    return ["## Enqueued\n", table(["how", "jobs a second"], [["by Cameo, 1,000 a call", number(section["bulk"])], *singles])]


def notified(section):
    return ["## Latency\n", NOTIFIED.format(**section)]


def costs(section):
    return ["## What a job costs\n", "After a checkpoint, so that the log has whole pages too. Processor time in microseconds.\n",
            table(["a job", "bytes of log", "transactions", "server us", "Cameo us"], [
                [COSTS[name], *values(figures, "log transactions:2 server client")] for name, figures in section.items()])]


def sizes(section):
    return ["## Bytes a row\n", table(["table", "rows", "bytes in the table", "bytes in its indexes"], [
        [f"`{name}`", number(figures["rows"]), *(number(figures[what] / figures["rows"]) for what in ("heap", "indexes"))]
        for name, figures in section.items()])]


TITLES = {"report": "Cameo's benchmark", "fleet": "The queue of a fleet"}
SECTIONS = {
    "report": {"jobs": jobs, "queue": queues, "latency": latency, "rows": rows, "workers": workers, "memory": memory, "reads": reads},
    "fleet": {"rates": rates, "churn": churn, "enqueueing": enqueueing, "latency": notified, "costs": costs, "sizes": sizes,
              "history": history},
}
