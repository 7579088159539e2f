"""PNG: chunks with correct checksums, and forged values in them."""

import struct
import zlib

from fuzzing.generic import UNSIGNED, rearrange, within


def png_chunks(data):
    chunks, at = [], 8
    while at + 12 <= len(data):
        length = struct.unpack_from(">I", data, at)[0]
        if at + 12 + length > len(data):
            break
        chunks.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    return chunks


def png_file(chunks, claims=None):
    """A file with correct checksums, so that forgeries pass them. `claims`: {index of a chunk: its forged length}."""
    data = b"\x89PNG\r\n\x1a\n"
    for index, (kind, body) in enumerate(chunks):
        length = (claims or {}).get(index, len(body))
        data += struct.pack(">I", length) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return data


def png_rearrange(rng, data, others):
    return png_file(rearrange(rng, png_chunks(data)))


def png_header(rng, data, others):
    chunks = png_chunks(data)
    fields = list(struct.unpack(">IIBBBBB", chunks[0][1]))
    for _ in range(rng.choice([1, 1, 2])):
        index = rng.randrange(7)
        fields[index] = rng.choice(UNSIGNED + [9_000]) if index < 2 else rng.choice([0, 1, 2, 3, 4, 6, 8, 16, 255])
    return png_file([(b"IHDR", struct.pack(">IIBBBBB", *fields))] + chunks[1:])


def png_body(rng, data, others):
    chunks = png_chunks(data)
    index = rng.randrange(len(chunks))
    chunks[index] = (chunks[index][0], within(rng, chunks[index][1]))
    return png_file(chunks)


def png_length(rng, data, others):
    chunks = png_chunks(data)
    return png_file(chunks, {rng.randrange(len(chunks)): rng.choice(UNSIGNED)})


def png_scanlines(rng, data, others):
    """Damages the data below the compression, which stays valid."""
    chunks = png_chunks(data)
    lines = bytearray(zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT")))
    for _ in range(rng.choice([1, 8, 100])):
        lines[rng.randrange(len(lines))] = rng.randrange(256)
    lines = lines[: rng.randrange(len(lines))] if rng.random() < 0.2 else lines
    head = [chunk for chunk in chunks if chunk[0] not in (b"IDAT", b"IEND")]
    return png_file(head + [(b"IDAT", zlib.compress(bytes(lines), 1)), (b"IEND", b"")])


def png_profile(rng, data, others):
    profile = rng.choice([rng.randbytes(300), b"\0" * 5_000_000, b"acsp" * 99])
    chunk = (
        (b"iCCP", b"p\0\0" + zlib.compress(profile, 1))
        if rng.random() < 0.6
        else (
            b"zTXt",
            b"Raw profile type exif\0\0" + zlib.compress(b"\nexif\n  99999999\n" + profile[:9000].hex().encode()),
        )
    )
    chunks = [item for item in png_chunks(data) if item[0] != b"iCCP"]
    return png_file(chunks[:1] + [chunk] + chunks[1:])
