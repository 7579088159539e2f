"""Loads of thumbnails by a URLSession, one after the other, twice, with memory and without."""
import statistics

from benching import store

LOADS, MEMORY = 1_000, 33_554_432


def loads(bench, size, rounds):
    place, times = bench.folder / f"store-{size}", {}
    bench.run("cameo-library-bench", place, LOADS, size, "make")
    for _ in range(rounds):
        for memory in (0, MEMORY):
            printed = bench.run("cameo-library-bench", place, LOADS, size, "read", memory)
            for number, took in enumerate(printed.split()):
                times.setdefault((memory, number), []).append(float(took) * 1000 / LOADS)
    middle = {key: statistics.median(values) for key, values in times.items()}
    first, second, without = middle[MEMORY, 0], middle[MEMORY, 1], middle[0, 1]
    bench.show(f"a load of a thumbnail of {size / 1024:.0f} KiB",
               f"{first:.0f} us; again {second:.0f} us; {first / second:.2f} times as fast; "
               f"again without memory {without:.0f} us")


def run(bin, rounds):
    with store.Bench.temporary(bin) as bench:
        for size in (4_096, 16_384, 30_720):
            loads(bench, size, rounds)
