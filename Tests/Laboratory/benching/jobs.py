"""Whole jobs: how many pictures a second Cameo and its peers make, in interleaved rounds, and whether they do the same
work."""
import json
import math
import pathlib
import shutil
import statistics
import tempfile

from benching import makers
from benching.renditions import JOBS
from lab import progress

# Means of 255. Another resampler, or a crop that begins a pixel further, stays below; a wrong crop or profile does not.
LARGEST_MEAN, LARGEST_OF_ONE = 4.0, 12.0


def run(context, sets, chosen=None):
    """A list with a result for each job."""
    started = []
    try:
        for maker in makers.all(context):
            try:
                maker.start()
                started.append(maker)
            except Exception as error:
                context.fail(maker.label, error)
                maker.stop()
        return [Bench(context, started, job, sets[job.set]).measure()
                for job in JOBS if job.set in sets and (not chosen or job.name in chosen)]
    finally:
        for maker in started:
            maker.stop()


class Bench:
    def __init__(self, context, started, job, pictures):
        self.context, self.job, self.pictures = context, job, pictures[: job.pictures[not context.quick]]
        self.rounds = context.rounds or job.rounds[not context.quick]
        self.makers, self.files = {}, {}
        for maker in started:
            if reason := maker.cannot(job):
                context.leave_out(f"{maker.label}: {job.title}", reason)
            else:
                self.makers[maker.name] = maker
        self.results = {name: [] for name in self.makers}  # of each round the seconds, and those of processor time

    def measure(self):
        progress(f"{self.job.title}: {len(self.pictures)} pictures")
        for path in self.pictures:
            path.read_bytes()  # so that all read from the page cache
        slow_rounds = 1 if self.context.quick else math.ceil(self.rounds / 2)
        with tempfile.TemporaryDirectory(prefix="jobs-", dir=self.context.work) as folder:
            for number in range(self.rounds):
                for maker in list(self.makers.values()):
                    if number < slow_rounds or not maker.is_slow:
                        self.round(maker, number, pathlib.Path(folder, f"{maker.name}-{number}"))
            return self.result(self.compare())

    def round(self, maker, number, folder):
        folder.mkdir()
        try:
            seconds, cpu, files = maker.make(self.pictures, self.job.renditions, folder, wants_files=number == 0)
        except Exception as error:
            self.context.fail(f"{maker.label}: {self.job.title}", error)
            for known in (self.makers, self.results, self.files):
                known.pop(maker.name, None)
            return
        self.results[maker.name].append((seconds, cpu))
        if number == 0:
            self.files[maker.name] = files
        else:
            shutil.rmtree(folder)

    # Whether it is the same work.

    def compare(self):
        """{maker: what is known of its thumbnails}; differences are those from vipsthumbnail's."""
        reference = self.files.get("vipsthumbnail")
        if not reference:
            self.context.fail(f"comparing: {self.job.title}", "vipsthumbnail made nothing to compare with")
            return {}
        task = json.dumps({"reference": reference, "others": self.files})
        return {name: self.check(name, found) for name, found in self.context.script("compare.py", input=task).items()}

    def check(self, name, found):
        wanted, differences = len(self.pictures) * len(self.job.renditions), found["differences"] or [0]
        check = {"thumbnails": wanted - len(found["missing"]), "bytes": found["bytes"],
                 "meanDifference": round(statistics.fmean(differences), 2),
                 "largestDifference": round(max(differences), 2)}
        faults = found["formats"][:1] + found["othersize"][:1]
        if found["files"] != wanted or found["missing"]:
            faults.append(f"{found['files']} thumbnails instead of {wanted}")
        if check["meanDifference"] > LARGEST_MEAN or check["largestDifference"] > LARGEST_OF_ONE:
            faults.append("differs by {meanDifference} on average and up to {largestDifference} of 255".format(**check))
        if faults:
            check["faults"] = faults
            self.context.fail(f"{self.makers[name].label}: {self.job.title}", "not the same work: " + "; ".join(faults))
        return check

    def result(self, checks):
        count, ours, figures = len(self.pictures), self.results.get("cameo"), {}
        for name, rounds in self.results.items():
            seconds, cpu = map(statistics.median, zip(*rounds))
            times = [took for took, _ in rounds]
            # Each round is compared with Cameo's own, because the machine's speed drifts from one round to the next.
            ratio = ours and round(statistics.median(their[0] / our[0] for their, our in zip(rounds, ours)), 3)
            figures[name] = figure = {
                "label": self.makers[name].label, "picturesPerSecond": round(count / seconds, 2), "ratio": ratio,
                "cpuMilliseconds": round(cpu / count * 1000, 2), "busyCores": round(cpu / seconds, 2),
                "rounds": [round(took, 3) for took in times], "spread": round((max(times) - min(times)) / seconds, 3),
                **checks.get(name, {}),
            }
            progress(f"    {figure['label']:22}{figure['picturesPerSecond']:9.1f}/s  ratio {ratio or 0:5.2f}  "
                     f"{figure['cpuMilliseconds']:7.1f} ms of CPU  {figure['busyCores']:.2f} cores")
        return {"name": self.job.name, "title": self.job.title, "set": self.job.set, "pictures": count,
                "renditions": [rendition.cameo for rendition in self.job.renditions], "makers": figures}
