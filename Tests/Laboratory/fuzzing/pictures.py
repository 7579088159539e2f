"""Forged structures in pictures: JPEG, PNG, WebP, GIF, TIFF, PDF. (SVG and ISO boxes have modules of their own.)"""
import re
import struct
import zlib

from fuzzing.generic import UNSIGNED, chunk_mutations, elements, put, rearrange, riff_chunk, set_bytes

# EXIF and XMP


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

# JPEG


def jpeg_segment(marker, payload, length=None):
    return bytes([0xFF, marker]) + struct.pack(">H",
                                               (len(payload) + 2 if length is None else length) & 0xFFFF) + payload


def jpeg_parts(data):
    """Segments up to the scan as (marker, payload), and the rest from SOS on."""
    segments, at = [], 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] != 0xDA:
        length = struct.unpack_from(">H", data, at + 2)[0]
        segments.append((data[at + 1], data[at + 4 : at + 2 + length]))
        at += 2 + length
    return segments, data[at:]


def jpeg_file(segments, rest, claims={}):
    return b"\xff\xd8" + b"".join(jpeg_segment(*segment, claims.get(index)) for index,
                                  segment in enumerate(segments)) + rest


def jpeg_frame(rng, data, others):
    """Forges SOF: kind, precision, size, components, sampling, tables."""
    segments, rest = jpeg_parts(data)
    index = next(index for index, (marker, _) in enumerate(segments) if 0xC0 <= marker <= 0xC2)
    marker, body = segments[index]
    how = rng.randrange(5)
    if how == 0:
        marker = rng.choice([0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC9, 0xCA, 0xCF])
    elif how == 1:
        body = put(body, rng.choice([1, 3]), struct.pack(">H", rng.choice(UNSIGNED) & 0xFFFF))
    elif how == 2:
        body = put(body, rng.choice([0, 5]), bytes([rng.choice([0, 1, 2, 3, 4, 5, 8, 12, 255])]))
    else:
        body = put(body, rng.randrange(6, len(body)), bytes([rng.choice([0, 0x11, 0x14, 0x22, 0x41, 0x44, 0xFF])]))
    segments[index] = (marker, body)
    return jpeg_file(segments, rest)


def jpeg_scan(rng, data, others):
    segments, rest = jpeg_parts(data)
    at = rng.randrange(2, max(3, len(rest)))
    new = rng.choice([b"\xff\xd0", b"\xff\xd9", b"\xff\xda", b"\xff\xdd\0\4\0\1", b"\xff\xff\xff", b"\xff\xc4\0\x13\1",
                      rng.randbytes(9)])
    return jpeg_file(segments, rest[:at] + new + rest[at + rng.choice([0, len(new)]) :])


def jpeg_metadata(rng, data, others):
    """Adds EXIF with one forged number, XMP that is not XML, or half of a profile."""
    block = exif(rng.choice([0, 1, 5, 8, 9, 0xFFFF]))
    block = put(block, rng.randrange(4, len(block) - 4), struct.pack("<I", rng.choice(UNSIGNED)))
    return data[:2] + rng.choice([
        jpeg_segment(0xE1, b"Exif\0\0" + block),
        jpeg_segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + set_bytes(rng, XMP, [])),
        jpeg_segment(0xE2, b"ICC_PROFILE\0" + bytes([rng.randrange(4), rng.randrange(4)]) + rng.randbytes(200)),
        jpeg_segment(0xED, b"Photoshop 3.0\x008BIM" + rng.randbytes(50)),
    ]) + data[2:]


jpeg_order, jpeg_length, jpeg_body = chunk_mutations(jpeg_parts, jpeg_file)

# PNG


def png_chunks(data):
    chunks, at = [], 8
    while at + 12 <= len(data):
        length = struct.unpack_from(">I", data, at)[0]
        if at + 12 + length > len(data):
            break
        chunks.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    return chunks, None


def png_file(chunks, _=None, claims={}):
    """A file with correct checksums, so that forgeries pass them."""
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", claims.get(index, len(body))) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for index, (kind, body) in enumerate(chunks))


def png_header(rng, data, others):
    chunks, _ = png_chunks(data)
    fields = list(struct.unpack(">IIBBBBB", chunks[0][1]))
    for _ in range(rng.choice([1, 1, 2])):
        index = rng.randrange(7)
        fields[index] = rng.choice(UNSIGNED + [9_000]) if index < 2 else rng.choice([0, 1, 2, 3, 4, 6, 8, 16, 255])
    return png_file([(b"IHDR", struct.pack(">IIBBBBB", *fields))] + chunks[1:])


def png_scanlines(rng, data, others):
    """Damages the data below the compression, which stays valid."""
    chunks, _ = png_chunks(data)
    lines = bytearray(zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT")))
    for _ in range(rng.choice([1, 8, 100])):
        lines[rng.randrange(len(lines))] = rng.randrange(256)
    lines = lines[: rng.randrange(len(lines))] if rng.random() < 0.2 else lines
    head = [chunk for chunk in chunks if chunk[0] not in (b"IDAT", b"IEND")]
    return png_file(head + [(b"IDAT", zlib.compress(bytes(lines), 1)), (b"IEND", b"")])


def png_profile(rng, data, others):
    profile = rng.choice([rng.randbytes(300), b"\0" * 5_000_000, b"acsp" * 99])
    if rng.random() < 0.6:
        chunk = (b"iCCP", b"p\0\0" + zlib.compress(profile, 1))
    else:
        text = b"\nexif\n  99999999\n" + profile[:9000].hex().encode()
        chunk = (b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(text))
    chunks = [item for item in png_chunks(data)[0] if item[0] != b"iCCP"]
    return png_file(chunks[:1] + [chunk] + chunks[1:])


png_order, png_length, png_body = chunk_mutations(png_chunks, png_file, 1)

# WebP


def webp_chunks(data):
    return [(kind, data[content:stop]) for _, content, stop, kind in elements(data, riff_chunk, 12, len(data), 2)], None


def webp_file(chunks, _=None, claims={}):
    body = b"".join(kind + struct.pack("<I", claims.get(index, len(content))) + content + b"\0" * (len(content) % 2)
                    for index, (kind, content) in enumerate(chunks))
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


webp_order, webp_chunk_length, webp_body = chunk_mutations(webp_chunks, webp_file)


def webp_length(rng, data, others):
    if rng.random() < 0.3:
        return put(data, 4, struct.pack("<I", rng.choice(UNSIGNED)))
    return webp_chunk_length(rng, data, others)


def webp_sizes(rng, data, others):
    """Forges the sizes of the canvas (VP8X), of frames (ANMF) or of the bitstream (VP8, VP8L)."""
    chunks, _ = webp_chunks(data)
    index = rng.randrange(len(chunks))
    kind, body = chunks[index]
    at = {
        b"VP8X": rng.choice([0, 4, 7]), b"ANMF": rng.choice([0, 3, 6, 9, 12, 15]), b"VP8 ": rng.choice([6, 8]),
        b"VP8L": 1,
        b"ANIM": rng.choice([0, 4]),
    }.get(kind, 0)
    chunks[index] = (kind, put(body, at, struct.pack("<I", rng.choice(UNSIGNED))[: rng.choice([1, 2, 3])])[: len(body)])
    return webp_file(chunks)


# GIF


def gif_parts(data):
    """Header with the global palette, and blocks (extensions and frames) as bytes."""
    at = 13 + (3 << (data[10] & 7) + 1 if data[10] & 0x80 else 0)
    head, blocks = data[:at], []
    while at < len(data) and data[at] in (0x21, 0x2C):
        start, flags = at, data[at + 9] if data[at] == 0x2C else 0
        at += 2 if data[at] == 0x21 else 11 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
        while at < len(data) and data[at]:
            at += 1 + data[at]
        at += 1
        blocks.append(data[start:at])
    return head, blocks


def gif_order(rng, data, others):
    head, blocks = gif_parts(data)
    return head + b"".join(rearrange(rng, blocks, 0)) + b";"


def gif_screen(rng, data, others):
    data = put(data, rng.choice([6, 8]), struct.pack("<H", rng.choice(UNSIGNED) & 0xFFFF))
    return data if rng.random() < 0.7 else put(data, 10, rng.randbytes(3))


def gif_frame(rng, data, others):
    """Forges a frame (position, size, flags, LZW width) or an extension (delay, disposal, loop)."""
    head, blocks = gif_parts(data)
    index = rng.randrange(len(blocks))
    block = blocks[index]
    if block[0] == 0x2C and rng.random() < 0.7:
        block = put(block, rng.choice([1, 3, 5, 7]), struct.pack("<H", rng.choice(UNSIGNED) & 0xFFFF))
    elif block[0] == 0x2C:
        block = put(block, rng.choice([9, 10]), bytes([rng.choice([0, 1, 2, 8, 9, 11, 12, 13, 0x40, 0x80, 0x87, 255])]))
    else:
        block = put(block, rng.randrange(1, len(block)), bytes([rng.choice([0, 1, 4, 127, 255])]))
    return head + b"".join(blocks[:index] + [block] + blocks[index + 1 :]) + b";"


# TIFF

TAGS = [254, 256, 257, 258, 259, 262, 273, 274, 277, 278, 279, 284, 317, 320, 322, 323, 324, 325, 330, 338, 339, 347,
        530, 34675]
LAYOUT = {256, 257, 258, 259, 262, 277, 278, 284, 317, 322, 323, 338, 339}
LAYOUTS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 8_000, 30_000, 0xFFFF, 32773, 32946, 34712, 34892, 50000, 50001]


def tiff_entries(data):
    """Byte order, and the offsets of all directory entries and of the links between directories, of a classic TIFF."""
    order = "<" if data[:2] == b"II" else ">"
    entries, links, seen = [], [4], set()
    at = struct.unpack_from(order + "I", data, 4)[0]
    while at and at not in seen and at + 2 <= len(data):
        seen.add(at)
        count = struct.unpack_from(order + "H", data, at)[0]
        entries += [at + 2 + 12 * index for index in range(count) if at + 14 + 12 * index <= len(data)]
        link = at + 2 + 12 * count
        if link + 4 > len(data):
            break
        links.append(link)
        at = struct.unpack_from(order + "I", data, link)[0]
    return order, entries, links


def tiff_entry(rng, data, others):
    """Forges a tag, type, count or value in a directory."""
    order, entries, _ = tiff_entries(data)
    at = rng.choice(entries)
    place, size, numbers = [
        (0, "H", TAGS), (2, "H", [0, 1, 2, 3, 4, 5, 7, 12, 13, 16, 17, 0xFFFF]), (4, "I", UNSIGNED),
        (8, "I", UNSIGNED + [len(data) - 1, len(data), len(data) + 99]),
    ][rng.randrange(4)]
    return put(data, at + place, struct.pack(order + size, rng.choice(numbers)))


def tiff_header(rng, data, others):
    """Forges a tag on which the size, type or layout of the pixels depends."""
    order, entries, _ = tiff_entries(data)
    at = rng.choice([at for at in entries if struct.unpack_from(order + "H", data, at)[0] in LAYOUT] or entries)
    size = struct.unpack_from(order + "H", data, at + 2)[0]
    return put(data, at + 8, struct.pack(order + ("H" if size == 3 else "I"), rng.choice(LAYOUTS)))


def tiff_links(rng, data, others):
    """Links directories to themselves, to each other, or to nothing."""
    order, entries, links = tiff_entries(data)
    target = rng.choice(
        [8, rng.choice(entries) - 2, len(data) - 2, rng.choice(UNSIGNED), struct.unpack_from(order + "I", data, 4)[0]])
    return put(data, rng.choice(links), struct.pack(order + "I", target & 0xFFFFFFFF))


# PDF


def document():
    """A PDF of two pages with text, curves and transparency; readers rebuild the cross-reference table."""
    stream = b"q 0.9 0.2 0.1 rg 10 10 60 40 re f Q BT /F 18 Tf 12 60 Td (Cameo) Tj ET 5 5 m 40 90 80 -20 90 60 c S"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 2 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 80] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data, table = b"%PDF-1.4\n", b"xref\n0 6\n0000000000 65535 f \n"
    for number, body in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(data)
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    return data + table + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(data)


def pdf_numbers(rng, data, others):
    match = rng.choice(list(re.finditer(rb"\b\d+\b", data[9:])))
    return data[: 9 + match.start()] + str(rng.choice(UNSIGNED + [-1, 10**20])).encode() + data[9 + match.end() :]


MUTATIONS = {  # what stands twice is drawn twice as often
    "jpeg": [jpeg_order, jpeg_length, jpeg_frame, jpeg_body, jpeg_scan, jpeg_scan, jpeg_metadata],
    "png": [png_order, png_header, png_body, png_length, png_scanlines, png_scanlines, png_profile],
    "gif": [gif_order, gif_screen, gif_frame, gif_frame],
    "webp": [webp_order, webp_length, webp_sizes, webp_body, webp_body],
    "tiff": [tiff_entry, tiff_entry, tiff_header, tiff_header, tiff_links],
    "pdf": [pdf_numbers],
    "jxl": [],
}
