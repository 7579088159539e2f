"""The programs that make thumbnails: Cameo, and what people use. Each makes the renditions of pictures on all cores, and
says how long that took and how much processor time, of its own and of whatever it started, it used."""
import contextlib
import dataclasses
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from benching import queue
from benching.environment import program
from benching.measuring import Unmeasured, processor_time, tree, wait_until

CORES = len(os.sched_getaffinity(0))
PEERS = pathlib.Path(__file__).parent / "peers"
LIMIT = 600  # seconds, of one round


@dataclasses.dataclass
class Round:
    seconds: float
    cpu: float
    files: dict  # {name as written by a peer: file}; Cameo's only if asked for


class Maker:
    name, label = "", ""

    def __init__(self, environment, bin):
        self.environment, self.bin = environment, bin

    def start(self):
        """Starts what runs all the time. Raises if that cannot be."""

    def stop(self):
        pass

    def cannot(self, job):
        """Why it cannot do a job, or None."""

    def make(self, pictures, renditions, folder, wants_files):
        raise NotImplementedError


def written(pictures, renditions, folder):
    names = [rendition.file(path) for path in pictures for rendition in renditions]
    return {name: str(folder / name) for name in names if (folder / name).exists()}


class Cameo(Maker):
    """From the start of cameo-enqueue until the last job's completion is committed, by a worker that was idle before."""

    name, label = "cameo", "Cameo"

    def make(self, pictures, renditions, folder, wants_files):
        store = folder / "store"
        environment = dict(os.environ, CAMEO_STORE=str(store))
        sizes = [word for rendition in renditions for word in ("--size", rendition.cameo)]
        with self.worker(store, pictures[0].parent) as worker, contextlib.closing(queue.connect(store)) as db:
            (last,) = db.execute("SELECT max(id) FROM job").fetchone()
            listing = "".join(f"{path}\n" for path in pictures)
            before = processor_time(worker.pid) + queue.cpu(queue.resource.RUSAGE_CHILDREN)
            started = time.monotonic()
            output = subprocess.run(
                [self.bin / "cameo-enqueue", "-", *sizes], input=listing, env=environment, check=True, capture_output=True, text=True
            ).stdout
            self.finished(db, last, len(pictures))
            seconds = time.monotonic() - started
            cpu = processor_time(worker.pid) + queue.cpu(queue.resource.RUSAGE_CHILDREN) - before
            files = self.export(store, folder, pictures, renditions, output) if wants_files else {}
        return Round(seconds, cpu, files)

    @contextlib.contextmanager
    def worker(self, store, root, *arguments):
        """A worker that has made one picture for each of its renderers, so that they run and wait."""
        warm = store.parent / "warm"
        warm.mkdir()
        for number in range(CORES * 2):
            queue.tiny_png(warm / f"{number}.png")
        environment = dict(os.environ, CAMEO_STORE=str(store))
        command = [self.bin / "cameo-enqueue", "-", "--size", "16x16:jpeg"]
        listing = "".join(f"{path}\n" for path in sorted(warm.iterdir()))
        subprocess.run(command, input=listing, text=True, env=environment, check=True, stdout=subprocess.DEVNULL)
        command = [self.bin / "cameo-worker", "--log-level", "critical", "--allow-root", root, "--allow-root", warm, *arguments]
        worker = subprocess.Popen([str(word) for word in command], env=environment, stdout=subprocess.DEVNULL)
        try:
            with contextlib.closing(queue.connect(store)) as db:
                self.finished(db, 0, CORES * 2)
            wait_until(lambda: len(tree(worker.pid)) > CORES, "starting the renderers")
            # They may be spares that are still starting, which takes them 0.1 s.
            time.sleep(0.5)
            yield worker
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.wait()

    def finished(self, db, last, count):
        """Waits until so many jobs after the last one have ended."""
        limit, seen = time.monotonic() + LIMIT, None
        while True:
            version = db.execute("PRAGMA data_version").fetchone()[0]
            if version != seen:
                seen = version
                look = "SELECT count(*), coalesce(sum(state = 4), 0) FROM outcome WHERE id > ?"
                ended, completed = db.execute(look, [last]).fetchone()
                if ended > completed:
                    raise Unmeasured(f"Cameo discarded {ended - completed} of {count} jobs: {self.reason(db)}")
                if completed == count:
                    return
            if time.monotonic() > limit:
                raise Unmeasured(f"Cameo did not finish {count} jobs in {LIMIT} s")
            # Each look after a commit takes 0.05 ms, of the cores that are measured.
            time.sleep(0.005)

    def reason(self, db):
        row = db.execute("SELECT source, failure_code, failure_message FROM job_status WHERE state = 'discarded'").fetchone()
        return " ".join(map(str, row or ()))

    def export(self, store, folder, pictures, renditions, output):
        target = folder / "exported"
        command = [self.bin / "cameo-status", "--store", store, "export", target]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        by_uri = {entry["uri"]: entry["file"] for entry in json.loads((target / "manifest.json").read_text())}
        files = {}
        for path, line in zip(pictures, output.splitlines()):
            for rendition, uri in zip(renditions, line.split("\t")[2:]):
                if uri in by_uri:
                    files[rendition.file(path)] = str(target / by_uri[uri])
        return files


class Vipsthumbnail(Maker):
    name, label = "vipsthumbnail", "vipsthumbnail"

    def start(self):
        if not program("vipsthumbnail"):
            raise Unmeasured("vipsthumbnail is not installed")

    def make(self, pictures, renditions, folder, wants_files):
        environment = dict(os.environ, VIPS_CONCURRENCY="1")
        errors = []

        def run(share):
            for rendition in renditions:
                command = ["vipsthumbnail", *map(str, share), *rendition.vipsthumbnail(folder)]
                done = subprocess.run(command, env=environment, capture_output=True, text=True)
                if done.returncode:
                    errors.append(done.stderr)

        before, started = queue.cpu(queue.resource.RUSAGE_CHILDREN), time.monotonic()
        threads = [threading.Thread(target=run, args=(pictures[core::CORES],)) for core in range(CORES)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds, cpu = time.monotonic() - started, queue.cpu(queue.resource.RUSAGE_CHILDREN) - before
        if errors:
            raise Unmeasured(errors[0])
        return Round(seconds, cpu, written(pictures, renditions, folder))


class Convert(Maker):
    name, label = "convert", "ImageMagick convert"

    def start(self):
        # /usr/local/bin may have something else of that name.
        self.program = program("magick", "convert-im6.q16") or shutil.which("convert", path="/usr/bin:/bin")
        if not self.program:
            raise Unmeasured("ImageMagick is not installed")

    def cannot(self, job):
        if any(rendition.format == "avif" for rendition in job.renditions):
            return "has no setting for the encoder's effort that would make it the same work"

    def make(self, pictures, renditions, folder, wants_files):
        lines = []
        for rendition in renditions:
            hint, words = rendition.convert()
            quoted = " ".join(f"'{word}'" for word in words)
            target = f'"{folder}/$(basename "${{1%.*}}")-{rendition.label}.{rendition.suffix}"'
            lines.append(f'"{self.program}" {" ".join(hint)} "$1" {quoted} -strip {target}')
        command = ["xargs", "-0", "-P", str(CORES), "-n", "1", "sh", "-c", " && ".join(lines), "sh"]
        environment = dict(os.environ, MAGICK_THREAD_LIMIT="1", OMP_NUM_THREADS="1")
        listing = "\0".join(map(str, pictures)).encode()
        before, started = queue.cpu(queue.resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(command, input=listing, env=environment, capture_output=True)
        seconds, cpu = time.monotonic() - started, queue.cpu(queue.resource.RUSAGE_CHILDREN) - before
        if done.returncode:
            raise Unmeasured(done.stderr.decode(errors="replace").strip().splitlines()[0])
        return Round(seconds, cpu, written(pictures, renditions, folder))


class Peer(Maker):
    """A program of benching/peers that runs all the time, in the environment of Python packages."""

    script = ""

    def start(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{self.name}-", dir=self.environment.work))
        environment = dict(
            os.environ, BENCH_FOLDER=str(self.folder), VIPS_CONCURRENCY="1", PYTHONPATH=str(PEERS), PYTHONDONTWRITEBYTECODE="1"
        )
        self.log = open(self.folder / "log", "w+")
        self.process = subprocess.Popen(
            [self.environment.python, PEERS / self.script, str(CORES)], env=environment, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
        )
        self.answer(120)

    def answer(self, seconds=LIMIT):
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.log.seek(0)
            words = self.log.read().strip().splitlines()[-1:] or ["it has ended" if ready else f"no answer in {seconds} s"]
            raise Unmeasured(words[0])
        answer = json.loads(line)
        if "error" in answer:
            raise Unmeasured(answer["error"])
        return answer

    def make(self, pictures, renditions, folder, wants_files):
        task = {"pictures": [str(path) for path in pictures], "folder": str(folder),
                "renditions": [rendition.words() for rendition in renditions]}
        before = processor_time(self.process.pid)
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        seconds = self.answer()["seconds"]
        cpu = processor_time(self.process.pid) - before
        return Round(seconds, cpu, written(pictures, renditions, folder))

    def stop(self):
        process = getattr(self, "process", None)
        if not process:
            return
        process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            pass
        # Its processes are in a session of their own; none outlives it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Pool(Peer):
    name, label, script = "pool", "pyvips in a pool", "by_pool.py"


class Huey(Peer):
    name, label, script = "huey", "huey + pyvips", "by_huey.py"


class RQ(Peer):
    name, label, script = "rq", "RQ on Redis + pyvips", "by_rq.py"


class Thumbor(Peer):
    name, label, script = "thumbor", "thumbor", "by_thumbor.py"

    def cannot(self, job):
        if job.set == "heic":
            return "reads no HEIC"
        if any(rendition.format == "avif" for rendition in job.renditions):
            return "has no setting for the encoder's effort that would make it the same work"


# Cameo's neighbours in a round are the two that it is compared with most.
MAKERS = (Vipsthumbnail, Cameo, Pool, Huey, RQ, Thumbor, Convert)
SLOW = {"thumbor", "convert"}  # in fewer rounds
