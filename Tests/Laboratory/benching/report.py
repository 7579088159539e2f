"""The report: report.json, a page of tables in Markdown, and plots."""
import json

from benching import plots

MARK = "-"
QUICK = """A quick run shows that everything works, and roughly what it costs. It has so few pictures that the starts of the processes
of vipsthumbnail and ImageMagick, which the others have behind them, are a large share of their time.
"""


def write(report, folder):
    """Writes all files of the report; returns the page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    drawn = {}
    for name, drawing in drawings(report).items():
        if drawing:
            (folder / f"{name}.svg").write_text(drawing)
            drawn[name] = f"{name}.svg"
    text = page(report, drawn)
    (folder / "report.md").write_text(text)
    return text


# ----------------------------------------------------------------------------------------------------------------- page


def table(head, rows):
    """A Markdown table with columns of equal width, so that it can be read as it is."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]

    def line(cells):
        return "| " + " | ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width) for column, (cell, width) in enumerate(zip(cells, widths))
        ) + " |"

    rule = "|" + "|".join("-" * (width + 2) if column == 0 else "-" * (width + 1) + ":" for column, width in enumerate(widths)) + "|"
    return "\n".join([line(head), rule, *map(line, rows)]) + "\n"


def number(value, digits=0):
    return MARK if value is None else f"{value:,.{digits}f}"


def percent(value):
    return MARK if value is None else f"{value * 100:.0f} %"


def page(report, drawn):
    machine = report["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in (machine["programs"] | machine["packages"]).items())
    parts = [
        "# Cameo's benchmark\n",
        f"{report['date']}, commit {report['commit']}, {'quick' if report['quick'] else 'whole'} run of {report['minutes']} minutes.\n",
        f"{machine['processor']}, {machine['cores']} cores, {machine['memoryGiB']} GiB, {machine['system']}, Linux {machine['kernel']}.\n"
        f"A synced write of 4 KiB takes {machine['syncMilliseconds']} ms ({machine['fileSystem']}); load before: {machine['loadAverage']}.\n"
        f"{versions}.\n",
        "Figures are medians of interleaved rounds. A ratio says how many times as fast Cameo is (the median of the rounds' own\n"
        "ratios): above 1, Cameo is faster.\n",
    ]
    if report["quick"]:
        parts.append(QUICK)
    for section, write_section in SECTIONS.items():
        if report.get(section):
            parts += write_section(report[section])
            parts += [f"![]({drawn[name]})\n" for name in PLOTS.get(section, ()) if name in drawn]
    for title, entries in (("Failed", report["failed"]), ("Left out", report["leftOut"])):
        if entries:
            parts.append(f"## {title}\n")
            parts.append("\n".join(f"- {entry['what']}: {entry['reason']}" for entry in entries) + "\n")
    return "\n".join(parts)


def makers_of(jobs):
    """{name: label} of everybody who did some job, Cameo first."""
    found = {}
    for job in jobs:
        for name, figure in job["makers"].items():
            found.setdefault(name, figure["label"])
    return {"cameo": found.pop("cameo", "Cameo"), **found}


def jobs_section(jobs):
    makers = makers_of(jobs)
    others = {name: label for name, label in makers.items() if name != "cameo"}

    def of(job, name, key, digits):
        return number(job["makers"].get(name, {}).get(key), digits)

    ratios = [
        [job["title"], job["pictures"], of(job, "cameo", "picturesPerSecond", 1), percent(job["makers"].get("cameo", {}).get("spread")),
         of(job, "cameo", "busyCores", 2), *(of(job, name, "ratio", 2) for name in others)]
        for job in jobs
    ]
    cpu = [[job["title"], *(of(job, name, "cpuMilliseconds", 1) for name in makers)] for job in jobs]
    same = {name: label for name, label in makers.items() if name != "vipsthumbnail"}
    differences = [
        [job["title"], *(f"{of(job, name, 'meanDifference', 2)}, {of(job, name, 'largestDifference', 1)}" if name in job["makers"] else MARK
                         for name in same)]
        for job in jobs
    ]
    sizes = [[job["title"], *(number(share(job, name), 2) for name in same)] for job in jobs]
    return [
        "## Whole jobs\n",
        "From enqueueing to the last committed thumbnail, by workers that wait: Cameo's pictures a second, how far its rounds\n"
        "lie apart, the cores that it keeps busy, and ratios.\n",
        table(["job", "pictures", "Cameo /s", "spread", "busy cores", *(f"to {label}" for label in others.values())], ratios),
        "Processor time of a picture in milliseconds, of everything that takes part:\n",
        table(["job", *makers.values()], cpu),
        "That it is the same work: difference from vipsthumbnail's pixels (of 255), on average and of the worst picture:\n",
        table(["job", *same.values()], differences),
        "Bytes relative to vipsthumbnail's:\n",
        table(["job", *same.values()], sizes),
    ]


def share(job, name):
    own, theirs = (job["makers"].get(maker, {}).get("bytes") for maker in (name, "vipsthumbnail"))
    return own / theirs if own and theirs else None


def queue_section(section):
    queues = section["queues"]
    singles = sorted({count for queue in queues.values() for count in queue["single"]}, key=int)
    works = sorted({count for queue in queues.values() for count in queue["work"]}, key=int)
    head = ["queue", *(f"put singly, {count}" for count in singles), "in bulk", *(f"claim + complete, {count}" for count in works)]
    rows = [
        [queue["label"], *(number(queue["single"].get(count)) for count in singles), number(queue.get("bulk")),
         *(number(queue["work"].get(count)) + ("*" if count in queue["repeated"] else "") for count in works)]
        for queue in queues.values()
    ]
    notes = [f"- {queue['label']} {queue['note']}" for queue in queues.values() if queue.get("note")]
    notes += [
        f"- \\* {queue['label']}: {count} processes were given {again} jobs more than once, which are counted once"
        for queue in queues.values() for count, again in queue["repeated"].items()
    ]
    return ["## The queue alone\n", "Jobs a second by so many processes, durable before a call returns.\n", table(head, rows),
            *(["\n".join(notes) + "\n"] if notes else [])]


def latency_section(section):
    rows = [
        [f"INSERT until {what}, {name}", *(number(section[when][what][key], 1) for key in ("p50", "p99", "slowest"))]
        for when, name in (("idle", "idle worker"), ("busy", "beside a backlog of pictures")) if when in section
        for what in ("claimed", "readable")
    ]
    return ["## Latency\n", f"In milliseconds. An idle worker and its renderers use {section['idleCores'] * 100:.2f} % of a core.\n",
            table(["what", "p50", "p99", "slowest"], rows)]


def rows_section(points):
    rows = [
        [f"{point['rows']:,}", *(number(point[key], 1) for key in (
            "enqueueMicroseconds", "completeMicroseconds", "laterEnqueueMicroseconds", "laterCompleteMicroseconds",
            "claimMilliseconds", "statusMilliseconds"))]
        for point in points
    ]
    head = ["jobs", "enqueue us", "complete us", "enqueue beside ended us", "complete beside ended us", "claim of 32 ms", "status ms"]
    return ["## Many jobs\n", "What a job costs among so many others, without pictures. Enqueueing includes the command's start.\n",
            table(head, rows)]


def workers_section(section):
    rows = [[f"{point['workers']} x {point['renderers']}", number(point["jobsPerSecond"], 1), number(point["cpuMilliseconds"], 2)]
            for point in section["processes"] + section["renderers"]]
    return ["## Many workers\n", "Jobs for pictures of 16 x 16, by workers x renderers of each.\n",
            table(["workers", "jobs a second", "CPU ms a job"], rows)]


def memory_section(section):
    names = {"tiny": "pictures of 16 x 16", "photographs": "photographs to 1024 JPEG"}
    rows = [
        [f"{part['jobs']:,} {names[name]}", *(number(part[key], digits) for key, digits in (
            ("jobsPerSecond", 1), ("workerPeak", 1), ("workerSlope", 2), ("rendererPeak", 1), ("rendererSlope", 2)))]
        for name, part in section.items()
    ]
    return ["## Memory\n", "Resident MiB; slopes in MiB for 10,000 jobs, after the first fifth.\n",
            table(["jobs", "jobs a second", "worker peak", "worker slope", "largest renderer", "its slope"], rows)]


def reads_section(section):
    rows = []
    if cat := section.get("cat"):
        what = f"cameo-status cat, {cat['bytes'] / 1024:.0f} KiB"
        rows.append([what, f"{cat['cameo']['p50']} ms", f"{cat['cat']['p50']} ms by cat of a file"])
    for load in section.get("URLSession", ()):
        rows.append([f"URLSession, {load['bytes'] / 1024:.0f} KiB", f"{load['first']:.0f} us", f"{load['again']:.0f} us again"])
    if http := section.get("HTTP"):
        for key, what in (("whole", f"cameo-web, {http['bytes'] / 1024:.0f} KiB"), ("304", "cameo-web, If-None-Match")):
            rows.append([what, f"{http[key]['cameoWeb']:,.0f}/s", f"{http[key]['nginx']:,.0f}/s by nginx"])
    return ["## Reads\n", table(["thumbnail", "Cameo", "beside it"], rows)]


SECTIONS = {
    "jobs": jobs_section, "queue": queue_section, "latency": latency_section, "rows": rows_section,
    "workers": workers_section, "memory": memory_section, "reads": reads_section,
}
PLOTS = {
    "jobs": ("jobs", "processor-time"), "queue": ("queue",), "latency": ("latency",), "rows": ("rows", "claims"),
    "workers": ("workers",), "memory": ("memory-tiny", "memory-photographs"),
}

# ---------------------------------------------------------------------------------------------------------------- plots


def drawings(report):
    """{name: SVG, or None for what was not measured}"""
    machine = report["machine"]
    where = f"{machine['processor']}, {machine['cores']} cores, {report['date'][:10]}, commit {report['commit'][:12]}"
    made = {}
    if jobs := report.get("jobs"):
        made["jobs"] = plots.bars(
            "Pictures a second, relative to vipsthumbnail's", f"longer is faster; the dashed line is vipsthumbnail, one process a core; {where}",
            [(job["title"], job_bars(job, relative)) for job in jobs], mark=1,
        )
        made["processor-time"] = plots.bars(
            "Processor time of a picture", f"shorter is better; each job has a scale of its own; {where}",
            [(job["title"], job_bars(job, processor_time)) for job in jobs], cap=2.5,
        )
    if report.get("queue"):
        made["queue"] = queue_plot(report["queue"]["queues"], where)
    if latency := report.get("latency"):
        groups = [
            (f"INSERT until {what}", [
                (f"{name}, {key}", latency[when][what][key], f"{latency[when][what][key]:.1f} ms", True)
                for when, name in (("idle", "idle"), ("busy", "busy")) if when in latency for key in ("p50", "p99")
            ]) for what in ("claimed", "readable")
        ]
        made["latency"] = plots.bars("How soon a worker sees and finishes an INSERT", f"milliseconds, shorter is better; {where}", groups)
    if points := report.get("rows"):
        def of(key):
            return [(point["rows"], point[key]) for point in points]
        made["rows"] = plots.lines(
            "What a job costs among many, without pictures", f"at full durability; {where}",
            {"enqueue": of("enqueueMicroseconds"), "complete": of("completeMicroseconds"),
             "enqueue, beside ended": of("laterEnqueueMicroseconds"), "complete, beside ended": of("laterCompleteMicroseconds")},
            "jobs in the store", "microseconds a job", x_log=True,
        )
        made["claims"] = plots.lines(
            "A claim of 32 jobs, and a status, among many", where,
            {"claim of 32": of("claimMilliseconds"), "cameo-status": of("statusMilliseconds")},
            "jobs in the store", "milliseconds", x_log=True, y_log=True,
        )
    if workers := report.get("workers"):
        made["workers"] = plots.lines(
            "Tiny pictures by many workers", f"of 16 x 16 pixels, on {machine['cores']} cores; {where}",
            {"workers, a renderer each": [(point["workers"], point["jobsPerSecond"]) for point in workers["processes"]],
             "renderers of one worker": [(point["renderers"], point["jobsPerSecond"]) for point in workers["renderers"]]},
            "processes", "jobs a second", x_log=True,
        )
    for name, what in (("tiny", "pictures of 16 x 16"), ("photographs", "photographs to 1024 JPEG")):
        if part := (report.get("memory") or {}).get(name):
            made[f"memory-{name}"] = plots.lines(
                f"Memory over {part['jobs']:,} {what}", f"resident; {where}",
                {"worker": [(done, worker) for done, worker, _ in part["samples"]],
                 "largest renderer": [(done, renderer) for done, _, renderer in part["samples"]]},
                "jobs done", "MiB", dots=False,
            )
    return made


def relative(job, figure):
    """The speed relative to vipsthumbnail's, else to Cameo's, by the ratios of the table."""
    makers = job["makers"]
    base = makers.get("vipsthumbnail") or makers.get("cameo")
    # Without Cameo, there is no ratio.
    value = base["ratio"] / figure["ratio"] if base["ratio"] else figure["picturesPerSecond"] / base["picturesPerSecond"]
    return value, f"{value:.2f}"


def processor_time(_, figure):
    return figure["cpuMilliseconds"], f"{figure['cpuMilliseconds']:.1f} ms"


def job_bars(job, value_of):
    makers = job["makers"]
    ordered = [name for name in ("cameo",) if name in makers] + [name for name in makers if name != "cameo"]
    return [(makers[name]["label"], *value_of(job, makers[name]), name == "cameo") for name in ordered]


def queue_plot(queues, where):
    def rows(value_of):
        found = []
        for name, queue in queues.items():
            value = value_of(queue)
            if value:
                found.append((queue["label"], value, f"{value:,.0f}/s", name == "cameo"))
        return found

    singles = sorted({count for queue in queues.values() for count in queue["single"]}, key=int)
    works = sorted({count for queue in queues.values() for count in queue["work"]}, key=int)
    groups = [(f"put singly, {many(count)}", rows(lambda queue, count=count: queue["single"].get(count))) for count in singles]
    groups.append(("put in bulk", rows(lambda queue: queue.get("bulk"))))
    groups += [(f"claim + complete, {many(count)}", rows(lambda queue, count=count: queue["work"].get(count))) for count in works]
    title, note = "Jobs a second through the queue alone", f"durable before a call returns; logarithmic; {where}"
    return plots.bars(title, note, groups, logarithmic=True)


def many(count):
    return "1 process" if int(count) == 1 else f"{count} processes"
