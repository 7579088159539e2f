"""How long it takes to read a thumbnail: by `cameo-status cat`, by a URLSession, over HTTP beside nginx."""
import os
import statistics
import subprocess
import tempfile
import time

from benching import library, queue, web
from benching.measuring import Unmeasured, percentile, progress


def run(context, pictures):
    progress("reads")
    result = {}
    parts = {"cat": cat, "URLSession": session, "HTTP": http}
    for name, measure in parts.items():
        with context.notes.failures_of(f"reads: {name}"):
            if (figures := measure(context, pictures)) is not None:
                result[name] = figures
    return result


def show(_, what, figure):
    progress(f"    {what}: {figure}")


def cat(context, pictures):
    """Milliseconds of a whole process, beside those of `cat` of the same bytes in a file."""
    with tempfile.TemporaryDirectory(prefix="reads-", dir=context.environment.work) as folder:
        bench = queue.Bench(context.bin, folder)
        store = bench.folder / "store"
        uri = bench.run("cameo-enqueue", "--store", store, pictures[0], "--size", "256x256:cover:webp").split()[2]
        bench.run("cameo-worker", "--store", store, "--drain", "--log-level", "critical", "--allow-root", pictures[0].parent)
        command = [context.bin / "cameo-status", "--store", store, "cat", uri]
        data = subprocess.run(command, check=True, capture_output=True).stdout
        if data[:4] != b"RIFF":
            raise Unmeasured("cameo-status cat does not print the thumbnail")
        file = bench.folder / "thumbnail.webp"
        file.write_bytes(data)
        times = {"cameo": [], "cat": []}
        for _ in range(20 if context.quick else 100):
            for name, words in (("cameo", command), ("cat", ["/bin/cat", file])):
                started = time.monotonic()
                subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
                times[name].append((time.monotonic() - started) * 1000)
    result = {"bytes": len(data)}
    for name, values in times.items():
        result[name] = {"p50": round(statistics.median(values), 2), "p99": round(percentile(values, 0.99), 2)}
    show(None, "cameo-status cat", f"p50 {result['cameo']['p50']} ms; cat of a file {result['cat']['p50']} ms")
    return result


def session(context, _):
    if not (context.bin / "cameo-library-bench").exists():
        raise Unmeasured("cameo-library-bench is not built")

    class Bench(library.Bench):
        pass

    Bench.show = show
    with tempfile.TemporaryDirectory(prefix="library-", dir=context.environment.work) as folder:
        bench = Bench(context.bin, folder)
        sizes = (16_384,) if context.quick else (4_096, 16_384, 30_720)
        return [rounded(bench.loads(size, 2 if context.quick else 5)) for size in sizes]


def http(context, pictures):
    if not (context.bin / "cameo-web").exists():
        return context.notes.leave_out("reads: HTTP", "cameo-web is not built")
    if absent := web.missing():
        packages = ", ".join(package for _, package in absent)
        return context.notes.leave_out("reads: HTTP", f"not installed: {packages}")

    class Bench(web.Bench):
        pass

    Bench.show = show
    web.SECONDS = 2 if context.quick else 5
    # Not in the cache, because nginx gives up its rights to a user who may not reach that.
    with tempfile.TemporaryDirectory(prefix="cameo-bench-") as folder:
        os.chmod(folder, 0o755)
        return rounded(Bench(context.bin, folder).loads(pictures[0].resolve(), 1 if context.quick else 5, 0))


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return round(value, 2) if isinstance(value, float) else value
