"""WebP: RIFF chunks, and forged values in them."""

import struct

from fuzzing.generic import UNSIGNED, put, rearrange, within


def webp_chunks(data):
    chunks, at = [], 12
    while at + 8 <= len(data):
        length = struct.unpack_from("<I", data, at + 4)[0]
        chunks.append((data[at : at + 4], data[at + 8 : at + 8 + length]))
        at += 8 + length + length % 2
    return chunks


def webp_file(chunks, claims=None):
    body = b""
    for index, (kind, content) in enumerate(chunks):
        length = (claims or {}).get(index, len(content))
        body += kind + struct.pack("<I", length) + content + b"\0" * (len(content) % 2)
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def webp_rearrange(rng, data, others):
    return webp_file(rearrange(rng, webp_chunks(data), 0))


def webp_length(rng, data, others):
    if rng.random() < 0.3:
        return put(data, 4, struct.pack("<I", rng.choice(UNSIGNED)))
    chunks = webp_chunks(data)
    return webp_file(chunks, {rng.randrange(len(chunks)): rng.choice(UNSIGNED)})


def webp_sizes(rng, data, others):
    """Forges the sizes of the canvas (VP8X), of frames (ANMF) or of the bitstream (VP8, VP8L)."""
    chunks = webp_chunks(data)
    index = rng.randrange(len(chunks))
    kind, body = chunks[index]
    at = {
        b"VP8X": rng.choice([0, 4, 7]), b"ANMF": rng.choice([0, 3, 6, 9, 12, 15]), b"VP8 ": rng.choice([6, 8]),
        b"VP8L": 1, b"ANIM": rng.choice([0, 4]),
    }.get(kind, 0)
    chunks[index] = (kind, put(body, at, struct.pack("<I", rng.choice(UNSIGNED))[: rng.choice([1, 2, 3])])[: len(body)])
    return webp_file(chunks)


def webp_body(rng, data, others):
    chunks = webp_chunks(data)
    index = rng.randrange(len(chunks))
    chunks[index] = (chunks[index][0], within(rng, chunks[index][1]))
    return webp_file(chunks)
