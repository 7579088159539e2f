"""deploy/quality FOLDER [--apart]
deploy/quality --formats [FOLDER]

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
import math
import pathlib
import statistics
import sys
import tempfile

import lab
from benching import store
from benching.place import enter, environment

with contextlib.suppress(ImportError):  # before it runs in the environment
    from benching import qualities

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
    """Prints the lowest PSNR of each kind of pictures in each format."""
    files = qualities.make_subjects(photos, folder)
    formats, kinds = (list(dict.fromkeys(names)) for names in zip(*files.values()))
    lowest, made = {}, thumbnails(bin, list(files), [[qualities.SMALL]], folder)
    for file, level in qualities.compare(qualities.compare_format, made, folder).items():
        lowest[files[file]] = min(level, lowest.get(files[file], math.inf))
    print(f"PSNR in dB against one plain resize of the same file, {qualities.WIDTH} to {qualities.SMALL} pixels wide\n")
    print(lab.table(["format", *kinds], [[format, *(lab.number(lowest.get((format, kind)), 1) for kind in kinds)]
                                         for format in formats]), end="")


def compare_sizes(bin, photos, is_apart, folder):
    """Prints a row per size and pair; whether all could be compared."""
    lab.progress(f"making thumbnails of {len(photos)} photographs")
    made = thumbnails(bin, photos, [[size] for size in SIZES] if is_apart else [SIZES], folder)
    results = qualities.compare(qualities.compare_photograph, made, folder)
    if not results:
        sys.exit("nothing could be compared")
    rows = []
    for size, pair in itertools.product(SIZES, next(iter(results.values()))[SIZES[0]]):
        differences = [result[size][pair][0] for result in results.values()]
        alike = {photo: result[size][pair][1] for photo, result in results.items() if result[size][pair][1] is not None}
        worst = min(alike, key=alike.get, default=None)
        figures = [statistics.mean(differences), max(differences), statistics.mean(alike.values()) if alike else None,
                   alike.get(worst)]
        rows.append([size, pair, *map(lab.number, figures, (2, 2, 4, 4)), worst.name if worst else "-"])
    print(f"{len(results)} photographs; mean absolute difference of 255, SSIM of the luminance\n")
    print(lab.table(["size", "pair", "difference", "largest", "SSIM", "lowest", "lowest in"], rows), end="")
    return len(results) == len(photos)


def arguments():
    parser = lab.parser("quality", __doc__)
    add = parser.add_argument
    lab.add_bin(add)
    add("folder", metavar="FOLDER", type=pathlib.Path, nargs="?", help="photographs: JPEG, PNG, WebP, TIFF, HEIC, AVIF")
    add("--formats", action="store_true",
        help="compare the formats of sources instead, of synthetic pictures and photographs")
    add("--apart", action="store_true",
        help="make each size in a job of its own, from its own decode, instead of all from one")
    options = parser.parse_args()
    found = options.folder.rglob("*") if options.folder else ()
    photos = sorted({path.resolve() for path in found if path.suffix.lower() in SUFFIXES and path.is_file()})
    if not photos and not options.formats:
        parser.error(f"no photographs below {options.folder}" if options.folder else "FOLDER is missing")
    return options, photos


def main():
    options, photos = arguments()
    setup = ". deploy/setup build test\ninstall_missing python3-venv\ndeploy/build"
    bin = lab.built(options, setup, "cameo-worker")
    enter(environment(lab.ROOT / ".build" / "bench", ["pyvips"]), "--bin", bin)
    lab.need("vipsthumbnail", "libvips-tools")
    try:
        with tempfile.TemporaryDirectory(prefix="cameo-quality-", ignore_cleanup_errors=True) as name:
            folder = pathlib.Path(name)
            if options.formats:
                return compare_formats(bin, photos, folder)
            return 0 if compare_sizes(bin, photos, options.apart, folder) else 1
    except RuntimeError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    lab.main(main)
