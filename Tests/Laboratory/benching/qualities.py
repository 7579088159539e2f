"""What deploy/quality does with pixels."""
import itertools
import math
import multiprocessing

import lab
import pyvips

PAIRS = [("Cameo", "reference"), ("vipsthumbnail", "reference"), ("Cameo", "vipsthumbnail")]
LUMINANCE = pyvips.Image.new_from_array([[0.299, 0.587, 0.114]])  # the weights of BT.601
WINDOW = pyvips.Image.new_from_array([[1] * 8] * 8, scale=64)
C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
HEIF = {"Q": 90, "effort": 1}
# By name: the suffix and how it is written.
FORMATS = {
    "PNG": ("png", {}), "JPEG": ("jpg", {"Q": 95}), "TIFF": ("tif", {}), "GIF": ("gif", {}),
    "WebP": ("webp", {"Q": 90}), "WebP, lossless": ("webp", {"lossless": True}),
    "AVIF": ("avif", {"compression": "av1", **HEIF}), "HEIC": ("heic", {"compression": "hevc", **HEIF}),
}
WIDTH, SMALL = 1600, 400


def shown(image):
    """Red, green and blue; transparent pixels are shown on white."""
    image = image.colourspace("srgb")
    return (image.flatten(background=255) if image.bands == 4 else image).copy_memory()


def read(path):
    return shown(pyvips.Image.new_from_file(str(path)))


def whole(photo):
    """The full photograph, upright, in 8-bit sRGB, premultiplied, from which every size is resized."""
    image = pyvips.Image.new_from_file(str(photo)).autorot()
    if image.get_typeof("icc-profile-data"):
        image = image.icc_transform("srgb", embedded=True, intent="relative", depth=8)
    else:
        image = image.colourspace("srgb")
    # Floating point, because with hundreds of taps the rounding of libvips' integer kernel shifts the brightness.
    return (image.premultiply() if image.bands == 4 else image.cast("float")).copy_memory()


def reference(full, width, height):
    image = full.resize(width / full.width, vscale=height / full.height, kernel="lanczos3", gap=0)
    image = image.unpremultiply() if image.bands == 4 else image
    return shown(image.rint().cast("uchar").copy(interpretation="srgb"))


def ssim(one, other):
    """Mean SSIM index (Wang et al., 2004) of the luminance, of windows of 8 × 8 pixels, four apart, as in ffmpeg's ssim
    filter."""
    columns, rows = one.width // 4 - 1, one.height // 4 - 1
    if columns < 1 or rows < 1:
        return None

    def means(image):
        return image.conv(WINDOW, precision="float").crop(4, 4, columns * 4, rows * 4).subsample(4, 4)

    a, b = (image.cast("double").recomb(LUMINANCE) for image in (one, other))
    mean_a, mean_b = means(a), means(b)
    variances = means(a * a) + means(b * b) - mean_a * mean_a - mean_b * mean_b
    covariance = means(a * b) - mean_a * mean_b
    index = (2 * mean_a * mean_b + C1) * (2 * covariance + C2)
    return (index / ((mean_a * mean_a + mean_b * mean_b + C1) * (variances + C2))).avg()


def compare_photograph(photo, thumbnails, folder):
    """{size: {pair: (difference, SSIM)}} of one photograph."""
    result, full = {}, whole(photo)
    # Told to export a photograph without a profile, vipsthumbnail 8.14 shifts all colours, so it is not told to.
    has_profile = pyvips.Image.new_from_file(str(photo)).get_typeof("icc-profile-data")
    profile = ["--export-profile", "srgb"] if has_profile else []
    for size, file in thumbnails.items():
        ours = read(file)
        # The exact size, because an edge of half a pixel is rounded differently.
        box, theirs = f"{ours.width}x{ours.height}", folder / f"{file.stem}-{size}.png"
        lab.output("vipsthumbnail", photo, "-s", f"{box}!", *profile, "-o", f"{theirs}[strip]", env=lab.ONE_CORE)
        images = {"Cameo": ours, "vipsthumbnail": read(theirs), "reference": reference(full, ours.width, ours.height)}
        for maker, image in images.items():
            if (image.width, image.height) != (ours.width, ours.height):
                raise RuntimeError(f"{maker} makes {image.width}x{image.height} at size {size}, Cameo {box}")
        result[size] = {f"{one} ↔ {other}": ((images[one] - images[other]).abs().avg(),
                                             ssim(images[one], images[other]))
                        for one, other in PAIRS}
    return result


def compare_format(file, thumbnails, folder):
    """The PSNR of a thumbnail in decibels."""
    ours = read(thumbnails[SMALL])
    error = ((ours - reference(whole(file), ours.width, ours.height)) ** 2).avg()
    return 10 * math.log10(255**2 / error) if error else math.inf


def subjects(photos):
    """(kind, picture) of a width of 1600."""
    yield "zone plate", pyvips.Image.zone(WIDTH, WIDTH, uchar=True)
    ink = pyvips.Image.text("Sphinx of black quartz, judge my vow. 0123456789 " * 40, width=WIDTH, dpi=140)
    yield "text", ink.invert()
    blue = ink.linear([0, 0, 0], [20, 20, 120], uchar=True)
    yield "transparent", blue.bandjoin(ink).copy(interpretation="srgb")
    for photo in photos:
        yield "photographs", pyvips.Image.thumbnail(str(photo), WIDTH, height=100_000)


def make_subjects(photos, folder):
    """{file: (format, kind)} of pictures of each kind in every format."""
    made = {}
    for (kind, picture), (format, (suffix, options)) in itertools.product(subjects(photos), FORMATS.items()):
        if kind == "transparent" and format == "JPEG":
            continue
        file = folder / f"{len(made)}.{suffix}"
        try:
            picture.write_to_file(str(file), **options)
            made[file] = format, kind
        except pyvips.Error as error:
            lab.progress(f"no {format} of {kind}: {error}")
    return made


def outcome(task):
    act, photo, *more = task
    try:
        return photo, act(photo, *more), None
    except (RuntimeError, OSError, pyvips.Error) as error:
        return photo, None, str(error)


def compare(act, made, folder):
    """{photo: what `act` gives} of those that could be compared, of {photo: {size: Cameo's thumbnail}}."""
    results, line = {}, lab.Line()
    with multiprocessing.get_context("spawn").Pool(lab.CORES) as pool:
        tasks = [(act, photo, files, folder) for photo, files in made.items()]
        for done, (photo, result, reason) in enumerate(pool.imap_unordered(outcome, tasks), 1):
            if reason:
                lab.progress(f"skipped: {photo}: {reason}")
            else:
                results[photo] = result
            line(f"compared {done} of {len(tasks)} photographs", done == len(tasks))
    line.close()
    return results
