"""Where the elements of each format are: segments, chunks, blocks, boxes, packets. An element is (start, start of its
content, end, kind); a container comes before its content."""
import re
import struct
import zlib


def elements(data, read, start=0, end=None, pad=1):
    """All elements in a range. `read` gives one without its start, and where its first child begins, or None."""
    found, end = [], len(data) if end is None else end
    while start < end and (one := read(data, start, end)):
        content, stop, kind, inside = one
        found.append((start, content, stop, kind))
        if inside:
            found += elements(data, read, inside, stop, pad)
        start = max(content, stop + (stop - content) % pad)
    return found


def number(data, at, order="big", size=4):
    return int.from_bytes(data[at : at + size], order)


# Pictures


def jpeg_segment(data, start, end):
    """The scan is all that follows SOS."""
    if start + 4 > end or data[start] != 0xFF:
        return None
    is_scan = data[start + 1] == 0xDA
    return start + 4, end if is_scan else min(end, start + 2 + number(data, start + 2, size=2)), data[start + 1], None


def jpeg(data):
    return elements(data, jpeg_segment, 2)


def png_chunk(data, start, end):
    return (start + 8, min(end, start + 12 + number(data, start)), data[start + 4 : start + 8], None) \
        if start + 12 <= end else None


def png(data):
    return elements(data, png_chunk, 8)


def png_sealed(data):
    """With correct checksums, so that forgeries pass them."""
    sealed = bytearray(data)
    for start, content, stop, _ in png(data):
        sealed[stop - 4 : stop] = struct.pack(">I", zlib.crc32(data[start + 4 : stop - 4]))
    return bytes(sealed)


def riff_chunk(data, start, end):
    if start + 8 > end:
        return None
    kind = data[start : start + 4]
    stop = min(end, start + 8 + number(data, start + 4, "little"))
    return start + 8, stop, kind, start + 12 if kind == b"LIST" else None


def riff(data):
    """WebP and AVI."""
    return elements(data, riff_chunk, 12, pad=2)


def webp_sealed(data):
    """With its own length."""
    return data[:4] + struct.pack("<I", len(data) - 8) + data[8:]


def gif_block(data, start, end):
    """An extension or a frame."""
    if data[start] not in (0x21, 0x2C):
        return None
    at = start + 2 if data[start] == 0x21 else start + 11 + gif_palette(data[start + 9])
    while at < end and data[at]:
        at += 1 + data[at]
    return start + 1, min(end, at + 1), data[start], None


def gif_palette(flags):
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def gif(data):
    first = 13 + gif_palette(data[10])
    return [(6, 6, first, "screen"), *elements(data, gif_block, first)]


# ISO boxes: HEIF, AVIF, MP4

# Those of whose content a part comes before the first box: how much.
SKIPPED = {b"meta": 12, b"iinf": 14, b"stsd": 16}
SKIPPED |= dict.fromkeys([b"avc1", b"hvc1", b"hev1", b"av01", b"vp09", b"mp4v"], 86)
CONTAINERS = SKIPPED.keys() | set(b"iprp ipco dinf moov grpl trak mdia minf stbl edts udta mvex moof traf".split())


def box(data, start, end):
    if start + 8 > end:
        return None
    length, kind = number(data, start), data[start + 4 : start + 8]
    stop = start + length if length >= 8 and start + length <= end else end
    return start + 8, stop, kind, start + SKIPPED.get(kind, 8) if kind in CONTAINERS else None


def boxes(data):
    return elements(data, box)


# WebM and Matroska

MASTERS = {0x18538067, 0x1549A966, 0x1654AE6B, 0xAE, 0xE0, 0x1F43B675, 0x1C53BB6B, 0xBB, 0xB7, 0x114D9B74, 0x4DBB, 0xA0}


def number_size(byte):
    """The bytes of a number that begins with this one."""
    return 9 - byte.bit_length()


def matroska_element(data, start, end):
    if start + 2 > end or not data[start]:
        return None
    at = start + number_size(data[start])
    if at >= end or not data[at]:
        return None
    size = number_size(data[at])
    unknown = (1 << 7 * size) - 1
    length, kind = number(data, at, size=size) & unknown, number(data, start, size=at - start)
    stop = end if length == unknown else min(end, at + size + length)
    return at + size, stop, kind, at + size if kind in MASTERS else None


def matroska(data):
    return elements(data, matroska_element)


def packets(data):
    """Those of a transport stream, of 188 bytes, or of 192 with a time stamp; tables come first."""
    size, sync = (188, 1) if data[0] == data[188] == 0x47 else (192, 5)
    return [(at, at + sync, min(at + size, len(data)), "table" if at < 4 * size else "packet")
            for at in range(0, len(data), size)]


# Program streams, ASF, Flash video, Ogg


def program(data):
    """Packs, headers and packets of a program stream, which begin with a start code."""
    starts = [match.start() for match in re.finditer(rb"\x00\x00\x01[\xb9-\xff]", data)] + [len(data)]
    return [(at, at + 6, stop, "packet" if data[at + 3] >= 0xBD else "table") for at, stop in zip(starts, starts[1:])]


HEADER_OF_ASF = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")
DATA_OF_ASF = bytes.fromhex("3626b2758e66cf11a6d900aa0062ce6c")


def asf_object(data, start, end):
    if start + 24 > end:
        return None
    stop, kind = min(end, start + max(24, number(data, start + 16, "little", 8))), data[start : start + 16]
    return start + 24, stop, "data" if kind == DATA_OF_ASF else "table", start + 30 if kind == HEADER_OF_ASF else None


def asf(data):
    return elements(data, asf_object)


def flv_tag(data, start, end):
    if start + 11 > end:
        return None
    return start + 11, min(end, start + 15 + number(data, start + 1, size=3)), data[start], None


def flv(data):
    return elements(data, flv_tag, 13)


def ogg_page(data, start, end):
    if data[start : start + 4] != b"OggS" or start + 27 > end:
        return None
    content = start + 27 + data[start + 26]
    kind = "table" if data[start + 5] & 2 or number(data, start + 18, "little") < 2 else "page"
    return content, min(end, content + sum(data[start + 27 : content])), kind, None


def ogg(data):
    return elements(data, ogg_page)
