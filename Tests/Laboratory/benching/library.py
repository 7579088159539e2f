"""Measures loads by `URLSession.cameo`: 1,000 thumbnails, one after the other, twice, with memory and without."""
import statistics
import tempfile

from benching import queue

COUNT, MEMORY = 1_000, 33_554_432


class Bench(queue.Bench):
    def loads(self, size, rounds):
        store, times = self.folder / f"store-{size}", {}
        self.run("cameo-library-bench", store, COUNT, size, "make")
        for _ in range(rounds):
            for memory in (0, MEMORY):
                first, second = map(float, self.run("cameo-library-bench", store, COUNT, size, "read", memory).split())
                times.setdefault((memory, 1), []).append(first)
                times.setdefault((memory, 2), []).append(second)
        middle = {key: statistics.median(values) * 1000 / COUNT for key, values in times.items()}
        first, second = middle[MEMORY, 1], middle[MEMORY, 2]
        self.show(
            f"a load of a thumbnail of {size / 1024:.0f} KiB",
            f"{first:.0f} us; again {second:.0f} us; {first / second:.2f} times as fast; "
            f"again without memory {middle[0, 2]:.0f} us",
        )
        return {"bytes": size, "first": first, "again": second, "againWithoutMemory": middle[0, 2]}


def run(bin, rounds):
    """The microseconds of a load, for each size of thumbnail."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(bin, folder)
        return [bench.loads(size, rounds) for size in (4_096, 16_384, 30_720)]
