"""Whole jobs: how many pictures a second Cameo and its peers make, in interleaved rounds, and whether they do the same
work."""
import json
import math
import pathlib
import shutil
import statistics
import tempfile

from benching import makers
from benching.measuring import progress, spread
from benching.renditions import JOBS

# Means of 255. Another resampler, or a crop that begins a pixel further, stays below; a wrong crop or profile does not.
LARGEST_MEAN, LARGEST_OF_ONE = 4.0, 12.0


def run(context, sets, chosen=None):
    """A list with a result for each job."""
    jobs = [job for job in JOBS if not chosen or job.name in chosen]
    running = start(context)
    try:
        return [measured for job in jobs if (measured := Bench(context, running, job, sets).measure())]
    finally:
        for maker in running:
            maker.stop()


def start(context):
    running = []
    for kind in makers.MAKERS:
        maker = kind(context.environment, context.bin)
        try:
            maker.start()
            running.append(maker)
        except Exception as error:
            context.notes.fail(maker.label, error)
            maker.stop()
    return running


class Bench:
    def __init__(self, context, running, job, sets):
        self.context, self.job = context, job
        self.pictures = sets.get(job.set, [])[: job.pictures[not context.quick]]
        self.rounds = context.rounds or job.rounds[not context.quick]
        self.makers = []
        for maker in running:
            if reason := maker.cannot(job):
                context.notes.leave_out(f"{maker.label}: {job.title}", reason)
            else:
                self.makers.append(maker)
        self.results = {maker.name: [] for maker in self.makers}
        self.files = {}

    def measure(self):
        if not self.pictures:
            return None
        progress(f"{self.job.title}: {len(self.pictures)} pictures")
        for path in self.pictures:
            path.read_bytes()  # so that all read from the page cache
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="jobs-", dir=self.context.environment.work))
        try:
            for number in range(self.rounds):
                for maker in list(self.makers):
                    if number < self.rounds_of(maker):
                        self.round(maker, number)
            checks = self.compare()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return self.result(checks)

    def rounds_of(self, maker):
        if maker.name not in makers.SLOW:
            return self.rounds
        return 1 if self.context.quick else math.ceil(self.rounds / 2)

    def round(self, maker, number):
        folder = self.folder / f"{maker.name}-{number}"
        folder.mkdir()
        try:
            made = maker.make(self.pictures, self.job.renditions, folder, wants_files=number == 0)
        except Exception as error:
            self.context.notes.fail(f"{maker.label}: {self.job.title}", error)
            self.makers.remove(maker)
            self.results.pop(maker.name)
            self.files.pop(maker.name, None)
            return
        self.results[maker.name].append(made)
        if number == 0:
            self.files[maker.name] = made.files
        else:
            shutil.rmtree(folder)

    # Whether it is the same work.

    def compare(self):
        """{maker: what is known of its thumbnails}; differences are those from vipsthumbnail's."""
        reference = self.files.get("vipsthumbnail")
        if not reference:
            self.context.notes.fail(f"comparing: {self.job.title}", "vipsthumbnail made nothing to compare with")
            return {}
        task = {"reference": reference, "others": self.files}
        found = json.loads(self.context.environment.script("compare.py", input=json.dumps(task)).stdout)
        return {name: self.check(name, found[name]) for name in self.files}

    def check(self, name, found):
        wanted = len(self.pictures) * len(self.job.renditions)
        differences = found["differences"] or [0]
        check = {
            "thumbnails": wanted - len(found["missing"]), "bytes": found["bytes"],
            "meanDifference": round(statistics.fmean(differences), 2), "largestDifference": round(max(differences), 2),
        }
        faults = []
        if found["files"] != wanted or found["missing"]:
            faults.append(f"{found['files']} thumbnails instead of {wanted}")
        faults += found["formats"][:1] + found["othersize"][:1]
        if check["meanDifference"] > LARGEST_MEAN or check["largestDifference"] > LARGEST_OF_ONE:
            faults.append(f"differs by {check['meanDifference']} on average and up to {check['largestDifference']} of 255")
        if faults:
            check["faults"] = faults
            label = next(maker.label for maker in self.makers if maker.name == name)
            self.context.notes.fail(f"{label}: {self.job.title}", "not the same work: " + "; ".join(faults))
        return check

    # The figures.

    def result(self, checks):
        count = len(self.pictures)
        figures = {}
        for maker in self.makers:
            rounds = self.results[maker.name]
            seconds, cpu = self.middle(maker.name), statistics.median(made.cpu for made in rounds)
            figures[maker.name] = {
                "label": maker.label,
                "picturesPerSecond": round(count / seconds, 2),
                "ratio": self.ratio(rounds),
                "cpuMilliseconds": round(cpu / count * 1000, 2),
                "busyCores": round(cpu / seconds, 2),
                "rounds": [round(made.seconds, 3) for made in rounds],
                "spread": round(spread([made.seconds for made in rounds]), 3),
                **checks.get(maker.name, {}),
            }
        for name, figure in figures.items():
            progress(f"    {figure['label']:22}{figure['picturesPerSecond']:9.1f}/s  ratio {figure['ratio'] or 0:5.2f}  "
                     f"{figure['cpuMilliseconds']:7.1f} ms of CPU  {figure['busyCores']:.2f} cores")
        return {
            "name": self.job.name, "title": self.job.title, "set": self.job.set, "pictures": count,
            "renditions": [rendition.cameo for rendition in self.job.renditions], "makers": figures,
        }

    def ratio(self, rounds):
        """How many times as fast Cameo is: the median over the rounds, each compared with Cameo's own of the same round,
        because the machine's speed drifts from one round to the next."""
        ours = self.results.get("cameo")
        return round(statistics.median(their.seconds / our.seconds for their, our in zip(rounds, ours)), 3) if ours else None

    def middle(self, name):
        rounds = self.results.get(name)
        return statistics.median(made.seconds for made in rounds) if rounds else None
