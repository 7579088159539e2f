"""The report about the queue of a fleet: fleet.json, a page of tables in Markdown, and plots."""
import json

from benching import plots
from benching.report import MARK, number, table

MIB = 2**20
LOOPS = {"mark": "a loop that marks", "move": "a loop that moves"}
COSTS = {
    "enqueue": "enqueued, 1,000 a call", "complete": "claimed and completed, 32 at a time", "complete1": "claimed and completed singly",
    "thumbnail": "the same with a thumbnail of 15,000 bytes, 32 at a time",
}


def write(report, folder):
    """Writes all files of the report; returns the page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fleet.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    text = page(report)
    for name, drawing in drawings(report).items():
        if drawing:
            (folder / f"{name}.svg").write_text(drawing)
            text += f"\n![]({name}.svg)\n"
    (folder / "fleet.md").write_text(text)
    return text


def page(report):
    machine = report["machine"]
    parts = [
        "# The queue of a fleet\n",
        f"{report['date']}, commit {report['commit']}, {'quick' if report['quick'] else 'whole'} run of {report['minutes']} minutes.\n",
        f"{machine['processor']}, {machine['cores']} cores, {machine['memoryGiB']} GiB, {machine['system']}, Linux {machine['kernel']}. "
        f"PostgreSQL {machine['postgresql']} as `initdb` leaves it, on the same machine, by a Unix socket.\n"
        f"A synced write of 4 KiB takes {machine['syncMilliseconds']} ms ({machine['fileSystem']}); load before: {machine['loadAverage']}.\n",
    ]
    for name, write_section in SECTIONS.items():
        if report.get(name):
            parts += write_section(report[name])
    if report["failed"]:
        parts.append("## Failed\n")
        parts.append("\n".join(f"- {entry['what']}: {entry['reason']}" for entry in report["failed"]) + "\n")
    return "\n".join(parts)


def rates(cells):
    rows = []
    for cell in cells:
        what = "4 x 32" if cell["batch"] == "pool" else str(cell["batch"])
        row = [cell["processes"], what, number(cell["cameo"]["jobsPerSecond"])]
        for loop in LOOPS:
            row += [number(cell[loop]["jobsPerSecond"]), number(cell[loop]["ratio"], 2)] if loop in cell else [MARK, MARK]
        rows.append(row)
    head = ["processes", "at a time", "Cameo /s"] + [word for label in LOOPS.values() for word in (f"{label} /s", "ratio")]
    return [
        "## Claimed and completed\n",
        "Jobs a second, without pictures, by processes that begin at one time; medians of interleaved rounds, and of the rounds'\n"
        "own ratios. The loops are a C program with one connection a process. One UPDATEs each job twice; the other moves it to\n"
        "tables of outcomes and attempts, as Cameo does. Cameo also keeps counts, a feed of changes and leases. `4 x 32`: four\n"
        "loops in each process, so that one claims while others complete, as in a busy worker, beside four times as many of the\n"
        "other processes.\n",
        table(head, rows),
    ]


def history(points):
    rows = [[f"{point['rows']:,}", number(point["claimMilliseconds"], 2), number(point["slowestMilliseconds"], 2),
             number(point["jobMicroseconds"], 1)] for point in points]
    head = ["jobs that have ended", f"claim of {points[0]['claimOf']} ms", "slowest ms", "claim + complete us a job"]
    return ["## Beside history\n", "With 100,000 jobs that wait.\n", table(head, rows)]


def churn(section):
    rows = [[f"`{name}`", number(figures["largestMiB"], 1), f"{figures['slopeMiB']:+.3f}", number(figures["mostDead"])]
            for name, figures in section["tables"].items()]
    claim = section["claim"]
    return [
        "## Churn\n",
        f"{section['jobs']:,} jobs enqueued, claimed and completed in {section['minutes']} minutes ({section['jobsPerSecond']:,} a second),\n"
        "about 2,000 waiting, with the schema's autovacuum. Slopes after the first fifth. A claim of 32 took "
        f"{claim['first']} ms in the\nfirst fifth of the time and {claim['last']} ms in the last (medians), the slowest {claim['slowest']} ms.\n",
        table(["table", "largest MiB", "MiB a minute", "most dead rows"], rows),
    ]


def enqueueing(section):
    rows = [["by Cameo, 1,000 a call", number(section["bulk"])]]
    rows += [[f"single INSERTs by {clients} clients of pgbench", number(rate)] for clients, rate in section["single"].items()]
    return ["## Enqueued\n", table(["how", "jobs a second"], rows)]


def latency(section):
    return ["## Latency\n", "From the commit of an INSERT until an idle worker, which is notified, has claimed its job: "
            f"p50 {section['p50']} ms, p99 {section['p99']} ms,\nslowest {section['slowest']} ms. That worker took "
            f"{section['idle']['server']} ms of the server's processor time a second before, and {section['idle']['client']} of its own.\n"]


def costs(section):
    rows = [[what, number(section[name]["log"]), number(section[name]["transactions"], 2), number(section[name]["server"]),
             number(section[name]["client"])] for name, what in COSTS.items() if name in section]
    head = ["a job", "bytes of log", "transactions", "server us", "Cameo us"]
    return ["## What a job costs\n", "After a checkpoint, so that the log has whole pages too. Processor time in microseconds.\n",
            table(head, rows)]


def sizes(section):
    rows = [[f"`{name}`", number(figures["rows"]), number(figures["heap"] / figures["rows"]),
             number(figures["indexes"] / figures["rows"])] for name, figures in section.items()]
    return ["## Bytes a row\n", table(["table", "rows", "bytes in the table", "bytes in its indexes"], rows)]


SECTIONS = {"rates": rates, "churn": churn, "enqueueing": enqueueing, "latency": latency, "costs": costs, "sizes": sizes,
            "history": history}


def drawings(report):
    machine, made = report["machine"], {}
    where = f"{machine['processor']}, {machine['cores']} cores, PostgreSQL {machine['postgresql'].split()[0]}, {report['date'][:10]}"
    if cells := report.get("rates"):
        def of(maker, batch):
            return [(cell["processes"], cell[maker]["jobsPerSecond"]) for cell in cells if cell["batch"] == batch]
        made["rates"] = plots.lines(
            "Jobs claimed and completed by many processes", f"32 at a time, durable; {where}",
            {"Cameo": of("cameo", 32), "Cameo, 4 loops a process": of("cameo", "pool"),
             "a C loop that moves": of("move", 32), "a C loop that marks": of("mark", 32)},
            "processes", "jobs a second", x_log=True,
        )
    if points := report.get("history"):
        made["history"] = plots.lines(
            f"A claim of {points[0]['claimOf']} jobs beside many that have ended", where,
            {"claim": [(point["rows"], point["claimMilliseconds"]) for point in points]},
            "jobs that have ended", "milliseconds", x_log=True,
        )
    if section := report.get("churn"):
        made["churn"] = plots.lines(
            "The tables under churn", f"{section['jobsPerSecond']:,} jobs a second; {where}",
            {name: [(sample["seconds"] / 60, sample[name]["bytes"] / MIB) for sample in section["samples"]]
             for name in section["tables"]},
            "minutes", "MiB", dots=False,
        )
    return made
