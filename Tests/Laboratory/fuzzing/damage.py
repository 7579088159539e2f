"""Damages a file by mutations of its format, or of any.

A mutation takes a random source, the bytes, and the files of the format, and gives the damaged bytes back."""
import re
import struct
import zlib

from fuzzing import svg
from fuzzing.elements import asf, boxes, flv, gif, jpeg, matroska, ogg, packets, png, png_sealed, program, riff, webp_sealed

UNSIGNED = [0, 1, 2, 3, 4, 7, 8, 0x22, 0x7F, 0x80, 0xFF, 0x100, 3_000, 9_000, 0x7FFF, 0x8000, 0xFFFF, 0x10000,
            0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]

# Of any format


def place(rng, data):
    """A random offset, mostly behind the magic bytes and often near the beginning, where headers are."""
    start = 0 if rng.random() < 0.04 else min(12, len(data) - 1)
    end = len(data) if rng.random() < 0.5 else min(len(data), 256)
    return rng.randrange(start, max(start + 1, end))


def put(data, at, new):
    return data[:at] + new + data[at + len(new) :]


def forge(rng, data, start, end):
    """Puts an extreme number at a random place within a range."""
    size = rng.choice([1, 2, 4, 4, 8])
    number = rng.choice(UNSIGNED) * (0x1_0000_0001 if size == 8 else 1)
    new = (number & (1 << 8 * size) - 1).to_bytes(size, rng.choice(["little", "big"]))
    return put(data, rng.randrange(start, max(start + 1, end - size + 1)), new)[: len(data)]


def flip_bits(rng, data, others):
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 8, 32])):
        changed[place(rng, data)] ^= 1 << rng.randrange(8)
    return bytes(changed)


def set_bytes(rng, data, others):
    changed = bytearray(data)
    for _ in range(rng.choice([1, 2, 4, 16, 64])):
        changed[place(rng, data)] = rng.choice([0, 255, rng.randrange(256)])
    return bytes(changed)


def set_number(rng, data, others):
    at = place(rng, data)
    return forge(rng, data, at, at + 1)


def fill_run(rng, data, others):
    at, length = place(rng, data), rng.choice([2, 4, 16, 64, 400])
    return data[:at] + rng.choice([b"\0" * length, b"\xff" * length, rng.randbytes(length)]) + data[at + length :]


def cut(rng, data, others):
    return data[: max(16, rng.randrange(len(data)) if rng.random() < 0.8 else len(data) - rng.randrange(1, 16))]


def remove_run(rng, data, others):
    at = place(rng, data)
    return data[:at] + data[at + rng.choice([1, 2, 4, 8, 64, 300]) :]


def repeat_run(rng, data, others):
    at, length = place(rng, data), rng.choice([1, 4, 16, 128])
    return data[:at] + data[at : at + length] * rng.choice([2, 3, 50]) + data[at + length :]


def splice(rng, data, others):
    other = rng.choice(others)
    return data[: rng.randrange(12, max(13, len(data)))] + other[rng.randrange(12, max(13, len(other))) :]


def append(rng, data, others):
    return data + rng.choice([rng.choice(others), rng.randbytes(200), b"\0" * 4096])


GENERIC = [flip_bits, set_bytes, fill_run, set_number, cut, remove_run, repeat_run, splice, append]

# Of files of elements


def structured(parse, heads, payload=None, seal=bytes):
    """Mutations of elements. `heads` are the kinds whose content begins with sizes, counts and offsets, `payload` those
    whose content is damaged, if not all. `seal` makes good what would give the damage away."""
    def behind(data):
        """All but the first element, which gets the file past our own look."""
        found = parse(data)
        return found[1:] or found

    def order(rng, data, others):
        """Removes an element, or copies it to the place of another, once or many times."""
        found = behind(data)
        (at, _, stop, _), (to, *_) = rng.choice(found), rng.choice(found)
        if rng.random() < 0.4:
            return seal(data[:at] + data[stop:])
        # Bounded, so that one input does not cost as much as a hundred.
        times = min(rng.choice([1, 1, 5, 20, 200]), 1 + 300_000 // (stop - at + 1))
        return seal(data[:to] + data[at:stop] * times + data[to:])

    def header(rng, data, others):
        """Forges a length or a kind."""
        found = behind(data)
        (at, content, _, _), (other, behind_it, _, _) = rng.choice(found), rng.choice(found)
        if rng.random() < 0.25:
            return seal(data[:at] + data[other:behind_it] + data[content:])
        return seal(forge(rng, data, at, content))

    def number(rng, data, others):
        _, content, stop, _ = rng.choice([element for element in parse(data) if element[3] in heads])
        return seal(forge(rng, data, content, min(stop, content + 28) if rng.random() < 0.7 else stop))

    def body(rng, data, others):
        _, content, stop, _ = rng.choice([one for one in behind(data) if payload is None or one[3] in payload])
        return seal(data[:content] + flip_bits(rng, data[content:stop] or b"\0", []) + data[stop:])

    return [order, header, number, number, body]


HEIF = structured(boxes, {b"ispe", b"iloc", b"ipma", b"iinf", b"grid", b"hvcC", b"av1C", b"colr"})
MOVIE_TABLES = set(b"""stts stsc stsz stco co64 ctts stss elst tkhd mdhd mvhd stsd trun tfhd tfdt trex avc1 hvc1 hev1
    av01 vp09 mp4v avcC hvcC av1C vpcC esds dref hdlr colr pasp sidx mfra""".split())
BLOCKS = {0xA1, 0xA3}
# Numbers of streams, times and sizes.
FACTS = {0x2AD7B1, 0xD7, 0x83, 0x86, 0xB0, 0xBA, 0x54B0, 0x54BA, 0x4489, 0x23E383, 0xE7, 0x63A2, 0xB3, 0xF1, *BLOCKS}

# JPEG


def exif(orientation):
    """A TIFF structure with an orientation, a copyright and a location."""
    text, entries = b"(c) nobody\0", 3
    at = 8 + 2 + entries * 12 + 4
    ifd = struct.pack("<HHHIHH", entries, 0x0112, 3, 1, orientation, 0)
    ifd += struct.pack("<HHII", 0x8298, 2, len(text), at) + struct.pack("<HHII", 0x8825, 4, 1, at + len(text) + 1)
    gps = struct.pack("<H", 1) + struct.pack("<HHI4s", 1, 2, 2, b"N\0\0\0") + struct.pack("<I", 0)
    return b"II*\0" + struct.pack("<I", 8) + ifd + struct.pack("<I", 0) + text + b"\0" + gps


XMP = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b'<rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="52,31N"/>'
    b"</rdf:RDF></x:xmpmeta>"
)
XMP_OF_JPEG = b"http://ns.adobe.com/xap/1.0/\0"


def jpeg_segment(marker, payload):
    return bytes([0xFF, marker]) + struct.pack(">H", len(payload) + 2) + payload


def jpeg_scan(rng, data, others):
    scan = jpeg(data)[-1][0]
    at = rng.randrange(scan + 2, max(scan + 3, len(data)))
    new = rng.choice([b"\xff\xd0", b"\xff\xd9", b"\xff\xda", b"\xff\xdd\0\4\0\1", b"\xff\xff\xff", b"\xff\xc4\0\x13\1",
                      rng.randbytes(9)])
    return data[:at] + new + data[at + rng.choice([0, len(new)]) :]


def jpeg_metadata(rng, data, others):
    """Adds EXIF with one forged number, XMP that is not XML, or half of a profile."""
    block = exif(rng.choice([0, 1, 5, 8, 9, 0xFFFF]))
    return data[:2] + rng.choice([
        jpeg_segment(0xE1, b"Exif\0\0" + forge(rng, block, 4, len(block))),
        jpeg_segment(0xE1, XMP_OF_JPEG + set_bytes(rng, XMP, [])),
        jpeg_segment(0xE2, b"ICC_PROFILE\0" + bytes([rng.randrange(4), rng.randrange(4)]) + rng.randbytes(200)),
        jpeg_segment(0xED, b"Photoshop 3.0\x008BIM" + rng.randbytes(50)),
    ]) + data[2:]


# PNG

PNG_HEAD = 33  # the signature and IHDR


def png_chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_scanlines(rng, data, others):
    """Damages the data below the compression, which stays valid."""
    parts = [(start, data[content : stop - 4]) for start, content, stop, kind in png(data) if kind == b"IDAT"]
    lines = bytearray(zlib.decompress(b"".join(body for _, body in parts)))
    for _ in range(rng.choice([1, 8, 100])):
        lines[rng.randrange(len(lines))] = rng.randrange(256)
    lines = lines[: rng.randrange(len(lines))] if rng.random() < 0.2 else lines
    return data[: parts[0][0]] + png_chunk(b"IDAT", zlib.compress(bytes(lines), 1)) + png_chunk(b"IEND", b"")


def png_profile(rng, data, others):
    profile = rng.choice([rng.randbytes(300), b"\0" * 5_000_000, b"acsp" * 99])
    if rng.random() < 0.6:
        chunk = png_chunk(b"iCCP", b"p\0\0" + zlib.compress(profile, 1))
    else:
        text = b"\nexif\n  99999999\n" + profile[:9000].hex().encode()
        chunk = png_chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(text))
    return data[:PNG_HEAD] + chunk + data[PNG_HEAD:]


def webp_length(rng, data, others):
    """Forges the file's own length, which other mutations make good."""
    return put(data, 4, struct.pack("<I", rng.choice(UNSIGNED)))


# TIFF

TAGS = [254, 256, 257, 258, 259, 262, 273, 274, 277, 278, 279, 284, 317, 320, 322, 323, 324, 325, 330, 338, 339, 347,
        530, 34675]
# On these depend the size, type and layout of the pixels; and their values: types, compressions, edges.
LAYOUT = {256, 257, 258, 259, 262, 277, 278, 284, 317, 322, 323, 338, 339}
LAYOUTS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 8_000, 30_000, 0xFFFF, 32773, 32946, 34712, 34892, 50000, 50001]


def tiff_entries(data):
    """Byte order, and the offsets of all directory entries and of the links between directories, of a classic TIFF."""
    order = "<" if data[:2] == b"II" else ">"
    entries, links, seen = [], [4], set()
    while (at := struct.unpack_from(order + "I", data, links[-1])[0]) and at not in seen and at + 2 <= len(data):
        seen.add(at)
        link = at + 2 + 12 * struct.unpack_from(order + "H", data, at)[0]
        entries += range(at + 2, min(link, len(data) - 11), 12)
        if link + 4 > len(data):
            break
        links.append(link)
    return order, entries, links


def tiff_entry(rng, data, others):
    """Forges a tag, type, count or value in a directory."""
    order, entries, _ = tiff_entries(data)
    offset, size, numbers = rng.choice([
        (0, "H", TAGS), (2, "H", [0, 1, 2, 3, 4, 5, 7, 12, 13, 16, 17, 0xFFFF]), (4, "I", UNSIGNED),
        (8, "I", UNSIGNED + [len(data) - 1, len(data), len(data) + 99])])
    return put(data, rng.choice(entries) + offset, struct.pack(order + size, rng.choice(numbers)))


def tiff_layout(rng, data, others):
    """Forges the value of a tag of LAYOUT, in the width of its type."""
    order, entries, _ = tiff_entries(data)
    tags = [(at, *struct.unpack_from(order + "HH", data, at)) for at in entries]
    at, _, kind = rng.choice([one for one in tags if one[1] in LAYOUT] or tags)
    return put(data, at + 8, struct.pack(order + ("H" if kind == 3 else "I"), rng.choice(LAYOUTS)))


def tiff_links(rng, data, others):
    """Links directories to themselves, to each other, or to nothing."""
    order, entries, links = tiff_entries(data)
    target = rng.choice([8, rng.choice(entries) - 2, len(data) - 2, rng.choice(UNSIGNED), entries[0] - 2])
    return put(data, rng.choice(links), struct.pack(order + "I", target))


def pdf_numbers(rng, data, others):
    match = rng.choice(list(re.finditer(rb"\b\d+\b", data[9:])))
    return data[: 9 + match.start()] + str(rng.choice(UNSIGNED + [-1, 10**20])).encode() + data[9 + match.end() :]


STRUCTURED = {  # what stands twice is drawn twice as often
    "jpeg": [*structured(jpeg, {0xC0, 0xC1, 0xC2, 0xC4, 0xDB, 0xDD, 0xDA}), jpeg_scan, jpeg_scan, jpeg_metadata],
    "png": [*structured(png, {b"IHDR", b"PLTE", b"tRNS"}, seal=png_sealed), png_scanlines, png_scanlines, png_profile],
    "gif": structured(gif, {"screen", 0x21, 0x2C}),
    "webp": [*structured(riff, {b"VP8X", b"ANMF", b"VP8 ", b"VP8L", b"ANIM"}, seal=webp_sealed), webp_length],
    "tiff": [tiff_entry, tiff_entry, tiff_layout, tiff_layout, tiff_links],
    "heif": HEIF, "avif": HEIF, "jxl": [], "svg": svg.MUTATIONS, "pdf": [pdf_numbers],
    "mp4": structured(boxes, MOVIE_TABLES, {b"mdat"}), "matroska": structured(matroska, FACTS, BLOCKS),
    "mpegts": structured(packets, {"table"}, {"packet"}),
    "avi": structured(riff, {b"avih", b"strh", b"strf", b"idx1", b"indx", b"vprp"}, {b"00dc", b"00db"}),
    "mpeg": structured(program, {"table"}, {"packet"}), "asf": structured(asf, {"table"}, {"data"}),
    "flv": structured(flv, {9, 18}, {9}), "ogg": structured(ogg, {"table"}, {"page"}), "sound": [],
}


def damage(rng, format, data, others):
    """The damaged bytes and the names of the mutations; sometimes none, so that options meet intact pictures too."""
    if rng.random() < 0.06:
        return data, ["none"]
    done = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        mutation = rng.choice(STRUCTURED[format] if STRUCTURED[format] and rng.random() < 0.6 else GENERIC)
        try:
            data = mutation(rng, data, others)
        except (IndexError, ValueError, StopIteration, struct.error, zlib.error, RecursionError):
            # An earlier mutation removed the structure that this one needs.
            mutation = flip_bits
            data = mutation(rng, data or b"\0", others)
        done.append(mutation.__name__)
    return data or b"\0", done
