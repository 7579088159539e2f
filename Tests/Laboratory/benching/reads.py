"""How long it takes to read a thumbnail: by `cameo-status cat`, by a URLSession, over HTTP beside nginx."""
import statistics
import subprocess

import lab
from benching import store, web
from lab import Unmeasured

LOADS, MEMORY = 1_000, 33_554_432  # by a session, one after the other, twice, with memory and without


class Bench(store.Bench):
    def cat(self, picture, count):
        """Milliseconds of a whole process, beside those of `cat` of the same bytes in a file."""
        queue, file = self.folder / "store", self.folder / "thumbnail.webp"
        uri = self.run("cameo-enqueue", "--store", queue, picture, "--size", "256x256:cover:webp").split()[2]
        self.run("cameo-worker", "--store", queue, "--drain", "--log-level", "critical", "--allow-root", picture.parent)
        command = [self.bin / "cameo-status", "--store", queue, "cat", uri]
        data = subprocess.run(command, check=True, capture_output=True).stdout
        if data[:4] != b"RIFF":
            raise Unmeasured("cameo-status cat does not print the thumbnail")
        file.write_bytes(data)
        times = {"cameo": [], "cat": []}
        for _ in range(count):
            for name, words in (("cameo", command), ("cat", ["/bin/cat", file])):
                _, took = lab.timed(lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL))
                times[name].append(took * 1000)
        result = {"bytes": len(data), **{name: lab.quantiles(values) for name, values in times.items()}}
        self.show("cameo-status cat", f"p50 {result['cameo']['p50']} ms; cat of a file {result['cat']['p50']} ms")
        return result

    def loads(self, size, rounds):
        """Microseconds of a load by a session."""
        place, times = self.folder / f"store-{size}", {}
        self.run("cameo-library-bench", place, LOADS, size, "make")
        for _ in range(rounds):
            for memory in (0, MEMORY):
                for number, took in enumerate(self.run("cameo-library-bench", place, LOADS, size, "read", memory).split()):
                    times.setdefault((memory, number), []).append(float(took) * 1000 / LOADS)
        middle = {key: statistics.median(values) for key, values in times.items()}
        first, second, without = middle[MEMORY, 0], middle[MEMORY, 1], middle[0, 1]
        self.show(f"a load of a thumbnail of {size / 1024:.0f} KiB",
                  f"{first:.0f} us; again {second:.0f} us; {first / second:.2f} times as fast; "
                  f"again without memory {without:.0f} us")
        return {"bytes": size, "first": first, "again": second, "againWithoutMemory": without}


def run_library(bin, rounds):
    with Bench.temporary(bin) as bench:
        for size in (4_096, 16_384, 30_720):
            bench.loads(size, rounds)


def run(context, pictures):
    result, quick = {}, context.quick

    def by_http():
        web.SECONDS = 2 if quick else 5
        # Not in the cache, which nginx may not reach.
        with web.Bench.temporary(context.bin, reports=True) as bench:
            return bench.loads(pictures[0].resolve(), 1 if quick else 5, 0)

    with Bench.temporary(context.bin, context.work, reports=True) as bench:
        parts = {
            "cat": lambda: bench.cat(pictures[0], 20 if quick else 100),
            "URLSession": lambda: [bench.loads(size, 2 if quick else 5) for size in ((16_384,) if quick else (4_096, 16_384, 30_720))],
            "HTTP": by_http,
        }
        if not (context.bin / "cameo-web").exists():
            context.leave_out("reads: HTTP", "cameo-web is not built")
            del parts["HTTP"]
        elif absent := web.missing():
            context.leave_out("reads: HTTP", f"not installed: {', '.join(package for _, package in absent)}")
            del parts["HTTP"]
        for name, measure in parts.items():
            with context.failures_of(f"reads: {name}"):
                result[name] = lab.rounded(measure())
    return result
