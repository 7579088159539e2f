"""Small pictures as other programs make them: `cases.py NAME PATH` writes the one of this name. A case is a function."""
import base64
import struct
import subprocess
import sys
import zlib


def vips(*words):
    subprocess.run(["vips", *words], check=True, stderr=subprocess.DEVNULL)


def png(path, width, height, pixel, chunks=(), late=(), kind=2):
    """8 bits a channel; kind 0 is grey, 2 RGB, 6 RGB with alpha. A chunk is its type and its payload."""
    def chunk(name, payload):
        return struct.pack(">I", len(payload)) + name + payload + struct.pack(">I", zlib.crc32(name + payload))
    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))
    parts = [head, *[chunk(*c) for c in chunks], chunk(b"IDAT", zlib.compress(rows)), *[chunk(*c) for c in late]]
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + b"".join(parts) + chunk(b"IEND", b""))


def tiff(path, *pages, big=False):
    """A page is its fields, by tag (numbers, or fractions as pairs), its one strip of bytes, and perhaps its SubIFDs: pages."""
    word = 8 if big else 4
    number, width = ("<Q", "<Q") if big else ("<I", "<H")
    file = bytearray(b"II+\0\x08\0\0\0" if big else b"II*\0")
    link = len(file)
    file += b"\0" * word

    def add(fields, strip, parts=()):
        places = [add(*part)[0] for part in parts]
        at = len(file)
        file.extend(strip + b"\0" * (len(strip) % 2))
        fields = {273: [at], 279: [len(strip)], **({330: places} if places else {}), **fields}
        start = len(file)
        end = start + struct.calcsize(width) + (4 + 2 * word) * len(fields)
        entries, values = b"", b""
        for tag, numbers in sorted(fields.items()):
            if isinstance(numbers, bytes):
                kind, data = 7, numbers
            elif isinstance(numbers[0], tuple):
                kind, data = 5, b"".join(struct.pack("<II", *n) for n in numbers)
            else:
                kind, data = 4, struct.pack("<%dI" % len(numbers), *numbers)
                if max(numbers) < 65536 and tag not in (273, 279, 330):
                    kind, data = 3, struct.pack("<%dH" % len(numbers), *numbers)
            count = len(data) // {3: 2, 4: 4, 5: 8, 7: 1}[kind]
            if len(data) > word:
                place = end + word + len(values)
                values += data + b"\0" * (len(data) % 2)
                data = struct.pack(number, place)
            entries += struct.pack("<HH", tag, kind) + struct.pack(number, count) + data.ljust(word, b"\0")
        file.extend(struct.pack(width, len(fields)) + entries + b"\0" * word + values)
        return start, end

    for page in pages:
        start, end = add(*page)
        file[link:link + word] = struct.pack(number, start)
        link = end
    with open(path, "wb") as out:
        out.write(file)


def samples(width, height, bits, kind=1, colors=1, photometric=1, **more):
    fields = {256: [width], 257: [height], 258: [bits] * colors, 259: [1], 262: [photometric], 277: [colors],
              278: [height], 339: [kind] * colors}
    return {**fields, **{int(tag[1:]): value for tag, value in more.items()}}


def gif(path, width, height, frames, colors, background=0):
    """A frame is (left, top, width, height, index, disposal), all of one colour."""
    file = b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF1, background, 0)
    file += b"".join(bytes(c) for c in (colors + [(0, 0, 0)] * 4)[:4])
    for left, top, wide, high, index, disposal in frames:
        bits, count = 0, 0
        for _ in range(wide * high):  # a clear code before each pixel keeps codes at three bits
            for code in (4, index):
                bits |= code << count
                count += 3
        bits |= 5 << count
        data = bits.to_bytes((count + 10) // 8, "little")
        file += b"\x21\xf9\x04" + bytes([disposal << 2, 10, 0, 0, 0]) + b"\x2c"
        file += struct.pack("<HHHHB", left, top, wide, high, 0) + b"\x02"
        file += b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255)) + b"\0"
    with open(path, "wb") as out:
        out.write(file + b";")


def grey_profile():
    curve = b"curv\0\0\0\0\0\0\0\1\2\x33\0\0"
    white = b"XYZ \0\0\0\0" + struct.pack(">3i", 63190, 65536, 54061)
    body = struct.pack(">I", 2) + b"kTRC" + struct.pack(">II", 156, 14) + b"wtpt" + struct.pack(">II", 172, 20)
    head = struct.pack(">I", 192) + b"lcms\x02\x10\0\0mntrGRAYXYZ " + b"\0" * 12 + b"acsp"
    return head.ljust(128, b"\0") + body + curve + white


def with_segment(path, payload, marker=0xE2):
    jpeg = open(path, "rb").read()
    segment = bytes([0xFF, marker]) + struct.pack(">H", len(payload) + 2) + payload
    open(path, "wb").write(jpeg[:2] + segment + jpeg[2:])


def ramps(path):
    png(path + ".png", 64, 16, lambda x, y: (x * 4, 255 - x * 4, 128))


def grey_profile_on_rgb_jpeg(path):
    ramps(path)
    vips("jpegsave", path + ".png", path, "--Q", "100", "--subsample-mode", "off")
    with_segment(path, b"ICC_PROFILE\0\1\1" + grey_profile())


def big_reduced_first(path):
    small = (samples(16, 16, 8, colors=3, photometric=2, _254=[1]), bytes([200, 0, 0]) * 256)
    tiff(path, small, (samples(64, 64, 8, colors=3, photometric=2), bytes([0, 200, 0]) * 4096), big=True)


def big_grey_signed(path):
    tiff(path, (samples(64, 8, 16, 2), struct.pack("<64h", *[x * 512 for x in range(64)]) * 8), big=True)


def big_twelve_bits(path):
    tiff(path, (samples(8, 8, 12), bytes(96)), big=True)


def float_grey_white_is_zero(path):
    tiff(path, (samples(64, 8, 32, 3, photometric=0), struct.pack("<64f", *[x / 63 for x in range(64)]) * 8))


def rgb_with_selection(path):
    tiff(path, (samples(8, 8, 8, colors=4, photometric=2, _338=[0]), bytes([200, 100, 50, 0]) * 64))


def rgb_with_selection_and_opacity(path):
    tiff(path, (samples(8, 8, 8, colors=5, photometric=2, _338=[0, 2]), bytes([200, 100, 50, 0, 128]) * 64))


def rgb_with_thirteen_samples(path):
    extra = [0] * 8 + [2] + [0] * 4
    fields = samples(8, 8, 8, colors=3 + len(extra), photometric=2, _338=extra)
    tiff(path, (fields, bytes([200, 100, 50, *[128 if kind else 9 for kind in extra]]) * 64))


def cmyk_with_spot_color(path):
    tiff(path, (samples(8, 8, 8, colors=5, photometric=5, _338=[0]), bytes(5) * 64))


def grey_with_selection(path):
    tiff(path, (samples(8, 8, 16, colors=2, photometric=1, _338=[0]), struct.pack("<HH", 128 * 257, 0) * 64))


def lab(path, pack, *pixel, photometric=8, bits=8):
    extra = {"_338": [2]} if len(pixel) == 4 else {}
    fields = samples(8, 8, bits, colors=len(pixel), photometric=photometric, **extra)
    tiff(path, (fields, struct.pack("<" + pack, *pixel) * 64))


def lab_8(path):
    lab(path, "Bbb", 123, 69, 52)


def lab_8_opacity(path):
    lab(path, "BbbB", 123, 69, 52, 128)


def lab_16(path):
    lab(path, "Hhh", 123 * 257, 69 * 256, 52 * 256, bits=16)


def lab_16_opacity(path):
    lab(path, "HhhH", 123 * 257, 69 * 256, 52 * 256, 128 * 257, bits=16)


def icclab_8(path):
    lab(path, "BBB", 123, 69 + 128, 52 + 128, photometric=9)


def icclab_16(path):
    lab(path, "HHH", 123 * 256, (69 + 128) * 256, (52 + 128) * 256, photometric=9, bits=16)


def lab_lightness(path):
    tiff(path, (samples(8, 8, 8, photometric=8), bytes(64)))


def camera_raw(path):
    stamp = samples(16, 8, 8, colors=3, photometric=2, _254=[1], _274=[6])
    preview = samples(64, 32, 8, colors=3, photometric=2, _254=[1])
    sensor = samples(128, 64, 16, photometric=32803)
    parts = [(preview, bytes([0, 200, 0]) * 2048), (sensor, bytes(16384))]
    tiff(path, (stamp, bytes([200, 0, 0]) * 128, parts))


def sensor_data(path):
    tiff(path, (samples(64, 64, 16, photometric=32803), bytes(8192)))


def linear_sensor_data(path):
    tiff(path, (samples(64, 64, 16, colors=3, photometric=34892), bytes(24576)))


def rgb_4_bits(path):
    tiff(path, (samples(8, 8, 4, colors=3, photometric=2), bytes(96)))


def tiles_in_planes(path):
    fields = samples(16, 16, 8, colors=3, photometric=2, _284=[2], _322=[16], _323=[16], _324=[8, 264, 520], _325=[256] * 3)
    tiff(path, (fields, bytes(768)))


def jpeg_dnl(path):
    with open(path, "wb") as out:
        out.write(bytes.fromhex("ffd8ffc0000b080000000801011100ffda0008010100003f0000ffdc00040008ffd9"))


def jpeg_ls(path):
    with open(path, "wb") as out:
        out.write(bytes.fromhex("ffd8fff7000b080008000801011100ffda0008010100000000000000ffd9"))


def png_of_apple(path):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    raw = zlib.compressobj(wbits=-15)
    rows = raw.compress((b"\0" + bytes([50, 100, 200, 255]) * 8) * 8) + raw.flush()
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"CgBI", bytes([0x50, 0, 0x20, 2]))
                  + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 6, 0, 0, 0)) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


def grey_profile_on_rgb_tiff(path):
    strip = bytes(v for _ in range(16) for x in range(64) for v in (x * 4, 255 - x * 4, 128))
    tiff(path, (samples(64, 16, 8, colors=3, photometric=2, _34675=grey_profile()), strip))


def grey_profile_on_cmyk_tiff(path):
    tiff(path, (samples(8, 8, 8, colors=4, photometric=5, _34675=grey_profile()), bytes([0, 0, 0, 0]) * 64))


def cmyk_profile_on_rgb_tiff(path):
    strip = bytes([200, 100, 50]) * 64
    profile = grey_profile().replace(b"GRAY", b"CMYK")
    tiff(path, (samples(8, 8, 8, colors=3, photometric=2, _34675=profile), strip))


def level(x, y):
    return (x * 4, x * 4, x * 4)


def gamma(value):
    return (b"gAMA", struct.pack(">I", value))


P3 = (b"cHRM", struct.pack(">8I", 31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000))


def gamma_1(path):
    png(path, 64, 16, level, [gamma(100000)])


def gamma_1_grey(path):
    png(path, 64, 16, lambda x, y: (x * 4,), [gamma(100000)], kind=0)


def gamma_usual(path):
    png(path, 64, 16, level, [gamma(45455)])


def gamma_behind_srgb(path):
    png(path, 64, 16, level, [gamma(100000), (b"sRGB", b"\0")])


def gamma_behind_cicp(path):
    png(path, 64, 16, level, [gamma(100000), (b"cICP", b"\1\x0d\0\1")])


def primaries_of_p3(path):
    png(path, 64, 16, lambda x, y: (234, 51, 35), [gamma(45455), P3])


def avif(path, pixel, primaries, transfer, kind=2):
    """Colours by code points in a box `colr`, which newer versions of libheif do not write."""
    png(path + ".png", 64, 64, pixel, kind=kind)
    vips("heifsave", path + ".png", path, "--compression", "av1", "--Q", "95", "--subsample-mode", "off", "--effort", "0")
    file = bytearray(open(path, "rb").read())
    file = file.replace(b"colrnclx", b"freenclx")
    ipma = file.find(b"ipma") - 4
    place = file.find(b"ipco") - 4
    end = place + size(file, place)
    count, at = 1, place + 8
    while at < end:
        at += size(file, at)
        count += 1
    # Behind the properties of each item, whose numbers have a byte (flags 0).
    items, at = struct.unpack(">I", file[ipma + 12:ipma + 16])[0], ipma + 16
    for _ in range(items):
        file[at + 2] += 1
        at += 2 + file[at + 2]
        file[at:at] = bytes([count])
        at += 1
    file[end:end] = struct.pack(">I4s4sHHHB", 19, b"colr", b"nclx", primaries, transfer, 6, 128)
    grow(file, b"ipma", items, end + 19)
    grow(file, b"ipco", 19)
    grow(file, b"iprp", 19 + items)
    moved(file, 19 + items)
    open(path, "wb").write(file)


def size(file, at):
    return struct.unpack(">I", file[at:at + 4])[0]


def grow(file, name, by, start=0):
    at = file.find(name, start) - 4
    file[at:at + 4] = struct.pack(">I", size(file, at) + by)
    return at


def moved(file, by):
    """The box `meta` has grown by so many bytes: the items behind it are elsewhere."""
    grow(file, b"meta", by)
    at = file.find(b"iloc") + 4
    version, count = file[at], struct.unpack(">H", file[at + 6:at + 8])[0]
    at += 8
    for _ in range(count):  # id, in version 1 a method, reference, a base of 0, one extent
        at += 12 if version else 10
        file[at:at + 4] = struct.pack(">I", size(file, at) + by)
        at += 8


def avif_p3(path):
    avif(path, lambda x, y: (234, 51, 35), 12, 13)


def avif_pq(path):
    avif(path, lambda x, y: (148, 148, 148), 9, 16)


def avif_hlg(path):
    avif(path, lambda x, y: (191, 191, 191), 9, 18)


def avif_bt601(path):
    avif(path, lambda x, y: (200, 100, 50), 2, 2)


def avif_premultiplied(path):
    """libheif writes none: a reference of the kind `prem` is added."""
    avif(path, lambda x, y: (100, 50, 25, 128), 2, 2, kind=6)
    file = bytearray(open(path, "rb").read())
    at = grow(file, b"iref", 14)
    file[at + 12:at + 12] = struct.pack(">I4sHHH", 14, b"prem", 1, 1, 2)
    moved(file, 14)
    open(path, "wb").write(file)


def float_grey(path):
    tiff(path, (samples(64, 8, 32, 3), struct.pack("<64f", *[x / 63 for x in range(64)]) * 8))


def float_grey_double(path):
    tiff(path, (samples(64, 8, 64, 3), struct.pack("<64d", *[x / 63 for x in range(64)]) * 8))


def float_grey_half(path):
    tiff(path, (samples(64, 8, 16, 3), struct.pack("<64e", *[x / 63 for x in range(64)]) * 8))


def grey_32_bits(path):
    tiff(path, (samples(64, 8, 32), struct.pack("<64I", *[x * (2**32 // 64) for x in range(64)]) * 8))


def grey_signed(path):
    tiff(path, (samples(64, 8, 16, 2), struct.pack("<64h", *[x * 512 for x in range(64)]) * 8))


def ycbcr(path):
    tiff(path, (samples(8, 8, 8, colors=3, photometric=6, _530=[1, 1]), bytes([76, 85, 255]) * 64))


def ycbcr_video_range(path):
    white = [(16, 1), (235, 1), (128, 1), (240, 1), (128, 1), (240, 1)]
    tiff(path, (samples(8, 8, 8, colors=3, photometric=6, _530=[1, 1], _532=white), bytes([235, 128, 128]) * 64))


def ycbcr_subsampled(path):
    tiff(path, (samples(8, 8, 8, colors=3, photometric=6, _530=[2, 2]), bytes([76] * 4 + [85, 255]) * 16))


def reduced_first(path):
    small = (samples(8, 8, 8, colors=3, photometric=2, _254=[1]), bytes([255, 0, 0]) * 64)
    tiff(path, small, (samples(64, 64, 8, colors=3, photometric=2), bytes([0, 200, 0]) * 4096))


def twelve_bits(path):
    ramps(path)
    vips("jpegsave", path + ".png", path)
    file = open(path, "rb").read()
    at = file.find(b"\xff\xc0")
    open(path, "wb").write(file[:at] + b"\xff\xc1" + file[at + 2:at + 4] + b"\x0c" + file[at + 5:])


def lossless_jpeg(path):
    ramps(path)
    vips("jpegsave", path + ".png", path)
    open(path, "r+b").write(open(path, "rb").read().replace(b"\xff\xc0", b"\xff\xc3", 1))


def late_exif(path):
    exif = b"II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"
    png(path, 64, 16, level, late=[(b"eXIf", exif)])


def apng(path):
    png(path, 64, 16, level, [(b"acTL", struct.pack(">II", 2, 0)), (b"fcTL", struct.pack(">IIIIIHHBB", 0, 64, 16, 0, 0, 1, 9, 0, 0))])


def hair_frame(path):
    def pixel(x, y):
        is_line = (x in (10, 69) and 10 <= y <= 49) or (y in (10, 49) and 10 <= x <= 69)
        return (0, 0, 0) if is_line else (255, 255, 255)
    png(path, 80, 60, pixel)


def hair_frame_transparent(path):
    def pixel(x, y):
        is_line = (x in (10, 69) and 10 <= y <= 49) or (y in (10, 49) and 10 <= x <= 69)
        return (0, 0, 0, 255) if is_line else (0, 0, 0, 0)
    png(path, 80, 60, pixel, kind=6)


def one_dot(path):
    png(path, 20, 20, lambda x, y: (0, 0, 0) if (x, y) == (7, 12) else (255, 255, 255))


def narrow(path):
    png(path, 1, 5000, lambda x, y: (0, 200, 0))


def svg(path, head):
    text = "<svg xmlns='http://www.w3.org/2000/svg' %s><rect width='100%%' height='100%%' fill='#00c800'/></svg>"
    with open(path, "w") as file:
        file.write(text % head)


def svg_fraction(path):
    svg(path, "width='24.4' height='10.6'")


def svg_inches(path):
    svg(path, "width='0.02in' height='0.01in'")


def svg_view_box(path):
    svg(path, "viewBox='0 0 0.4 0.3'")


def svg_wide(path):
    svg(path, "width='20000' height='5'")


def embedded(path, data, kind):
    """Half of a drawing is a picture in a `data:` URI."""
    uri = "data:" + kind + ";base64," + base64.b64encode(data).decode()
    body = "<rect width='16' height='8' fill='#00f'/><image width='8' height='8' href='%s'/>" % uri
    data = "<svg xmlns='http://www.w3.org/2000/svg' width='16' height='8'>%s</svg>" % body
    with open(path, "w") as file:
        file.write(data)


def green(path, saver):
    png(path + ".png", 64, 64, lambda x, y: (0, 200, 0))
    vips(saver, path + ".png", path, *(["--compression", "av1"] if saver == "heifsave" else []))
    return open(path, "rb").read()


def svg_with_webp(path):
    embedded(path, green(path, "webpsave"), "image/webp")


def svg_with_gif(path):
    embedded(path, green(path, "gifsave"), "image/gif")


def svg_with_avif(path):
    embedded(path, green(path, "heifsave"), "image/avif")


def svg_with_png_named_jpeg(path):
    embedded(path, green(path, "pngsave"), "image/jpeg")


def svg_left_out(path):
    parts = """<style>@media screen { rect { fill: var(--a) } }</style><script/><foreignObject/><use href='#a'/>
      <svg:image xlink:href = "other.png" xmlns:svg="a" xmlns:xlink="b"/><a href="page.html"/><rect><animate/></rect>"""
    with open(path, "w") as file:
        file.write("<svg xmlns='http://www.w3.org/2000/svg' width='16' height='8'>%s</svg>" % parts)


def svg_with_a_link(path):
    with open(path, "w") as file:
        file.write("""<svg xmlns='http://www.w3.org/2000/svg' width='16' height='8'><a href="page.html"><text>@ media var(a)
          </text></a><use href="#a"/></svg>""")


def svg_in_svg(path):
    svg_with_webp(path)
    embedded(path, open(path, "rb").read().replace(b"width='16'", b"width='8'", 1), "image/svg+xml")


def svg_in_utf16(path):
    svg_with_webp(path)
    text = "<?xml version='1.0' encoding='UTF-16'?>" + open(path).read()
    with open(path, "w", encoding="utf-16") as file:
        file.write(text)


def svg_in_big_endian_utf16(path):
    svg(path, "width='16' height='8'")
    text = open(path).read()
    with open(path, "w", encoding="utf-16-be") as file:
        file.write(text)


COLORS = [(255, 0, 0), (0, 200, 0), (0, 0, 255)]


def gif_repeated(path):
    whole = (0, 0, 16, 16)
    gif(path, 16, 16, [(*whole, 0, 0), (*whole, 0, 0), (*whole, 1, 0), (*whole, 1, 0), (*whole, 2, 0)], COLORS)


def gif_cut(path, bytes=6):
    gif_repeated(path)
    file = open(path, "rb").read()
    open(path, "wb").write(file[:-bytes])


def gif_without_trailer(path):
    gif_cut(path, 1)


def gif_with_last_words(path):
    gif_repeated(path)
    file = open(path, "rb").read()
    open(path, "wb").write(file[:-1] + b"\x21\xfe\x02hi\0;")


def gif_still_repeated(path):
    gif(path, 16, 16, [(0, 0, 16, 16, 1, 0)] * 3, COLORS)


def gif_uncovered(path):
    gif(path, 16, 16, [(4, 4, 8, 8, 1, 0)], COLORS)


def gif_disposed(path):
    gif(path, 16, 16, [(0, 0, 16, 16, 1, 2), (8, 8, 8, 8, 2, 0)], COLORS)


def hidden_colors(path):
    png(path, 16, 16, lambda x, y: (x * 16, y * 16, 99, 0 if x < 8 else 255), kind=6)


def hidden_greys(path):
    png(path, 16, 16, lambda x, y: (x * 16, 0 if x < 8 else 255), kind=4)


def noise(path):
    state = [1]

    def pixel(x, y):
        state[0] = state[0] * 1103515245 + 12345 & 0x7FFFFFFF
        return (state[0] >> 8 & 255, state[0] >> 12 & 255, state[0] >> 16 & 255)
    png(path, 48, 48, pixel)


def disc_webp(path):
    png(path + ".png", 256, 256, lambda x, y: (20, 20, 120, 255 if (x - 128)**2 + (y - 128)**2 < 9000 else 0), kind=6)
    vips("webpsave", path + ".png", path, "--Q", "90")


def rings(path, width=303, height=301):
    png(path, width, height, lambda x, y: ((x * x + y * y) // 9 % 256,) * 3)


def rings_webp(path):
    rings(path + ".png")
    vips("webpsave", path + ".png", path, "--lossless")


def even_rings(path):
    rings(path, 320, 300)


def even_rings_webp(path):
    even_rings(path + ".png")
    vips("webpsave", path + ".png", path, "--lossless")


def xmp_address(path):
    png(path + ".png", 16, 16, level)
    vips("jpegsave", path + ".png", path)
    attributes = "photoshop:City='SECRET1' photoshop:Credit='Ann'"
    elements = "".join("<%s>SECRET</%s>" % (n, n) for n in (
        "photoshop:State", "photoshop:Country", "Iptc4xmpCore:Location", "Iptc4xmpCore:CountryCode",
        "Iptc4xmpExt:LocationCreated", "Iptc4xmpExt:LocationShown", "Iptc4xmpExt:City", "Iptc4xmpCore:CiAdrCity"))
    spaces = " ".join("xmlns:%s='http://ns.example/%s/'" % (n, n) for n in ("photoshop", "Iptc4xmpCore", "Iptc4xmpExt"))
    packet = "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>" \
        "<rdf:Description rdf:about='' %s %s>%s</rdf:Description></rdf:RDF></x:xmpmeta>" % (spaces, attributes, elements)
    with_segment(path, b"http://ns.adobe.com/xap/1.0/\0" + packet.encode(), 0xE1)


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
