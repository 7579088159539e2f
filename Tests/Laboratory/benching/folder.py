"""Programs that start for each measurement, on pictures and videos of one's own: a drain by a worker beside
vipsthumbnail, one process a core, and frames of videos beside ffmpegthumbnailer, at the same moments of the same files.
Rounds alternate; the medians are compared."""
import statistics
import sys
import tempfile

import lab
from benching import store
from benching.renditions import Rendition, options_of, vipsthumbnail

WEBP, JPEG = Rendition(256, "cover", "webp"), Rendition(1024, "inside", "jpeg")
JOBS = {"256 cover WebP": [WEBP], "1024 inside JPEG": [JPEG], "both in one job": [WEBP, JPEG]}
MOMENTS = range(5, 100, 5)  # per cent
ENDINGS = {".mp4", ".m4v", ".mov", ".webm", ".mkv", ".ts", ".avi"}


def cameo(bin, files, renditions, folder):
    """The seconds of a drain."""
    bench, queue = store.Bench(bin, folder), f"{folder}/store"
    bench.enqueue(queue, files, *options_of(renditions))
    drain = ["--store", queue, "--drain", "--log-level", "critical", "--allow-root", "/"]
    return lab.timed(bench.run, "cameo-worker", *drain)[1]


def read(files, what):
    """Reads files, so that all programs read from the page cache."""
    if not files:
        sys.exit(f"no {what}")
    for path in files:
        path.read_bytes()


def run(bin, folder, rounds):
    lab.need("vipsthumbnail", "libvips-tools")
    files = sorted(path.resolve() for path in folder.rglob("*.jpg") if path.is_file() and not path.is_symlink())
    read(files, f"*.jpg below {folder}")
    print(f"{len(files)} pictures, {lab.CORES} cores, medians of {rounds} alternating rounds")
    print(f"{'':18}{'cameo':>12}{'vipsthumbnail':>16}{'ratio':>8}")
    for name, renditions in JOBS.items():
        theirs, ours = [], []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as scratch:
                theirs.append(lab.timed(vipsthumbnail, files, renditions, scratch)[1])
            with tempfile.TemporaryDirectory() as scratch:
                ours.append(cameo(bin, files, renditions, scratch))
        ours, theirs = statistics.median(ours), statistics.median(theirs)
        print(f"{name:18}{len(files) / ours:10.1f}/s{len(files) / theirs:14.1f}/s{theirs / ours:8.2f}", flush=True)


def frames(bin, path, by_cameo):
    """The milliseconds of processor time of a frame, for Cameo as a job from claim to stored JPEG."""
    with tempfile.TemporaryDirectory() as folder:
        queue = ["--store", f"{folder}/store"]
        for moment in MOMENTS if by_cameo else ():
            lab.output(bin / "cameo-enqueue", *queue, path, "--size", "512x512:jpeg", "--time", f"{moment}%")
        before = lab.children_time()
        if by_cameo:
            lab.output(bin / "cameo-worker", *queue, "--drain", "--log-level", "error", "--allow-root", "/",
                       "--max-source-bytes", "4GiB")
        for moment in () if by_cameo else MOMENTS:
            lab.output("ffmpegthumbnailer", "-s", 512, "-t", f"{moment}%", "-c", "jpeg", "-i", path,
                       "-o", f"{folder}/{moment}.jpg")
        return (lab.children_time() - before) / len(MOMENTS) * 1000


def run_videos(bin, folder, rounds):
    lab.need("ffmpegthumbnailer", "ffmpegthumbnailer")
    if not (bin / "cameo-frames").exists():
        sys.exit("there is no release build with videos: run deploy/build --video first")
    files = sorted(path.resolve() for path in folder.iterdir() if path.suffix in ENDINGS)
    print(f"processor time of a frame, medians of {rounds} alternating rounds of {len(MOMENTS)} frames, ms")
    print(f"{'':24}{'cameo':>8}{'ffmpegthumbnailer':>20}{'ratio':>8}")
    read(files, f"videos in {folder}")
    for path in files:
        pairs = [(frames(bin, path, False), frames(bin, path, True)) for _ in range(rounds)]
        theirs, ours = map(statistics.median, zip(*pairs))
        print(f"{path.name:24}{ours:8.1f}{theirs:20.1f}{ours / theirs:8.2f}", flush=True)
