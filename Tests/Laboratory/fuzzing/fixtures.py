"""Small intact pictures of every format, made with the vips tools."""

import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

from fuzzing.jpeg import jpeg_segment
from fuzzing.metadata import XMP, exif
from fuzzing.pdf import document
from fuzzing.png import png_chunks, png_file
from fuzzing.svg import drawings
from fuzzing.webp import webp_chunks, webp_file

WEIGHTS = {
    "jpeg": 22, "png": 20, "gif": 12, "webp": 14, "tiff": 16, "heif": 4, "avif": 5, "svg": 10, "jxl": 4, "pdf": 3,
}

BASES = {  # name: vips commands that make {work}/name.v; all come from three bands of smooth noise
    "grey": ["extract_band {work}/rgb.v {out} 0"],
    "rgba": ["bandjoin '{work}/rgb.v {work}/noise4.v' {out}"],
    "greya": ["bandjoin '{work}/grey.v {work}/noise4.v' {work}/ga.v", "copy {work}/ga.v {out} --interpretation b-w"],
    "rgb16": [
        "linear {work}/rgb.v {work}/l16.v 257 0", "cast {work}/l16.v {work}/c16.v ushort",
        "copy {work}/c16.v {out} --interpretation rgb16",
    ],
    "grey16": ["extract_band {work}/rgb16.v {work}/g16.v 0", "copy {work}/g16.v {out} --interpretation grey16"],
    "float": ["colourspace {work}/rgb.v {out} scrgb"],
    "lab": ["colourspace {work}/rgb.v {out} lab"],
    "cmyk": ["icc_transform {work}/rgb.v {out} cmyk --input-profile srgb"],
    "p3": ["icc_transform {work}/rgb.v {out} p3 --input-profile srgb"],
    "eight": ["bandjoin '{work}/rgb.v {work}/rgba.v {work}/noise4.v' {out}"],
    "tiny": ["extract_area {work}/rgb.v {out} 5 5 17 16"], "tall": ["resize {work}/rgb.v {out} 0.16 --vscale 1.8"],
    "wide": ["resize {work}/rgba.v {out} 1.9 --vscale 0.12"], "frames": ["replicate {work}/rgba.v {out} 1 4"],
    "border": ["embed {work}/rgb.v {out} 20 10 150 100 --extend white"], "black": ["black {out} 9000 9000"],
}

# Format, file, base, and the saver of vips with its options. The large ones are small files with many pixels; the
# slowest attempt and the largest memory show their cost.
SAVES = """
    jpeg  baseline.jpg             rgb     jpegsave
    jpeg  progressive.jpg          rgb     jpegsave --interlace
    jpeg  444-restart.jpg          rgb     jpegsave --subsample-mode off --restart-interval 4 --optimize-coding
    jpeg  cmyk.jpg                 cmyk    jpegsave --strip
    jpeg  cmyk-profile.jpg         cmyk    jpegsave
    jpeg  grey.jpg                 grey    jpegsave
    jpeg  profile.jpg              p3      jpegsave
    jpeg  tiny.jpg                 tiny    jpegsave
    jpeg  tall.jpg                 tall    jpegsave --interlace
    jpeg  border.jpg               border  jpegsave
    png   rgb.png                  rgb     pngsave
    png   rgba.png                 rgba    pngsave
    png   rgb16.png                rgb16   pngsave
    png   grey16.png               grey16  pngsave
    png   palette.png              rgba    pngsave --palette
    png   border.png               border  pngsave
    png   palette4.png             rgb     pngsave --palette --bitdepth 4
    png   bits1.png                grey    pngsave --bitdepth 1
    png   interlaced.png           rgba    pngsave --interlace
    png   interlaced16.png         rgb16   pngsave --interlace
    png   greya.png                greya   pngsave
    png   profile.png              p3      pngsave
    png   wide.png                 wide    pngsave --filter all
    gif   still.gif                rgb     gifsave
    gif   alpha.gif                rgba    gifsave --bitdepth 4
    gif   tiny.gif                 tiny    gifsave
    gif   interlaced.gif           rgba    gifsave --interlace
    gif   animated.gif             frames  gifsave --page-height {height}
    gif   animated-interlaced.gif  frames  gifsave --page-height {height} --interlace --bitdepth 5
    webp  lossy.webp               rgb     webpsave
    webp  lossless.webp            rgb     webpsave --lossless
    webp  wide.webp                wide    webpsave
    webp  alpha.webp               rgba    webpsave
    webp  alpha-lossless.webp      rgba    webpsave --lossless
    webp  profile.webp             p3      webpsave
    webp  animated.webp            frames  webpsave --page-height {height}
    webp  animated-lossless.webp   frames  webpsave --page-height {height} --lossless
    webp  tiny.webp                tiny    webpsave
    tiff  strips.tif               rgb     tiffsave
    tiff  tiles.tif                rgba    tiffsave --tile --tile-width 32 --tile-height 32
    tiff  jpeg.tif                 rgb     tiffsave --compression jpeg
    tiff  deflate.tif              rgb     tiffsave --compression deflate --predictor horizontal
    tiff  lzw.tif                  rgba    tiffsave --compression lzw
    tiff  packbits.tif             grey    tiffsave --compression packbits
    tiff  zstd.tif                 rgb     tiffsave --compression zstd
    tiff  webp.tif                 rgb     tiffsave --compression webp
    tiff  fax.tif                  grey    tiffsave --compression ccittfax4 --bitdepth 1
    tiff  bits4.tif                grey    tiffsave --bitdepth 4
    tiff  sixteen.tif              rgb16   tiffsave --compression lzw --predictor horizontal
    tiff  float.tif                float   tiffsave
    tiff  float-deflate.tif        float   tiffsave --compression deflate --predictor float
    tiff  lab.tif                  lab     tiffsave
    tiff  cmyk.tif                 cmyk    tiffsave --compression deflate --strip
    tiff  bands.tif                eight   tiffsave
    tiff  big.tif                  rgb     tiffsave --bigtiff
    tiff  pages.tif                frames  tiffsave --page-height {height} --compression lzw
    tiff  pyramid.tif              rgb     tiffsave --tile --tile-width 32 --tile-height 32 --pyramid --compression lzw
    tiff  subifd.tif               rgb     tiffsave --tile --tile-width 32 --tile-height 32 --pyramid --subifd
    heif  rgb.heic                 rgb     heifsave --effort 0
    heif  alpha.heic               rgba    heifsave --effort 0
    heif  ten.heic                 rgb16   heifsave --effort 0 --bitdepth 10
    avif  rgb.avif                 rgb     heifsave --compression av1 --effort 0
    avif  alpha.avif               rgba    heifsave --compression av1 --effort 0
    avif  twelve.avif              rgb16   heifsave --compression av1 --effort 0 --bitdepth 12
    avif  lossless.avif            tiny    heifsave --compression av1 --effort 0 --lossless
    avif  profile.avif             p3      heifsave --compression av1 --effort 0
    jxl   lossy.jxl                rgb     jxlsave --effort 3
    jxl   lossless.jxl             rgba    jxlsave --lossless --effort 3
    png   large.png                black   pngsave --bitdepth 1
    jpeg  large.jpg                black   jpegsave --interlace
    tiff  large.tif                black   tiffsave --compression deflate
"""

DESCRIBED = [
    "baseline.jpg", "cmyk.jpg", "rgba.png", "alpha.webp", "profile.webp",
]  # those that get a copy with EXIF and XMP


def with_metadata(name, data):
    """The same picture with EXIF (rotated) and XMP where its format stores them."""
    if name.endswith(".jpg"):
        added = jpeg_segment(0xE1, b"Exif\0\0" + exif(6)) + jpeg_segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + XMP)
        return data[:2] + added + data[2:]
    if name.endswith(".png"):
        head, rest = png_chunks(data)[:1], png_chunks(data)[1:]
        return png_file(head + [(b"eXIf", exif(8)), (b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP)] + rest)
    chunks = webp_chunks(data)
    if chunks[0][0] != b"VP8X":
        raise ValueError("a WebP without VP8X has no place for metadata")
    flags = bytes([chunks[0][1][0] | 0x0C]) + chunks[0][1][1:]
    return webp_file([(b"VP8X", flags)] + chunks[1:] + [(b"EXIF", exif(3)), (b"XMP ", XMP)])


def vips(words):
    done = subprocess.run(["vips", *words], capture_output=True, text=True, env=dict(os.environ, VIPS_CONCURRENCY="1"))
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["failed"])[0]


def split(command):
    return [word.strip("'") for word in re.findall(r"'[^']*'|\S+", command)]


def make_fixtures(work, formats):
    """The fixtures as {format: {file: bytes}}; those that this libvips cannot write are reported and skipped."""
    height = 64
    for band in range(1, 5):
        vips(
            [
                "perlin", f"{work}/noise{band}.v", "96", str(height), "--cell-size", str(12 + 8 * band), "--seed",
                str(band), "--uchar",
            ]
        )
    vips(["bandjoin", f"{work}/noise1.v {work}/noise2.v {work}/noise3.v", f"{work}/joined.v"])
    problem = vips(["copy", f"{work}/joined.v", f"{work}/rgb.v", "--interpretation", "srgb"])
    for name, commands in BASES.items():
        for command in commands:
            problem = problem or vips(split(command.format(work=work, out=f"{work}/{name}.v")))
        if problem:
            sys.exit(f"the base picture {name} cannot be made: {problem}")

    entries = [line.split(maxsplit=3) for line in SAVES.strip().splitlines()]

    def save(entry):
        format, name, base, command = entry
        saver, *options = split(command.format(height=height))
        return format, name, vips([saver, f"{work}/{base}.v", f"{work}/{name}", *options])

    fixtures = collections.defaultdict(dict)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for format, name, problem in pool.map(save, [entry for entry in entries if entry[0] in formats]):
            if problem:
                print(f"skipping {name}: {problem}", file=sys.stderr)
                continue
            data = pathlib.Path(work, name).read_bytes()
            fixtures[format][name] = data
            if name in DESCRIBED:
                fixtures[format]["described-" + name] = with_metadata(name, data)
    if "svg" in formats:
        vips(["pngsave", f"{work}/tiny.v", f"{work}/tiny.png"])
        fixtures["svg"] = drawings(pathlib.Path(work, "tiny.png").read_bytes())
    if "pdf" in formats:
        fixtures["pdf"]["two-pages.pdf"] = document()
    return {format: files for format, files in fixtures.items() if files}
