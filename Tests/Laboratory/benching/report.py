"""A report: a file of JSON with every figure, and a page of tables in Markdown."""
import json
import shutil
import statistics
import time

import lab

QUICK = "In a quick run, the starts of vipsthumbnail's and ImageMagick's processes are a large share of their time.\n"
RATIOS = "Figures are medians of interleaved rounds; a ratio (of a round's own) says how many times as fast Cameo is.\n"
# Of a figure that was measured once or twice.
UNKNOWN_NOISE = 0.15


class Report:
    """NAME.json and NAME.md in a folder, rewritten after each part. Closing it prints the page."""

    def __init__(self, name, place, folder):
        self.name, self.place, self.folder, self.started = name, place, folder, time.monotonic()
        self.found = place.describe()

    def measure(self, part, act):
        lab.progress(part)
        with self.place.failures_of(part):
            self.found[part], took = lab.timed(act)
            lab.progress(f"{part}: {took:.0f} s")
            if self.found[part]:
                lab.progress("\n".join(section(self.found[part], *SECTIONS[self.name][part])))
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
        if self.place.baseline:
            with self.place.failures_of("comparing with the baseline"):
                self.found["slower"] = slower(self.place.baseline, self.found)
        print(self.write())
        lab.progress(f"The report is in {self.folder}")

    def page(self):
        machine, whole = self.found["machine"], "quick" if self.found["quick"] else "whole"
        parts = [
            f"# {TITLES[self.name]}\n",
            f"{self.found['date']}, commit {self.found['commit']}, {whole} run of {self.found['minutes']} minutes.\n",
            "{processor}, {cores} cores, {memoryGiB} GiB, {system}, Linux {kernel}.\n"
            "A synced write of 4 KiB takes {syncMilliseconds} ms ({fileSystem}); load before: {loadAverage}.\n".format(
                **machine),
            "".join(f"- {version}\n" for version in machine["versions"]),
            RATIOS, *[QUICK] * (self.found["quick"] and self.name == "report"),
        ]
        for name, words in SECTIONS[self.name].items():
            if found := self.found.get(name):
                parts += section(found, *words)
        if compared := self.found.get("slower"):
            parts += section(compared, *SLOWER)
        for title, entries in (("Failed", self.place.failed), ("Left out", self.place.left_out)):
            if entries:
                parts += [f"## {title}\n", "".join(f"- {entry['what']}: {entry['reason']}\n" for entry in entries)]
        return "\n".join(parts)


def section(found, title, text, columns, rows):
    """A text, and a table with columns such as `head = key:digits`, of rows of what was found."""
    columns = [column.split(" = ") for column in columns.split(" | ")]
    lines = [[cell(row, key) for _, key in columns] for row in rows(found)]
    return [f"## {title}\n", text.format(**found if isinstance(found, dict) else found[0]),
            lab.table([head for head, _ in columns], lines)]


def cell(row, key):
    """A text, or a figure of a key such as `name:digits` or `outer.name:digits`."""
    path, _, digits = key.partition(":")
    for name in path.split("."):
        row = row.get(name) if row else None
    return row if isinstance(row, str) else lab.number(row, int(digits or 0))


def figures(found):
    """What is compared with another run: {what: a value of each round}, the larger the better. Where something ran
    beside Cameo it is the ratio to that, which the machine's own speed changes least."""
    known = {}
    for job in found.get("jobs", []):
        ours = job["makers"].get("cameo", {"rounds": []})["rounds"]
        for name, other in job["makers"].items():
            if name != "cameo":
                ratios = [their / our for their, our in zip(other["rounds"], ours)]
                known[f"{job['title']}, to {other['label']}"] = ratios
    for cell in found.get("rates", []):
        for name in ("mark", "move"):
            ratios = [our / their for our, their in zip(cell["cameo"]["rounds"], cell[name]["rounds"])]
            known[f"{cell['processes']} processes, {cell['batch']} at a time, to a loop that {name}s"] = ratios
    for point in found.get("workers", {}).get("processes", []) + found.get("workers", {}).get("renderers", []):
        known["jobs a second of {workers} x {renderers}".format(**point)] = [point["jobsPerSecond"]]
    for row in latencies(found["latency"]) if "claimed" in found.get("latency", {}).get("idle", {}) else []:
        known[row["what"]] = [1 / max(row["p50"], 0.001)]
    for name, part in found.get("memory", {}).items():
        known[f"memory of a worker, {name}"] = [1 / part["workerPeak"]]
    return {what: values for what, values in known.items() if values}


def slower(baseline, found):
    """What is slower than in the report `baseline`, by more than the rounds of both lie apart together."""
    def noise(values):
        return (max(values) - min(values)) / statistics.median(values) if len(values) > 2 else UNKNOWN_NOISE

    before, now, rows = figures(baseline), figures(found), []
    for what in before.keys() & now.keys():
        change = statistics.median(now[what]) / statistics.median(before[what]) - 1
        apart = noise(before[what]) + noise(now[what])
        if change < -apart:
            rows.append({"what": what, "change": change * 100, "noise": apart * 100})
    return {"than": f"{baseline['date']}, commit {baseline['commit']}", "compared": len(before.keys() & now.keys()),
            "slower": len(rows), "rows": sorted(rows, key=lambda row: row["change"])}


def latencies(found):
    for when, name in (("idle", "idle worker"), ("busy", "beside a backlog of pictures")):
        for what, figure in found.get(when, {}).items():
            if what != "backlog":
                yield {"what": f"INSERT until {what}, {name}", **figure}


def named(found, names=None):
    """The figures of each name, under a better one or in the style of code."""
    return [{**figures, "name": names[name] if names else f"`{name}`"} for name, figures in found.items()]


PICTURES = ("Whole jobs", """From enqueueing to the last committed thumbnail, by workers that wait. Spread: how far rounds
lie apart. Processor time is of everything that takes part. Differences are from vipsthumbnail's pixels, of 255.
""", "job = title | by = label | pictures a second = picturesPerSecond:1 | ratio = ratio:2 | spread = spread:2 | "
     "CPU ms a picture = cpuMilliseconds:1 | busy cores = busyCores:2 | difference = meanDifference:2 | "
     "of the worst = largestDifference:2 | bytes = bytes",
            lambda found: [{"title": job["title"], **figure} for job in found for figure in job["makers"].values()])
LATENCY = ("Latency", "In milliseconds. An idle worker and its renderers use {idleCores:.2%} of a core.\n",
           "what = what | p50 = p50:1 | p99 = p99:1 | slowest = slowest:1", latencies)
WORKERS = ("Many workers", "Jobs for pictures of 16 x 16, by workers x renderers of each.\n",
           "workers = name | jobs a second = jobsPerSecond:1 | CPU ms a job = cpuMilliseconds:2",
           lambda found: [{"name": "{workers} x {renderers}".format(**point), **point}
                          for point in found["processes"] + found["renderers"]])
MEMORY = ("Memory", "Resident MiB; slopes in MiB for 10,000 jobs, after the first fifth.\n",
          "jobs = name | jobs a second = jobsPerSecond:1 | worker peak = workerPeak:1 | worker slope = workerSlope:2 | "
          "largest renderer = rendererPeak:1 | its slope = rendererSlope:2",
          lambda found: [{**part, "name": f"{part['jobs']:,} " + {"tiny": "pictures of 16 x 16"}.get(
              name, "photographs to 1024 JPEG")} for name, part in found.items()])

# A fleet

RATES = ("Claimed and completed",
         "Jobs a second, without pictures, by processes that begin together; `4 x 32`: four loops in each.\n",
         "processes = processes | at a time = name | Cameo /s = cameo.jobsPerSecond | "
         "a loop that marks /s = mark.jobsPerSecond | ratio = mark.ratio:2 | "
         "a loop that moves /s = move.jobsPerSecond | ratio = move.ratio:2",
         lambda cells: [{**one, "name": "4 x 32" if one["batch"] == "pool" else str(one["batch"])} for one in cells])
HISTORY = ("Beside history", "With 100,000 jobs that wait.\n",
           "jobs that have ended = rows | claim of 32 ms = claimMilliseconds:2 | slowest ms = slowestMilliseconds:2 | "
           "claim + complete us a job = jobMicroseconds:1", list)
CHURN = ("Churn", """{jobs:,} jobs enqueued, claimed and completed in {minutes} minutes ({jobsPerSecond:,} a second).
Slopes after the first fifth. A claim of 32 took {claim[first]} ms in the first fifth and {claim[last]} ms in the last
(medians), the slowest {claim[slowest]} ms.
""", "table = name | largest MiB = largestMiB:1 | MiB a minute = slopeMiB:3 | most dead rows = mostDead",
         lambda found: named(found["tables"]))
ENQUEUEING = ("Enqueued", "", "how = name | jobs a second = rate", lambda found: [
    {"name": "by Cameo, 1,000 a call", "rate": found["bulk"]},
    *({"name": f"single INSERTs by {clients} clients of pgbench", "rate": rate} for clients,
      rate in found["single"].items())])
NOTIFIED = ("Latency", """From the commit of an INSERT until an idle worker, which is notified, has claimed its job, in
milliseconds. That worker took {idle[server]} ms of the server's time a second before, and {idle[client]} of its own.
""", "p50 = p50:1 | p99 = p99:1 | slowest = slowest:1", lambda found: [found])
COSTS = ("What a job costs", "After a checkpoint, so that the log has whole pages too.\n",
         "a job = name | bytes of log = log | transactions = transactions:2 | server us = server | Cameo us = client",
         lambda found: named(found, {
             "enqueue": "enqueued, 1,000 a call", "complete": "claimed and completed, 32 at a time",
             "complete1": "claimed and completed singly",
             "thumbnail": "the same with a thumbnail of 15,000 bytes, 32 at a time"}))
SIZES = ("Bytes a row", "", "table = name | rows = rows | bytes in the table = heap | bytes in its indexes = indexes",
         lambda found: [{**row, "heap": row["heap"] / row["rows"], "indexes": row["indexes"] / row["rows"]}
                        for row in named(found)])

SLOWER = ("Slower than the baseline", """{slower} of {compared} figures that the run of {than} has too are worse by more
than the noise of both.
""", "figure = what | change in % = change:1 | noise of both in % = noise:1", lambda found: found["rows"])
TITLES = {"report": "Cameo's benchmark", "fleet": "The queue of a fleet"}
SECTIONS = {
    "report": {"jobs": PICTURES, "latency": LATENCY, "workers": WORKERS, "memory": MEMORY},
    "fleet": {"rates": RATES, "churn": CHURN, "enqueueing": ENQUEUEING, "latency": NOTIFIED, "costs": COSTS,
              "sizes": SIZES, "history": HISTORY},
}
