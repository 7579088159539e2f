"""Measures the processor time (user and system) of a frame of a video, as a job of cameo-worker from claim to stored JPEG
and by ffmpegthumbnailer, at the same moments of the same files. Rounds alternate; the medians are compared."""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

MOMENTS = range(5, 100, 5)  # per cent
EDGE = 512
ENDINGS = {".mp4", ".m4v", ".mov", ".webm", ".mkv", ".ts", ".avi"}


def children():
    """The processor time of all processes that were waited for, in milliseconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1000


def cameo(bin, path):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, CAMEO_STORE=f"{folder}/store")
        for moment in MOMENTS:
            command = [bin / "cameo-enqueue", path, "--size", f"{EDGE}x{EDGE}:jpeg", "--time", f"{moment}%"]
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        before = children()
        command = [bin / "cameo-worker", "--drain", "--log-level", "error", "--allow-root", "/", "--max-source-bytes", "4GiB"]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        return (children() - before) / len(MOMENTS)


def ffmpegthumbnailer(path):
    with tempfile.TemporaryDirectory() as folder:
        before = children()
        for moment in MOMENTS:
            command = ["ffmpegthumbnailer", "-s", str(EDGE), "-t", f"{moment}%", "-c", "jpeg", "-i", path,
                       "-o", f"{folder}/{moment}.jpg"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return (children() - before) / len(MOMENTS)


def run(bin, folder, rounds):
    if not shutil.which("ffmpegthumbnailer"):
        sys.exit("ffmpegthumbnailer is missing: apt-get install ffmpegthumbnailer")
    if not (bin / "cameo-frames").exists():
        sys.exit("there is no release build with videos: run deploy/build --video first")
    files = sorted(path.resolve() for path in folder.iterdir() if path.suffix in ENDINGS)
    if not files:
        sys.exit(f"no videos in {folder}")
    print(f"processor time of a frame, medians of {rounds} alternating rounds of {len(MOMENTS)} frames, ms")
    print(f"{'':24}{'cameo':>8}{'ffmpegthumbnailer':>20}{'ratio':>8}")
    for path in files:
        path.read_bytes()  # so that both read from the page cache
        ours, theirs = [], []
        for _ in range(rounds):
            theirs.append(ffmpegthumbnailer(path))
            ours.append(cameo(bin, path))
        mine, other = statistics.median(ours), statistics.median(theirs)
        print(f"{path.name:24}{mine:8.1f}{other:20.1f}{mine / other:8.2f}", flush=True)
