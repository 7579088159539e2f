"""JPEG: segments up to the scan, and forged values in them."""

import struct

from fuzzing.generic import UNSIGNED, put, rearrange, set_bytes, within
from fuzzing.metadata import XMP, exif


def jpeg_segment(marker, payload):
    return bytes([0xFF, marker]) + struct.pack(">H", len(payload) + 2) + payload


def jpeg_parts(data):
    """Segments up to the scan as (marker, payload), and the rest from SOS on."""
    segments, at = [], 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] != 0xDA:
        length = struct.unpack_from(">H", data, at + 2)[0]
        segments.append((data[at + 1], data[at + 4 : at + 2 + length]))
        at += 2 + length
    return segments, data[at:]


def jpeg_file(segments, rest, claims=None):
    data = b"\xff\xd8"
    for index, (marker, payload) in enumerate(segments):
        length = (claims or {}).get(index, len(payload) + 2)
        data += bytes([0xFF, marker]) + struct.pack(">H", length & 0xFFFF) + payload
    return data + rest


def jpeg_rearrange(rng, data, others):
    segments, rest = jpeg_parts(data)
    return jpeg_file(rearrange(rng, segments, 0), rest)


def jpeg_length(rng, data, others):
    segments, rest = jpeg_parts(data)
    return jpeg_file(segments, rest, {rng.randrange(len(segments)): rng.choice(UNSIGNED)})


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


def jpeg_body(rng, data, others):
    segments, rest = jpeg_parts(data)
    index = rng.randrange(len(segments))
    segments[index] = (segments[index][0], within(rng, segments[index][1]))
    return jpeg_file(segments, rest)


def jpeg_scan(rng, data, others):
    segments, rest = jpeg_parts(data)
    at = rng.randrange(2, max(3, len(rest)))
    new = rng.choice(
        [
            b"\xff\xd0", b"\xff\xd9", b"\xff\xda", b"\xff\xdd\0\4\0\1", b"\xff\xff\xff", b"\xff\xc4\0\x13\1",
            rng.randbytes(9),
        ]
    )
    return jpeg_file(segments, rest[:at] + new + rest[at + rng.choice([0, len(new)]) :])


def jpeg_metadata(rng, data, others):
    """Adds EXIF with one forged number, XMP that is not XML, or half of a profile."""
    block = exif(rng.choice([0, 1, 5, 8, 9, 0xFFFF]))
    block = put(block, rng.randrange(4, len(block) - 4), struct.pack("<I", rng.choice(UNSIGNED)))
    added = rng.choice(
        [
            jpeg_segment(0xE1, b"Exif\0\0" + block),
            jpeg_segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + set_bytes(rng, XMP, [])),
            jpeg_segment(0xE2, b"ICC_PROFILE\0" + bytes([rng.randrange(4), rng.randrange(4)]) + rng.randbytes(200)),
            jpeg_segment(0xED, b"Photoshop 3.0\x008BIM" + rng.randbytes(50)),
        ]
    )
    return data[:2] + added + data[2:]
