"""Compares a drain by a worker that is started for it with vipsthumbnail, one process a core, on pictures of one's own."""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from benching.measuring import resident, tree

JOBS = {  # name: (sizes for cameo-enqueue, [vipsthumbnail options])
    "256 cover WebP": (["256x256:cover:webp:q75"], [["-s", "256x256", "-m", "centre", "-o", "{out}/%s-256.webp[strip]"]]),
    "1024 inside JPEG": (["1024x1024:jpeg:q75"], [["-s", "1024x1024>", "-o", "{out}/%s-1024.jpg[strip]"]]),
    "both in one job": (
        ["256x256:cover:webp:q75", "1024x1024:jpeg:q75"],
        [
            ["-s", "256x256", "-m", "centre", "-o", "{out}/%s-256.webp[strip]"],
            ["-s", "1024x1024>", "-o", "{out}/%s-1024.jpg[strip]"],
        ],
    ),
}


def peak_memory(root, stop, peaks):
    """Samples the resident memory of a process and of its descendants, in MiB, until stopped."""
    while not stop.wait(0.02):
        worker, renderers = resident(root), [resident(pid) for pid in tree(root) - {root}]
        for name, value in (("worker", worker), ("renderer", max(renderers, default=0)), ("total", worker + sum(renderers))):
            peaks[name] = max(peaks[name], value)


def cameo(bin, files, sizes, folder, peaks=None):
    environment = dict(os.environ, CAMEO_STORE=str(folder / "store"))
    arguments = [word for size in sizes for word in ("--size", size)]
    listing = "\n".join(map(str, files)).encode()
    subprocess.run([bin / "cameo-enqueue", "-", *arguments], input=listing, env=environment, check=True, stdout=subprocess.DEVNULL)
    started = time.monotonic()
    worker = subprocess.Popen(
        [bin / "cameo-worker", "--drain", "--log-level", "critical", "--allow-root", "/"],
        env=environment, stdout=subprocess.PIPE,
    )
    stop = threading.Event()
    if peaks is not None:
        threading.Thread(target=peak_memory, args=(worker.pid, stop, peaks)).start()
    summary = worker.communicate()[0].decode()
    seconds = time.monotonic() - started
    stop.set()
    if worker.returncode != 0:
        sys.exit(f"the worker failed: {summary}")
    return seconds


def vipsthumbnail(files, options, folder, cores):
    environment = dict(os.environ, VIPS_CONCURRENCY="1")
    started = time.monotonic()

    def run(share):
        for words in options:
            words = [word.format(out=folder) for word in words]
            subprocess.run(["vipsthumbnail", *share, *words], env=environment, check=True, stderr=subprocess.DEVNULL)

    threads = [threading.Thread(target=run, args=(files[core::cores],)) for core in range(cores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - started


def run(bin, folder, pattern, rounds):
    if not shutil.which("vipsthumbnail"):
        sys.exit("vipsthumbnail is missing: apt-get install libvips-tools")
    files = sorted(path.resolve() for path in folder.rglob(pattern) if path.is_file() and not path.is_symlink())
    if not files:
        sys.exit(f"no {pattern} below {folder}")
    cores = len(os.sched_getaffinity(0))
    for path in files:
        path.read_bytes()  # so that both read from the page cache
    peaks = {"worker": 0, "renderer": 0, "total": 0}
    print(f"{len(files)} pictures, {cores} cores, medians of {rounds} alternating rounds")
    print(f"{'':18}{'cameo':>12}{'vipsthumbnail':>16}{'ratio':>8}")
    for name, (sizes, words) in JOBS.items():
        times = {"cameo": [], "vips": []}
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                times["vips"].append(vipsthumbnail(files, words, pathlib.Path(folder), cores))
            with tempfile.TemporaryDirectory() as folder:
                times["cameo"].append(cameo(bin, files, sizes, pathlib.Path(folder)))
        with tempfile.TemporaryDirectory() as folder:
            cameo(bin, files, sizes, pathlib.Path(folder), peaks)  # not timed, because sampling uses part of a core
        ours, theirs = statistics.median(times["cameo"]), statistics.median(times["vips"])
        print(f"{name:18}{len(files) / ours:10.1f}/s{len(files) / theirs:14.1f}/s{theirs / ours:8.2f}")
    print("peak resident memory: worker {worker:.0f} MiB, largest renderer {renderer:.0f} MiB, all {total:.0f} MiB".format(**peaks))
