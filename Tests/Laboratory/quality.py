"""deploy/quality FOLDER [--photos N] [--apart] [--json]
deploy/quality --formats [FOLDER] [--photos N] [--json]

Compares Cameo's thumbnails of photographs at five sizes with those of vipsthumbnail and with a slow reference: a full
decode, rotated upright, converted to sRGB by the embedded profile, then a single `vips resize` to the exact size
(lanczos3, no preliminary shrinking, floating point, colours premultiplied by alpha). Every thumbnail is a PNG, so that
encoding does not affect the comparison.

With --formats, a zone plate, text, transparent text and the photographs are written in every format that Cameo reads,
at a width of 1600, and thumbnails of 400 pixels are compared with the reference of the same file: what a format's
decoder costs in sharpness is seen as decibels (PSNR; over all colours, the lowest of all photographs).

Prints the mean absolute difference (of 255, over red, green and blue) and the SSIM of the luminance (windows of 8 × 8
pixels, four apart; the mean over all photographs, and the worst). Sets up and builds what is missing, and installs
pyvips from PyPI into .build/bench. Exits with 1 if a photograph could not be compared.
"""
import contextlib
import itertools
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile

import lab
from benching import store
from benching.place import FOR_PEERS, environment

with contextlib.suppress(ImportError):  # before it runs in the environment
    import qualities

SIZES = [64, 256, 512, 1024, 1600]
SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".heic", ".avif"}


def thumbnails(bin, photos, groups, folder):
    """Makes {photo: {size: file}} with Cameo, one job per photograph and group of sizes."""
    bench, queue, uris = store.Bench(bin, folder), folder / "store", {photo: {} for photo in photos}
    for sizes in groups:
        printed = bench.enqueue(queue, photos, *(word for size in sizes for word in ("--size", f"{size}x{size}:png")))
        for photo, line in zip(photos, printed.splitlines()):
            uris[photo] |= dict(zip(sizes, line.split("\t")[2:]))
    with bench.worker(queue, "--drain", "--log-level", "error", "--allow-root", "/") as worker:
        if worker.wait() not in (0, 1):
            raise RuntimeError(f"the worker failed with exit code {worker.returncode}")
    files = bench.export(queue)
    made = {photo: {size: files[uri] for size, uri in sizes.items()} for photo, sizes in uris.items()
            if files.keys() >= set(sizes.values())}
    for photo in uris.keys() - made.keys():
        lab.progress(f"Cameo made no thumbnail of {photo}")
    return made


def compare_formats(bin, photos, folder):
    """The kinds of pictures, and one row per format: the lowest PSNR of each kind; None if there is none."""
    files = qualities.make_subjects(photos, folder)
    formats, kinds = (list(dict.fromkeys(names)) for names in zip(*files.values()))
    rows = {format: {"format": format} | dict.fromkeys(kinds) for format in formats}
    made = thumbnails(bin, list(files), [[qualities.SMALL]], folder)
    for file, level in qualities.compare(qualities.compare_format, made, folder).items():
        format, kind = files[file]
        rows[format][kind] = min(level, rows[format][kind] or math.inf)
    return kinds, list(rows.values())


def print_formats(kinds, rows, as_json):
    if as_json:
        return print(json.dumps({"rows": rows}, indent=2))
    print(f"PSNR in dB against one plain resize of the same file, {qualities.WIDTH} to {qualities.SMALL} pixels wide")
    print(f"{'format':16}" + "".join(f"{kind:>14}" for kind in kinds))
    for row in rows:
        print(f"{row['format']:16}" + "".join(f"{lab.number(row[kind], 1):>14}" for kind in kinds))


def summary(results):
    """One row per size and pair."""
    rows = []
    for size, pair in itertools.product(SIZES, next(iter(results.values()))[SIZES[0]]):
        differences = [result[size][pair][0] for result in results.values()]
        alike = {photo: result[size][pair][1] for photo, result in results.items() if result[size][pair][1] is not None}
        worst = min(alike, key=alike.get) if alike else None
        rows.append({
            "size": size, "pair": pair,
            "difference": round(statistics.mean(differences), 3), "largestDifference": round(max(differences), 3),
            "ssim": round(statistics.mean(alike.values()), 5) if alike else None,
            "lowestSSIM": round(alike[worst], 5) if alike else None, "lowestIn": worst.name if worst else None,
        })
    return rows


def print_summary(results, as_json):
    rows = summary(results)
    if as_json:
        return print(json.dumps({"photos": len(results), "rows": rows}, indent=2, ensure_ascii=False))
    print(f"{len(results)} photographs; mean absolute difference of 255, SSIM of the luminance")
    print(f"{'size':>5}  {'pair':28}{'difference':>11}{'largest':>9}{'SSIM':>9}{'lowest':>9}  lowest in")
    for row in rows:
        alike = "".join(f"{lab.number(row[key], 4):>9}" for key in ("ssim", "lowestSSIM"))
        print("{size:>5}  {pair:28}{difference:>11.2f}{largestDifference:>9.2f}{0}  {lowestIn}".format(alike, **row))


def arguments():
    parser = lab.parser("quality", __doc__)
    add = parser.add_argument
    lab.add_bin(add)
    add("folder", metavar="FOLDER", type=pathlib.Path, nargs="?", help="photographs: JPEG, PNG, WebP, TIFF, HEIC, AVIF")
    add("--formats", action="store_true",
        help="compare the formats of sources instead, of synthetic pictures and photographs")
    add("--photos", type=int, metavar="N", help="use only N photographs, evenly chosen (default: all)")
    add("--apart", action="store_true",
        help="make each size in a job of its own, from its own decode, instead of all from one")
    add("--json", action="store_true", help="print the table as JSON")
    options = parser.parse_args()
    if options.photos is not None and options.photos < 1:
        parser.error("--photos: must be at least 1")
    found = options.folder.rglob("*") if options.folder else ()
    photos = sorted({path.resolve() for path in found if path.suffix.lower() in SUFFIXES and path.is_file()})
    if not photos and not options.formats:
        parser.error(f"no photographs below {options.folder}" if options.folder else "FOLDER is missing")
    if options.photos is not None and options.photos < len(photos):
        photos = [photos[index * len(photos) // options.photos] for index in range(options.photos)]
    return options, photos


def main():
    options, photos = arguments()
    setup = ". deploy/setup build test\ninstall_missing python3-venv\ndeploy/build"
    bin = lab.built(options, setup, "cameo-worker")
    python = environment(lab.ROOT / ".build" / "bench", {"pyvips"})
    if sys.prefix != str(python.parents[1]):
        os.execve(python, [python, *sys.argv, "--bin", bin], FOR_PEERS)
    lab.need("vipsthumbnail", "libvips-tools")
    try:
        with tempfile.TemporaryDirectory(prefix="cameo-quality-", ignore_cleanup_errors=True) as name:
            folder = pathlib.Path(name)
            if options.formats:
                return print_formats(*compare_formats(bin, photos, folder), options.json)
            lab.progress(f"making thumbnails of {len(photos)} photographs")
            groups = [[size] for size in SIZES] if options.apart else [SIZES]
            results = qualities.compare(qualities.compare_photograph, thumbnails(bin, photos, groups, folder), folder)
    except RuntimeError as error:
        sys.exit(str(error))
    if not results:
        sys.exit("nothing could be compared")
    print_summary(results, options.json)
    return 1 if len(results) < len(photos) else 0


if __name__ == "__main__":
    lab.main(main)
