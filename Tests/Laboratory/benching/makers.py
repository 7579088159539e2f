"""The programs that make thumbnails: Cameo, and what people use. Each makes the renditions of pictures on all cores,
and says how long that took, how much processor time, of its own and of whatever it started, it used, and {name as
written by a peer: file} (Cameo only if asked to)."""
import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

import lab
from benching import store
from benching.place import FOR_PEERS, PEERS
from benching.renditions import options_of, vipsthumbnail
from lab import CORES, Unmeasured

LIMIT = 600  # seconds, of one round
NO_EFFORT = "has no setting for the encoder's effort that would make it the same work"


def without_avif_or_svg(job):
    if job.renditions[0].format == "avif":
        return NO_EFFORT
    return "reads SVG only with further packages" if job.set == "drawings" else None


class Maker:
    name, label, is_slow = "", "", False  # slow ones are in fewer rounds

    def __init__(self, context):
        self.context = context

    def start(self):
        """Starts what runs all the time. Raises if that cannot be."""

    def stop(self):
        pass

    def cannot(self, job):
        """Why it cannot do a job, or None."""

    def make(self, pictures, renditions, folder, wants_files):
        before = self.processor_time()
        _, seconds = lab.timed(self.work, pictures, renditions, folder)
        cpu = self.processor_time() - before
        names = [f"{path.stem}-{rendition.file}" for path in pictures for rendition in renditions]
        return seconds, cpu, {name: str(folder / name) for name in names if (folder / name).exists()}

    def processor_time(self):
        return lab.children_time()


class Cameo(Maker):
    """From the start of cameo-enqueue until the last job's completion is committed, by a worker that was idle
    before."""

    name, label = "cameo", "Cameo"

    def make(self, pictures, renditions, folder, wants_files):
        bench, queue = store.Bench(self.context.bin, folder), folder / "store"
        warm = bench.tiny(CORES * 2)
        bench.enqueue(queue, warm, "--size", "16x16:jpeg")
        with bench.worker(queue, "--log-level", "critical", "--allow-root", pictures[0].parent) as worker, \
                lab.connect(queue) as db:
            # It has made one picture for each of its renderers, so that they run and wait.
            store.finished(db, 0, len(warm), LIMIT)
            lab.wait_until(lambda: len(lab.children(worker.pid)) >= CORES, "starting the renderers")
            time.sleep(0.5)  # They may be spares that are still starting, which takes them 0.1 s.
            before, started = lab.processor_time(worker.pid) + lab.children_time(), time.monotonic()
            printed = bench.enqueue(queue, pictures, *options_of(renditions))
            store.finished(db, len(warm), len(pictures), LIMIT, pause=0.005)
            seconds = time.monotonic() - started
            cpu = lab.processor_time(worker.pid) + lab.children_time() - before
        uris = [line.split("\t")[2:] for line in printed.splitlines()]
        files = bench.export(queue) if wants_files else {}
        return seconds, cpu, {f"{path.stem}-{rendition.file}": str(files[uri]) for path, of_path in zip(pictures, uris)
                              for rendition, uri in zip(renditions, of_path) if uri in files}


class Vipsthumbnail(Maker):
    name = label = "vipsthumbnail"
    work = staticmethod(vipsthumbnail)

    def start(self):
        if not lab.found("vipsthumbnail"):
            raise Unmeasured("vipsthumbnail is not installed")


class Convert(Maker):
    name, label, is_slow = "convert", "ImageMagick convert", True
    cannot = staticmethod(without_avif_or_svg)

    def start(self):
        # /usr/local/bin may have something else of that name.
        self.program = lab.found("magick", "convert-im6.q16") or shutil.which("convert", path="/usr/bin:/bin")
        if not self.program:
            raise Unmeasured("ImageMagick is not installed")

    def work(self, pictures, renditions, folder):
        lines = []
        for rendition in renditions:
            before, behind = rendition.convert()
            quoted = " ".join(f"'{word}'" for word in behind)
            target = f'"{folder}/$(basename "${{1%.*}}")-{rendition.file}"'
            lines.append(f'"{self.program}" {" ".join(before)} "$1" {quoted} {target}')
        lab.output("xargs", "-0", "-P", CORES, "-n", "1", "sh", "-c", " && ".join(lines), "sh",
                   input="\0".join(map(str, pictures)),
                   env=dict(os.environ, MAGICK_THREAD_LIMIT="1", OMP_NUM_THREADS="1"))


class Peer(Maker):
    """A program of benching/peers that runs all the time, in the environment of Python packages."""

    def __init__(self, context, name, label):
        super().__init__(context)
        self.name, self.label, self.is_slow, self.process = name, label, name == "thumbor", None

    def start(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{self.name}-", dir=self.context.work))
        environment = dict(FOR_PEERS, BENCH_FOLDER=str(self.folder), VIPS_CONCURRENCY="1")
        self.log = open(self.folder / "log", "w+")
        self.process = subprocess.Popen(
            [self.context.python, PEERS / "makers.py", self.name, str(CORES)], env=environment, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.answer(120)

    def answer(self, seconds=LIMIT):
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.log.seek(0)
            why = "it has ended" if ready else f"no answer in {seconds} s"
            raise Unmeasured((self.log.read().strip().splitlines() or [why])[-1])
        answer = json.loads(line)
        if "error" in answer:
            raise Unmeasured(answer["error"])

    def cannot(self, job):
        if self.name == "thumbor":
            return "reads no HEIC" if job.set == "heic" else without_avif_or_svg(job)

    def processor_time(self):
        return lab.processor_time(self.process.pid)

    def work(self, pictures, renditions, folder):
        task = {"pictures": [str(path) for path in pictures], "folder": str(folder),
                "renditions": [vars(rendition) for rendition in renditions]}
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        self.answer()

    def stop(self):
        if not self.process:
            return
        self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        # Its processes are in a session of their own; none outlives it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def all(context):
    """Cameo's neighbours in a round are the two that it is compared with most."""
    peers = {"pool": "pyvips in a pool", "huey": "huey + pyvips", "rq": "RQ on Redis + pyvips", "thumbor": "thumbor"}
    return [Vipsthumbnail(context), Cameo(context), *(Peer(context, *peer) for peer in peers.items()), Convert(context)]
