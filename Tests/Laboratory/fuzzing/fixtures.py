"""Small intact files of every format: pictures made with the vips tools, videos with ffmpeg."""
import collections
import concurrent.futures
import pathlib
import shlex
import struct
import subprocess
import sys

import lab
from fuzzing.damage import PNG_HEAD, XMP, XMP_OF_JPEG, exif, jpeg_segment, png_chunk
from fuzzing.elements import webp_sealed
from fuzzing.svg import drawings

WEIGHTS = {"jpeg": 22, "png": 20, "gif": 12, "webp": 14, "tiff": 16, "heif": 4, "avif": 5, "svg": 10, "jxl": 4,
           "pdf": 3}
VIDEO_WEIGHTS = {"mp4": 30, "matroska": 20, "mpegts": 10, "avi": 12, "mpeg": 8, "asf": 10, "flv": 10, "ogg": 8, "sound": 8}
SAVERS = {"heif": ["heifsave"], "avif": ["heifsave", "--compression", "av1"]}

BASES = {  # name: vips commands that make {work}/name.v; all come from three bands of smooth noise
    "rgb": ["bandjoin '{work}/noise1.v {work}/noise2.v {work}/noise3.v' {work}/joined.v",
            "copy {work}/joined.v {out} --interpretation srgb"],
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

# {format: file, base and options of the saver; …}. The large ones are small files with many pixels; the slowest attempt
# and the largest memory show their cost.
SAVES = {
    "jpeg": """baseline.jpg rgb; progressive.jpg rgb --interlace;
        444-restart.jpg rgb --subsample-mode off --restart-interval 4 --optimize-coding; cmyk.jpg cmyk --strip;
        cmyk-profile.jpg cmyk; grey.jpg grey; profile.jpg p3; tiny.jpg tiny; tall.jpg tall --interlace;
        border.jpg border; large.jpg black --interlace""",
    "png": """rgb.png rgb; rgba.png rgba; rgb16.png rgb16; grey16.png grey16; palette.png rgba --palette;
        border.png border; palette4.png rgb --palette --bitdepth 4; bits1.png grey --bitdepth 1;
        interlaced.png rgba --interlace; interlaced16.png rgb16 --interlace; greya.png greya; profile.png p3;
        wide.png wide --filter all; large.png black --bitdepth 1""",
    "gif": """still.gif rgb; alpha.gif rgba --bitdepth 4; tiny.gif tiny; interlaced.gif rgba --interlace;
        animated.gif frames --page-height 64;
        animated-interlaced.gif frames --page-height 64 --interlace --bitdepth 5""",
    "webp": """lossy.webp rgb; lossless.webp rgb --lossless; wide.webp wide; alpha.webp rgba;
        alpha-lossless.webp rgba --lossless; profile.webp p3; animated.webp frames --page-height 64;
        animated-lossless.webp frames --page-height 64 --lossless; tiny.webp tiny""",
    "tiff": """strips.tif rgb; tiles.tif rgba --tile --tile-width 32 --tile-height 32; jpeg.tif rgb --compression jpeg;
        deflate.tif rgb --compression deflate --predictor horizontal; lzw.tif rgba --compression lzw;
        packbits.tif grey --compression packbits; zstd.tif rgb --compression zstd; webp.tif rgb --compression webp;
        fax.tif grey --compression ccittfax4 --bitdepth 1; bits4.tif grey --bitdepth 4;
        sixteen.tif rgb16 --compression lzw --predictor horizontal; float.tif float;
        float-deflate.tif float --compression deflate --predictor float; lab.tif lab;
        cmyk.tif cmyk --compression deflate --strip; bands.tif eight; big.tif rgb --bigtiff;
        pages.tif frames --page-height 64 --compression lzw;
        pyramid.tif rgb --tile --tile-width 32 --tile-height 32 --pyramid --compression lzw;
        subifd.tif rgb --tile --tile-width 32 --tile-height 32 --pyramid --subifd;
        large.tif black --compression deflate""",
    "heif": """rgb.heic rgb --effort 0; alpha.heic rgba --effort 0; ten.heic rgb16 --effort 0 --bitdepth 10""",
    "avif": """rgb.avif rgb --effort 0; alpha.avif rgba --effort 0; twelve.avif rgb16 --effort 0 --bitdepth 12;
        lossless.avif tiny --effort 0 --lossless; profile.avif p3 --effort 0""",
    "jxl": """lossy.jxl rgb --effort 3; lossless.jxl rgba --lossless --effort 3""",
}

# Those that get a copy with EXIF and XMP.
DESCRIBED = ["baseline.jpg", "cmyk.jpg", "rgba.png", "alpha.webp", "profile.webp"]

# {format: file and options of ffmpeg; …}. Those with sound have a second stream.
CLIPS = {
    "mp4": """h264.mp4 -c:v libx264; sound.mp4 -c:v libx264 -bf 2 -movflags faststart -c:a aac;
        fragments.mp4 -c:v libx264 -movflags frag_keyframe+empty_moov;
        interlaced.mp4 -c:v libx264 -flags +ilme+ildct -x264opts tff=1;
        turned.mp4 -c:v libx264 -aspect 2:1 -metadata:s:v:0 rotate=90; deep.mov -c:v libx264 -pix_fmt yuv422p10le;
        hevc.mp4 -c:v libx265 -x265-params log-level=none:keyint=5;
        pq.mp4 -c:v libx265 -pix_fmt yuv420p10le -x265-params log-level=none:transfer=smpte2084;
        vp9.mp4 -c:v libvpx-vp9 -deadline realtime; av1.mp4 -c:v libaom-av1 -usage realtime -cpu-used 8;
        mpeg4.mp4 -c:v mpeg4 -bf 2; mjpeg.mov -c:v mjpeg -pix_fmt yuvj420p; prores.mov -c:v prores_ks;
        h263.3gp -c:v h263 -s 128x96 -r 30000/1001; h263p.mov -c:v h263p; mpeg1.mp4 -c:v mpeg1video -r 25;
        dv.mov -c:v dvvideo -s 720x480 -r 30000/1001 -frames:v 2 -pix_fmt yuv411p;
        large.mp4 -c:v libx264 -vf scale=7680:4320 -frames:v 2""",
    "matroska": """h264.mkv -c:v libx264 -c:a libopus; hevc.mkv -c:v libx265 -x265-params log-level=none:keyint=5;
        vp8.webm -c:v libvpx -deadline realtime; vp9.webm -c:v libvpx-vp9 -deadline realtime -c:a libopus;
        av1.webm -c:v libaom-av1 -usage realtime -cpu-used 8; mpeg2.mkv -c:v mpeg2video -r 25;
        live.webm -c:v libvpx -deadline realtime -live 1""",
    "mpegts": """h264.ts -c:v libx264 -c:a aac; hevc.ts -c:v libx265 -x265-params log-level=none:keyint=5;
        mpeg2.ts -c:v mpeg2video -r 25; stamped.m2ts -c:v libx264 -mpegts_m2ts_mode 1""",
    "avi": """mpeg4.avi -c:v mpeg4 -bf 2 -c:a libmp3lame; mjpeg.avi -c:v mjpeg -pix_fmt yuvj420p;
        h264.avi -c:v libx264 -bf 0; h263.avi -c:v h263 -s 128x96 -r 30000/1001; wmv1.avi -c:v wmv1;
        msmpeg4.avi -c:v msmpeg4; msmpeg4v2.avi -c:v msmpeg4v2""",
    "mpeg": """mpeg1.mpg -c:v mpeg1video -r 25 -bf 2 -c:a mp2; mpeg2.vob -c:v mpeg2video -r 25 -bf 2 -c:a ac3;
        h264.vob -c:v libx264""",
    "asf": """wmv1.asf -c:v wmv1; wmv2.wmv -c:v wmv2 -c:a wmav2; msmpeg4.asf -c:v msmpeg4;
        msmpeg4v2.asf -c:v msmpeg4v2; mpeg4.asf -c:v mpeg4""",
    "flv": """flv1.flv -c:v flv; sound.flv -c:v flv -c:a libmp3lame -ar 44100; h264.flv -c:v libx264 -bf 2 -c:a aac""",
    "ogg": """theora.ogv -c:v libtheora; sound.ogv -c:v libtheora -c:a libvorbis;
        vp8.ogv -c:v libvpx -deadline realtime -f ogg""",
    # With a cover.
    "sound": "; ".join(f"{name} -map 1 -map 0 {codecs} -frames:v 1" for name, codecs in {
        "jpeg.mp3": "-c:a libmp3lame -c:v mjpeg -pix_fmt yuvj420p", "png.mp3": "-c:a libmp3lame -c:v png",
        "gif.mp3": "-c:a libmp3lame -c:v gif -pix_fmt rgb8", "bmp.mp3": "-c:a libmp3lame -c:v bmp -pix_fmt bgr24",
        "jpeg.aiff": "-c:a pcm_s16be -c:v mjpeg -pix_fmt yuvj420p -write_id3v2 1",
        "jpeg.flac": "-c:a flac -c:v mjpeg -pix_fmt yuvj420p -disposition:v attached_pic",
        "jpeg.m4a": "-c:a aac -c:v mjpeg -pix_fmt yuvj420p -disposition:v attached_pic"}.items()),
}


def with_metadata(name, data):
    """The same picture with EXIF (rotated) and XMP where its format stores them."""
    if name.endswith(".jpg"):
        return data[:2] + jpeg_segment(0xE1, b"Exif\0\0" + exif(6)) + jpeg_segment(0xE1, XMP_OF_JPEG + XMP) + data[2:]
    if name.endswith(".png"):
        added = png_chunk(b"eXIf", exif(8)) + png_chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP)
        return data[:PNG_HEAD] + added + data[PNG_HEAD:]
    if data[12:16] != b"VP8X":
        raise ValueError("a WebP without VP8X has no place for metadata")
    added = b"".join(kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)
                     for kind, body in ((b"EXIF", exif(3)), (b"XMP ", XMP)))
    return webp_sealed(data[:20] + bytes([data[20] | 0x0C]) + data[21:] + added)


def document():
    """A PDF of two pages with text, curves and transparency; readers rebuild the cross-reference table."""
    stream = b"q 0.9 0.2 0.1 rg 10 10 60 40 re f Q BT /F 18 Tf 12 60 Td (Cameo) Tj ET 5 5 m 40 90 80 -20 90 60 c S"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 2 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 80] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % one for one in enumerate(objects, 1))
    return b"%PDF-1.4\n" + body + b"trailer << /Size 6 /Root 1 0 R >>\n%%EOF\n"


def run(*words):
    """What went wrong, or None."""
    done = subprocess.run(lab.words(*words), capture_output=True, text=True, env=lab.ONE_CORE)
    return (done.stderr.strip().splitlines() or ["failed"])[0] if done.returncode else None


def made(work, table, make):
    """{format: {file: bytes}} of a table; what cannot be written here is reported and skipped."""
    found = collections.defaultdict(dict)
    lines = [(format, *line.split()) for format, files in table.items() for line in files.split(";")]
    with concurrent.futures.ThreadPoolExecutor(lab.CORES) as pool:
        for (format, name, *_), problem in zip(lines, pool.map(lambda line: make(*line), lines)):
            if problem is None:
                found[format][name] = pathlib.Path(work, name).read_bytes()
            else:
                lab.progress(f"skipping {name}: {problem}")
    return found


def make_pictures(work, allowed):
    """Of all formats but jxl and pdf, unless they are allowed."""
    for band in range(1, 5):
        run("vips", "perlin", f"{work}/noise{band}.v", 96, 64, "--cell-size", 12 + 8 * band, "--seed", band, "--uchar")
    for name, commands in BASES.items():
        for command in commands:
            if problem := run("vips", *shlex.split(command.format(work=work, out=f"{work}/{name}.v"))):
                sys.exit(f"the base picture {name} cannot be made: {problem}")

    def save(format, name, base, *options):
        saver = SAVERS.get(format, [f"{format}save"])
        return run("vips", saver[0], f"{work}/{base}.v", f"{work}/{name}", *saver[1:], *options)

    run("vips", "pngsave", f"{work}/tiny.v", f"{work}/tiny.png")
    wanted = {format: files for format, files in SAVES.items() if format != "jxl" or format in allowed}
    fixtures = made(work, wanted, save)
    for files in fixtures.values():
        files |= {f"described-{name}": with_metadata(name, data) for name, data in files.items() if name in DESCRIBED}
    fixtures["svg"] = drawings(pathlib.Path(work, "tiny.png").read_bytes())
    if "pdf" in allowed:
        fixtures["pdf"]["two-pages.pdf"] = document()
    return fixtures


def make_videos(work):
    """The same bytes at every run."""
    def make(format, name, *options):
        sound = ["-f", "lavfi", "-i", "sine=d=2"] if "-c:a" in options else []
        plain = [] if "-pix_fmt" in options or "prores_ks" in options else ["-pix_fmt", "yuv420p"]
        exact = ["-g", "5", "-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
        return run("ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=10:d=2", *sound,
                   *exact, *options, *plain, f"{work}/{name}")

    return made(work, CLIPS, make)
