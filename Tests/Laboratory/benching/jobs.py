"""Whole jobs: how many pictures a second Cameo and its peers make, in interleaved rounds, and whether they do the same
work."""
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
        for maker in [kind(context) for kind in makers.MAKERS]:
            try:
                maker.start()
                started.append(maker)
            except Exception as error:
                context.fail(maker.label, error)
                maker.open.close()
        return [Bench(context, started, job, sets[job.set]).measure()
                for job in JOBS if job.set in sets and (not chosen or job.name in chosen)]
    finally:
        for maker in started:
            maker.open.close()


class Bench:
    def __init__(self, context, started, job, pictures):
        self.context, self.job, self.pictures = context, job, pictures[: job.pictures[not context.quick]]
        self.rounds = context.rounds or job.rounds[not context.quick]
        self.makers, self.files = {}, {}
        for maker in filter(lambda maker: maker.takes(job), started):
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
            checks = self.compare()
        return {"name": self.job.name, "title": self.job.title, "set": self.job.set, "pictures": len(self.pictures),
                "renditions": [rendition.cameo for rendition in self.job.renditions],
                "makers": {name: self.figure(name, rounds) | checks.get(name, {})
                           for name, rounds in self.results.items()}}

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
            self.files[maker.name] = {name: path for name, path in files.items() if pathlib.Path(path).stat().st_size}
        else:
            shutil.rmtree(folder)

    def compare(self):
        """{maker: what is known of its thumbnails}: whether it is vipsthumbnail's work. An empty one is missing."""
        reference = self.files.get("vipsthumbnail")
        if not reference:
            self.context.fail(f"comparing: {self.job.title}", "vipsthumbnail made nothing to compare with")
            return {}
        from benching.compare import compare

        wanted = len(self.pictures) * len(self.job.renditions)
        checks = {name: compare(reference, files, wanted) for name, files in self.files.items()
                  if self.makers[name].makes_files}
        for name, check in checks.items():
            faults = check["faults"]
            if check["meanDifference"] > LARGEST_MEAN or check["largestDifference"] > LARGEST_OF_ONE:
                faults.append("differs by {meanDifference}, at most {largestDifference}, of 255".format(**check))
            if faults:
                what = f"{self.makers[name].label}: {self.job.title}"
                self.context.fail(what, "not the same work: " + "; ".join(faults))
        return checks

    def figure(self, name, rounds):
        count, ours, times = len(self.pictures), self.results.get("cameo"), [took for took, _ in rounds]
        seconds, cpu = map(statistics.median, zip(*rounds))
        # Each round is compared with Cameo's own, because the machine's speed drifts from one round to the next.
        ratio = ours and round(statistics.median(their[0] / our[0] for their, our in zip(rounds, ours)), 3)
        return {
            "label": self.makers[name].label, "picturesPerSecond": round(count / seconds, 2), "ratio": ratio,
            "cpuMilliseconds": round(cpu / count * 1000, 2), "busyCores": round(cpu / seconds, 2),
            "rounds": [round(took, 3) for took in times], "spread": round((max(times) - min(times)) / seconds, 3),
        }
