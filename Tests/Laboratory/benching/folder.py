"""Programs that start for each measurement, on pictures and videos of one's own: a drain by a worker beside vipsthumbnail,
one process a core, and frames of videos beside ffmpegthumbnailer, at the same moments of the same files. Rounds alternate;
the medians are compared."""
import contextlib
import statistics
import subprocess
import sys
import tempfile

import lab
from benching.renditions import Rendition, vipsthumbnail
from lab import CORES

WEBP, JPEG = Rendition(256, 256, "cover", "webp", 75), Rendition(1024, 1024, "inside", "jpeg", 75)
JOBS = {"256 cover WebP": [WEBP], "1024 inside JPEG": [JPEG], "both in one job": [WEBP, JPEG]}
MOMENTS = range(5, 100, 5)  # per cent
EDGE = 512
ENDINGS = {".mp4", ".m4v", ".mov", ".webm", ".mkv", ".ts", ".avi"}


def note_memory(root, peaks):
    """Notes the resident memory of a process and of its descendants, in MiB."""
    worker, renderers = lab.resident(root), [lab.resident(pid) for pid in lab.tree(root) - {root}]
    for name, value in (("worker", worker), ("renderer", max(renderers, default=0)), ("total", worker + sum(renderers))):
        peaks[name] = max(peaks[name], value)


def cameo(bin, files, renditions, folder, peaks=None):
    """The seconds of a drain."""
    store, sizes = f"{folder}/store", [word for rendition in renditions for word in ("--size", rendition.cameo)]
    lab.output(bin / "cameo-enqueue", "--store", store, "-", *sizes, input="".join(f"{path}\n" for path in files))

    def drain():
        with lab.running(bin / "cameo-worker", "--store", store, "--drain", "--log-level", "critical", "--allow-root", "/",
                         stdout=subprocess.PIPE, text=True) as worker:
            with lab.meanwhile(lambda: note_memory(worker.pid, peaks), 0.02) if peaks else contextlib.nullcontext():
                summary = worker.communicate()[0]
        if worker.returncode:
            sys.exit(f"the worker failed: {summary}")

    return lab.timed(drain)[1]


def run(bin, folder, pattern, rounds):
    lab.need("vipsthumbnail", "libvips-tools")
    files = sorted(path.resolve() for path in folder.rglob(pattern) if path.is_file() and not path.is_symlink())
    if not files:
        sys.exit(f"no {pattern} below {folder}")
    for path in files:
        path.read_bytes()  # so that both read from the page cache
    peaks = {"worker": 0, "renderer": 0, "total": 0}
    print(f"{len(files)} pictures, {CORES} cores, medians of {rounds} alternating rounds")
    print(f"{'':18}{'cameo':>12}{'vipsthumbnail':>16}{'ratio':>8}")
    for name, renditions in JOBS.items():
        times = {"cameo": [], "vips": []}
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as scratch:
                times["vips"].append(lab.timed(vipsthumbnail, files, renditions, scratch)[1])
            with tempfile.TemporaryDirectory() as scratch:
                times["cameo"].append(cameo(bin, files, renditions, scratch))
        with tempfile.TemporaryDirectory() as scratch:
            cameo(bin, files, renditions, scratch, peaks)  # not timed, because sampling uses part of a core
        ours, theirs = map(statistics.median, times.values())
        print(f"{name:18}{len(files) / ours:10.1f}/s{len(files) / theirs:14.1f}/s{theirs / ours:8.2f}", flush=True)
    print("peak resident memory: worker {worker:.0f} MiB, largest renderer {renderer:.0f} MiB, all {total:.0f} MiB".format(**peaks))


def frames(bin, path, by_cameo):
    """The milliseconds of processor time of a frame, for Cameo as a job from claim to stored JPEG."""
    with tempfile.TemporaryDirectory() as folder:
        store, limit = ["--store", f"{folder}/store"], ["--max-source-bytes", "4GiB"]
        for moment in MOMENTS if by_cameo else ():
            lab.output(bin / "cameo-enqueue", *store, path, "--size", f"{EDGE}x{EDGE}:jpeg", "--time", f"{moment}%")
        before = lab.children_time()
        if by_cameo:
            lab.output(bin / "cameo-worker", *store, "--drain", "--log-level", "error", "--allow-root", "/", *limit)
        for moment in () if by_cameo else MOMENTS:
            lab.output("ffmpegthumbnailer", "-s", EDGE, "-t", f"{moment}%", "-c", "jpeg", "-i", path, "-o", f"{folder}/{moment}.jpg")
        return (lab.children_time() - before) / len(MOMENTS) * 1000


def run_videos(bin, folder, rounds):
    lab.need("ffmpegthumbnailer", "ffmpegthumbnailer")
    if not (bin / "cameo-frames").exists():
        sys.exit("there is no release build with videos: run deploy/build --video first")
    files = sorted(path.resolve() for path in folder.iterdir() if path.suffix in ENDINGS)
    if not files:
        sys.exit(f"no videos in {folder}")
    print(f"processor time of a frame, medians of {rounds} alternating rounds of {len(MOMENTS)} frames, ms")
    print(f"{'':24}{'cameo':>8}{'ffmpegthumbnailer':>20}{'ratio':>8}")
    for path in files:
        path.read_bytes()  # so that both read from the page cache
        pairs = [(frames(bin, path, False), frames(bin, path, True)) for _ in range(rounds)]
        theirs, ours = map(statistics.median, zip(*pairs))
        print(f"{path.name:24}{ours:8.1f}{theirs:20.1f}{ours / theirs:8.2f}", flush=True)
