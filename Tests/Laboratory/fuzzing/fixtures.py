"""Small intact files of every format: pictures made with the vips tools, videos with ffmpeg."""
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import lab
from fuzzing.pictures import XMP, document, exif, jpeg_segment, png_chunks, png_file, webp_chunks, webp_file
from fuzzing.svg import drawings

WEIGHTS = {"jpeg": 22, "png": 20, "gif": 12, "webp": 14, "tiff": 16, "heif": 4, "avif": 5, "svg": 10, "jxl": 4, "pdf": 3}
VIDEO_WEIGHTS = {"mp4": 40, "matroska": 30, "mpegts": 15, "avi": 15}
HEIGHT = 64

BASES = {  # name: vips commands that make {work}/name.v; all come from three bands of smooth noise
    "grey": ["extract_band {work}/rgb.v {out} 0"],
    "rgba": ["bandjoin '{work}/rgb.v {work}/noise4.v' {out}"],
    "greya": ["bandjoin '{work}/grey.v {work}/noise4.v' {work}/ga.v", "copy {work}/ga.v {out} --interpretation b-w"],
    "rgb16": ["linear {work}/rgb.v {work}/l16.v 257 0", "cast {work}/l16.v {work}/c16.v ushort",
              "copy {work}/c16.v {out} --interpretation rgb16"],
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

# Those that get a copy with EXIF and XMP.
DESCRIBED = ["baseline.jpg", "cmyk.jpg", "rgba.png", "alpha.webp", "profile.webp"]

# Format, file, and the options of ffmpeg. Those with sound have a second stream.
CLIPS = """
    mp4       h264.mp4        -c:v libx264
    mp4       sound.mp4       -c:v libx264 -bf 2 -movflags faststart -c:a aac
    mp4       fragments.mp4   -c:v libx264 -movflags frag_keyframe+empty_moov
    mp4       interlaced.mp4  -c:v libx264 -flags +ilme+ildct -x264opts tff=1
    mp4       turned.mp4      -c:v libx264 -aspect 2:1 -metadata:s:v:0 rotate=90
    mp4       deep.mov        -c:v libx264 -pix_fmt yuv422p10le
    mp4       hevc.mp4        -c:v libx265 -x265-params log-level=none:keyint=5
    mp4       pq.mp4          -c:v libx265 -pix_fmt yuv420p10le -x265-params log-level=none:transfer=smpte2084
    mp4       vp9.mp4         -c:v libvpx-vp9 -deadline realtime
    mp4       av1.mp4         -c:v libaom-av1 -usage realtime -cpu-used 8
    mp4       mpeg4.mp4       -c:v mpeg4 -bf 2
    mp4       mjpeg.mov       -c:v mjpeg -pix_fmt yuvj420p
    mp4       prores.mov      -c:v prores_ks
    matroska  h264.mkv        -c:v libx264 -c:a libopus
    matroska  hevc.mkv        -c:v libx265 -x265-params log-level=none:keyint=5
    matroska  vp8.webm        -c:v libvpx -deadline realtime
    matroska  vp9.webm        -c:v libvpx-vp9 -deadline realtime -c:a libopus
    matroska  av1.webm        -c:v libaom-av1 -usage realtime -cpu-used 8
    matroska  mpeg2.mkv       -c:v mpeg2video -r 25
    matroska  live.webm       -c:v libvpx -deadline realtime -live 1
    mpegts    h264.ts         -c:v libx264 -c:a aac
    mpegts    hevc.ts         -c:v libx265 -x265-params log-level=none:keyint=5
    mpegts    mpeg2.ts        -c:v mpeg2video -r 25
    mpegts    stamped.m2ts    -c:v libx264 -mpegts_m2ts_mode 1
    avi       mpeg4.avi       -c:v mpeg4 -bf 2 -c:a libmp3lame
    avi       mjpeg.avi       -c:v mjpeg -pix_fmt yuvj420p
    avi       h264.avi        -c:v libx264 -bf 0
    mp4       large.mp4       -c:v libx264 -vf scale=7680:4320 -frames:v 2
"""


def with_metadata(name, data):
    """The same picture with EXIF (rotated) and XMP where its format stores them."""
    if name.endswith(".jpg"):
        added = jpeg_segment(0xE1, b"Exif\0\0" + exif(6)) + jpeg_segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + XMP)
        return data[:2] + added + data[2:]
    if name.endswith(".png"):
        head, *rest = png_chunks(data)[0]
        return png_file([head, (b"eXIf", exif(8)), (b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP), *rest])
    (kind, head), *rest = webp_chunks(data)[0]
    if kind != b"VP8X":
        raise ValueError("a WebP without VP8X has no place for metadata")
    return webp_file([(kind, bytes([head[0] | 0x0C]) + head[1:]), *rest, (b"EXIF", exif(3)), (b"XMP ", XMP)])


def vips(*words):
    done = subprocess.run(lab.words("vips", *words), capture_output=True, text=True, env=dict(os.environ, VIPS_CONCURRENCY="1"))
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["failed"])[0]


def split(command):
    return [word.strip("'") for word in re.findall(r"'[^']*'|\S+", command)]


def made(work, formats, table, make):
    """{format: {file: bytes}} of the lines of a table; what cannot be written here is reported and skipped."""
    found = collections.defaultdict(dict)
    lines = [line.split() for line in table.strip().splitlines() if line.split()[0] in formats]
    with concurrent.futures.ThreadPoolExecutor(lab.CORES) as pool:
        for (format, name, *_), problem in zip(lines, pool.map(lambda line: make(*line[1:]), lines)):
            if problem is None:
                found[format][name] = pathlib.Path(work, name).read_bytes()
            else:
                print(f"skipping {name}: {problem}", file=sys.stderr)
    return found


def make_pictures(work, formats):
    for band in range(1, 5):
        vips("perlin", f"{work}/noise{band}.v", 96, HEIGHT, "--cell-size", 12 + 8 * band, "--seed", band, "--uchar")
    vips("bandjoin", f"{work}/noise1.v {work}/noise2.v {work}/noise3.v", f"{work}/joined.v")
    problem = vips("copy", f"{work}/joined.v", f"{work}/rgb.v", "--interpretation", "srgb")
    for name, commands in BASES.items():
        for command in commands:
            problem = problem or vips(*split(command.format(work=work, out=f"{work}/{name}.v")))
        if problem:
            sys.exit(f"the base picture {name} cannot be made: {problem}")

    def save(name, base, saver, *options):
        return vips(saver, f"{work}/{base}.v", f"{work}/{name}", *(option.format(height=HEIGHT) for option in options))

    fixtures = made(work, formats, SAVES, save)
    for files in fixtures.values():
        files |= {f"described-{name}": with_metadata(name, data) for name, data in files.items() if name in DESCRIBED}
    if "svg" in formats:
        vips("pngsave", f"{work}/tiny.v", f"{work}/tiny.png")
        fixtures["svg"] = drawings(pathlib.Path(work, "tiny.png").read_bytes())
    if "pdf" in formats:
        fixtures["pdf"]["two-pages.pdf"] = document()
    return fixtures


def make_videos(work, formats):
    def make(name, *options):
        sound = ["-f", "lavfi", "-i", "sine=d=2"] if "-c:a" in options else []
        plain = [] if "-pix_fmt" in options or "prores_ks" in options else ["-pix_fmt", "yuv420p"]
        # The same bytes at every run.
        exact = ["-g", "5", "-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
        done = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=10:d=2", *sound,
                               *exact, *options, *plain, f"{work}/{name}"], capture_output=True, text=True)
        return done.stderr.strip() if done.returncode else None

    return made(work, formats, CLIPS, make)
