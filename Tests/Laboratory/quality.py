"""deploy/quality FOLDER [--photos N] [--apart] [--json]
deploy/quality --formats [FOLDER] [--photos N] [--json]

Compares Cameo's thumbnails of photographs at five sizes with those of vipsthumbnail and with a slow reference: a full
decode, rotated upright, converted to sRGB by the embedded profile, then a single `vips resize` to the exact size
(lanczos3, no preliminary shrinking, floating point, colours premultiplied by alpha). Every thumbnail is a PNG, so that
encoding does not affect the comparison.

With --formats, a zone plate, text, transparent text and the photographs are written in every format that Cameo reads, at a
width of 1600, and thumbnails of 400 pixels are compared with the reference of the same file: what a format's decoder costs
in sharpness is seen as decibels (PSNR; over all colours, the lowest of all photographs).

Prints the mean absolute difference (of 255, over red, green and blue) and the SSIM of the luminance (windows of 8 × 8
pixels, four apart; the mean over all photographs, and the worst). Sets up and builds what is missing. Exits with 1 if a
photograph could not be compared.
"""
import itertools
import json
import math
import multiprocessing
import operator
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

import lab

SIZES = [64, 256, 512, 1024, 1600]
SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".heic", ".avif"}
PAIRS = [("Cameo", "reference"), ("vipsthumbnail", "reference"), ("Cameo", "vipsthumbnail")]
ONE_CORE = dict(os.environ, VIPS_CONCURRENCY="1")


def vips(*words):
    lab.output("vips", *words, env=ONE_CORE)


def header(path, field):
    """A field of a picture's header, or the empty string if it is missing."""
    done = subprocess.run(["vipsheader", "-f", field, path], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


# ------------------------------------------------------------------------------------------------------------- pictures


def pixels(path, work):
    """Width, height and the bytes of red, green and blue; transparent pixels are shown on white."""
    flat = work / "s.v"
    vips("colourspace", path, flat, "srgb")
    if header(flat, "bands") == "4":
        vips("flatten", flat, work / "f.v", "--background", "255")
        flat = work / "f.v"
    width, height = int(header(flat, "width")), int(header(flat, "height"))
    vips("rawsave", flat, work / "p.raw")
    data = (work / "p.raw").read_bytes()
    if len(data) != width * height * 3:
        raise RuntimeError(f"{path} is not a picture of three bytes per pixel")
    return width, height, data


def reference(photo, work):
    """Prepares the full photograph, upright, in 8-bit sRGB, premultiplied, from which every size is resized."""
    vips("autorot", photo, work / "r0.v")
    if header(work / "r0.v", "icc-profile-data"):
        vips("icc_transform", work / "r0.v", work / "r1.v", "srgb", "--embedded", "--intent", "relative", "--depth", "8")
    else:
        vips("colourspace", work / "r0.v", work / "r1.v", "srgb")
    # Floating point, because with hundreds of taps the rounding of libvips' integer kernel shifts the brightness.
    if header(work / "r1.v", "bands") == "4":
        vips("premultiply", work / "r1.v", work / "full.v")
    else:
        vips("cast", work / "r1.v", work / "full.v", "float")


def resized(work, width, height, out):
    full = work / "full.v"
    scale = [repr(width / int(header(full, "width"))), "--vscale", repr(height / int(header(full, "height")))]
    vips("resize", full, work / "z.v", *scale, "--kernel", "lanczos3", "--gap", "0")
    if header(work / "z.v", "bands") == "4":
        vips("unpremultiply", work / "z.v", work / "u.v")
        shutil.move(work / "u.v", work / "z.v")
    vips("round", work / "z.v", work / "i.v", "rint")
    vips("cast", work / "i.v", work / "c.v", "uchar")
    vips("copy", work / "c.v", out, "--interpretation", "srgb")


# ------------------------------------------------------------------------------------------------------------ comparing


def difference(one, other):
    return sum(map(abs, map(operator.sub, one, other))) / len(one)


def luminance(data):
    """The luminance of each pixel, 0…255, by the weights of BT.601."""
    return [(299 * red + 587 * green + 114 * blue) / 1000 for red, green, blue in zip(data[0::3], data[1::3], data[2::3])]


def products(one, other):
    return [list(map(operator.mul, a, b)) for a, b in zip(one, other)]


def block_sums(rows, width):
    """The sums of the adjacent 4 × 4 blocks in four rows."""
    columns = list(map(sum, zip(*rows)))
    return [sum(columns[at : at + 4]) for at in range(0, width - 3, 4)]


def ssim(one, other, width, height):
    """Mean SSIM index (Wang et al., 2004) of windows of 8 × 8 pixels, four apart, as in ffmpeg's ssim filter."""
    lines = []
    for top in range(0, height - 3, 4):
        a, b = ([data[at : at + width] for at in range(top * width, (top + 4) * width, width)] for data in (one, other))
        lines.append([block_sums(rows, width) for rows in (a, b, products(a, a), products(b, b), products(a, b))])
    c1, c2, found = (0.01 * 255) ** 2, (0.03 * 255) ** 2, []
    for upper, lower in itertools.pairwise(lines):
        sums = [[p + q for p, q in zip(above, below)] for above, below in zip(upper, lower)]
        for window in zip(*([p + q for p, q in zip(row, row[1:])] for row in sums)):
            mean_a, mean_b, square_a, square_b, product = (value / 64 for value in window)
            variances, covariance = square_a - mean_a**2 + square_b - mean_b**2, product - mean_a * mean_b
            found.append((2 * mean_a * mean_b + c1) * (2 * covariance + c2) / ((mean_a**2 + mean_b**2 + c1) * (variances + c2)))
    return sum(found) / len(found) if found else None


def compare_photo(task):
    """Returns {size: {pair: (difference, SSIM)}} of one photograph, or the reason why it cannot be compared."""
    photo, thumbnails, folder = task
    result = {}
    try:
        with tempfile.TemporaryDirectory(dir=folder) as name:
            work = pathlib.Path(name)
            reference(photo, work)
            # Told to export a photograph without a profile, vipsthumbnail 8.14 shifts all colours, so it is not told to.
            profile = ["--export-profile", "srgb"] if header(photo, "icc-profile-data") else []
            for size, ours in thumbnails.items():
                width, height, data = pixels(ours, work)
                # The exact size, because an edge of half a pixel is rounded differently.
                theirs, wanted = work / f"{size}.png", ["-s", f"{width}x{height}!", *profile]
                lab.output("vipsthumbnail", photo, *wanted, "-o", f"{theirs}[strip]", env=ONE_CORE)
                resized(work, width, height, work / "reference.v")
                images = {"Cameo": data}
                for maker, path in [("vipsthumbnail", theirs), ("reference", work / "reference.v")]:
                    *found, images[maker] = pixels(path, work)
                    if found != [width, height]:
                        raise RuntimeError(f"{maker} makes {found[0]}x{found[1]} at size {size}, Cameo {width}x{height}")
                shades = {maker: luminance(data) for maker, data in images.items()}
                result[size] = {(one, other): (difference(images[one], images[other]), ssim(shades[one], shades[other], width, height))
                                for one, other in PAIRS}
    except (RuntimeError, OSError) as error:
        return photo, None, str(error)
    return photo, result, None


# -------------------------------------------------------------------------------------------------------------- formats

AV1, HEVC = (("--compression", name, "--Q", "90", "--effort", "1") for name in ("av1", "hevc"))
# By name: the suffix and how `vips` writes it.
FORMATS = {
    "PNG": ("png", "pngsave"), "JPEG": ("jpg", "jpegsave", "--Q", "95"), "TIFF": ("tif", "tiffsave"), "GIF": ("gif", "gifsave"),
    "WebP": ("webp", "webpsave", "--Q", "90"), "WebP, lossless": ("webp", "webpsave", "--lossless"),
    "AVIF": ("avif", "heifsave", *AV1), "HEIC": ("heic", "heifsave", *HEVC),
}
WIDTH, SMALL = 1600, 400
OPAQUE = {"JPEG"}


def subjects(photos, work):
    """Pictures by name, in pixels."""
    vips("zone", work / "zone.v", WIDTH, WIDTH, "--uchar")
    vips("text", work / "ink.v", "Sphinx of black quartz, judge my vow. 0123456789 " * 40, "--width", WIDTH, "--dpi", 140)
    vips("invert", work / "ink.v", work / "text.v")
    vips("linear", work / "ink.v", work / "blue.v", "0 0 0", "20 20 120", "--uchar")
    vips("bandjoin", f"{work / 'blue.v'} {work / 'ink.v'}", work / "both.v")
    vips("copy", work / "both.v", work / "transparent.v", "--interpretation", "srgb")
    found = {"zone plate": [work / "zone.v"], "text": [work / "text.v"], "transparent": [work / "transparent.v"]}
    for number, photo in enumerate(photos):
        vips("thumbnail", photo, work / f"photo{number}.v", WIDTH, "--height", 100_000)
        found.setdefault("photographs", []).append(work / f"photo{number}.v")
    return found


def decibels(task):
    file, thumbnail, folder = task
    with tempfile.TemporaryDirectory(dir=folder) as name:
        work = pathlib.Path(name)
        reference(file, work)
        width, height, ours = pixels(thumbnail, work)
        resized(work, width, height, work / "reference.v")
        *_, right = pixels(work / "reference.v", work)
        error = sum((one - other) ** 2 for one, other in zip(ours, right)) / len(right)
        return 10 * math.log10(255**2 / error) if error else math.inf


def compare_formats(bin, photos, folder):
    """One row per format: the lowest PSNR of each kind of picture; None if there is none."""
    kinds, files = subjects(photos, folder), {}
    for (format, (suffix, *saver)), (kind, originals) in itertools.product(FORMATS.items(), kinds.items()):
        if kind == "transparent" and format in OPAQUE:
            continue
        for original in originals:
            file = folder / f"{original.stem}-{len(files)}.{suffix}"
            try:
                vips(saver[0], original, file, *saver[1:])
            except RuntimeError as error:
                print(f"no {format} of {kind}: {error}", file=sys.stderr)
                continue
            files[file] = (format, kind)
    made = thumbnails(bin, list(files), [[SMALL]], folder)
    rows = {format: {"format": format} | dict.fromkeys(kinds) for format in FORMATS}
    with multiprocessing.Pool(lab.CORES, children_obey) as pool:
        found = pool.map(decibels, [(file, sizes[SMALL], folder) for file, sizes in made.items() if sizes])
    for file, level in zip([file for file, sizes in made.items() if sizes], found):
        format, kind = files[file]
        rows[format][kind] = min(level, rows[format][kind] or math.inf)
    return kinds, list(rows.values())


def print_formats(kinds, rows, as_json):
    if as_json:
        return print(json.dumps({"rows": rows}, indent=2, default=str))
    print(f"PSNR in dB against one plain resize of the same file, {WIDTH} to {SMALL} pixels wide")
    print(f"{'format':16}" + "".join(f"{kind:>14}" for kind in kinds))
    for row in rows:
        print(f"{row['format']:16}" + "".join(f"{'–' if row[kind] is None else f'{row[kind]:.1f}':>14}" for kind in kinds))


# ----------------------------------------------------------------------------------------------------------------- main


def thumbnails(bin, photos, groups, folder):
    """Makes {photo: {size: file}} with Cameo, one job per photograph and group of sizes."""
    store, uris, made = ["--store", folder / "store"], {photo: {} for photo in photos}, {}
    for sizes in groups:
        options = [word for size in sizes for word in ("--size", f"{size}x{size}:png")]
        printed = lab.output(bin / "cameo-enqueue", *store, "-", *options, "--json", input="\n".join(map(str, photos)))
        for photo, line in zip(photos, printed.splitlines()):
            uris[photo] |= dict(zip(sizes, (thumbnail["uri"] for thumbnail in json.loads(line)["thumbnails"])))
    worker = subprocess.run(lab.words(bin / "cameo-worker", *store, "--drain", "--log-level", "error", "--allow-root", "/"),
                            stdout=subprocess.DEVNULL)
    if worker.returncode not in (0, 1):
        raise RuntimeError(f"the worker failed with exit code {worker.returncode}")
    for number, photo in enumerate(photos):
        files = {size: folder / f"{number}-{size}.png" for size in uris[photo]}
        for size, uri in uris[photo].items():
            with open(files[size], "wb") as file:
                done = subprocess.run(lab.words(bin / "cameo-status", *store, "cat", uri), stdout=file, stderr=subprocess.DEVNULL)
            if done.returncode != 0:
                print(f"Cameo made no thumbnail of {photo}", file=sys.stderr)
                break
        else:
            made[photo] = files
    return made


def children_obey():
    """Leaves Ctrl-C to the parent, which ends its children with SIGTERM; they then end theirs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def compare(made, folder):
    results, failed, line = {}, [], lab.Line()
    with multiprocessing.Pool(lab.CORES, children_obey) as pool:
        tasks = [(photo, files, folder) for photo, files in made.items()]
        for done, (photo, result, reason) in enumerate(pool.imap_unordered(compare_photo, tasks), 1):
            if reason:
                failed.append(f"{photo}: {reason}")
            else:
                results[photo] = result
            line(f"compared {done} of {len(tasks)} photographs", done == len(tasks))
    line.close()
    return results, failed


def summary(results):
    """One row per size and pair."""
    rows = []
    for size, pair in itertools.product(SIZES, PAIRS):
        differences = [result[size][pair][0] for result in results.values()]
        alike = {photo: result[size][pair][1] for photo, result in results.items() if result[size][pair][1] is not None}
        worst = min(alike, key=alike.get) if alike else None
        rows.append({
            "size": size, "pair": " ↔ ".join(pair),
            "difference": round(statistics.mean(differences), 3), "largestDifference": round(max(differences), 3),
            "ssim": round(statistics.mean(alike.values()), 5) if alike else None,
            "lowestSSIM": round(alike[worst], 5) if alike else None, "lowestIn": worst.name if worst else None,
        })
    return rows


def arguments():
    parser = lab.parser("quality", __doc__)
    add = parser.add_argument
    add("folder", metavar="FOLDER", type=pathlib.Path, nargs="?", help="photographs: JPEG, PNG, WebP, TIFF, HEIC, AVIF")
    add("--formats", action="store_true", help="compare the formats of sources instead, of synthetic pictures and photographs")
    add("--photos", type=int, metavar="N", help="use only N photographs, evenly chosen (default: all)")
    add("--apart", action="store_true", help="make each size in a job of its own, from its own decode, instead of all from one")
    add("--json", action="store_true", help="print the table as JSON")
    options = parser.parse_args()
    if options.photos is not None and options.photos < 1:
        parser.error("--photos: must be at least 1")
    lab.check_bin(options, parser.error, "cameo-worker")
    found = sorted(path.resolve() for path in (options.folder.rglob("*") if options.folder else []) if path.suffix.lower() in SUFFIXES and path.is_file())
    photos = [path for path in dict.fromkeys(found) if "\n" not in str(path)]
    if not photos and not options.formats:
        parser.error(f"no photographs below {options.folder}" if options.folder else "FOLDER is missing")
    if options.photos is not None and options.photos < len(photos):
        photos = [photos[index * len(photos) // options.photos] for index in range(options.photos)]
    return options, photos


def main():
    options, photos = arguments()
    bin = lab.built(options, ". deploy/setup build test\ndeploy/build")
    for command in ("vips", "vipsheader", "vipsthumbnail"):
        lab.need(command, "libvips-tools")
    try:
        with tempfile.TemporaryDirectory(prefix="cameo-quality-", ignore_cleanup_errors=True) as name:
            if options.formats:
                return print_formats(*compare_formats(bin, photos, pathlib.Path(name)), options.json)
            print(f"making thumbnails of {len(photos)} photographs", file=sys.stderr)
            groups = [[size] for size in SIZES] if options.apart else [SIZES]
            results, failed = compare(thumbnails(bin, photos, groups, pathlib.Path(name)), name)
    except RuntimeError as error:
        sys.exit(str(error))
    for line in failed:
        print(f"skipped: {line}", file=sys.stderr)
    if not results:
        sys.exit("nothing could be compared")
    rows = summary(results)
    if options.json:
        print(json.dumps({"photos": len(results), "rows": rows}, indent=2, ensure_ascii=False))
    else:
        print(f"{len(results)} photographs; mean absolute difference of 255, SSIM of the luminance")
        print(f"{'size':>5}  {'pair':28}{'difference':>11}{'largest':>9}{'SSIM':>9}{'lowest':>9}  lowest in")
        for row in rows:
            alike = "".join(f"{lab.number(row[key], 4):>9}" for key in ("ssim", "lowestSSIM"))
            print(f"{row['size']:>5}  {row['pair']:28}{row['difference']:>11.2f}{row['largestDifference']:>9.2f}{alike}  {row['lowestIn']}")
    return 1 if failed or len(results) < len(photos) else 0


lab.main(main)
