"""HEIF, AVIF and MP4: ISO boxes, and forged values in them."""

import struct

from fuzzing.generic import UNSIGNED, put, set_number

# Those of whose content a part comes before the first box: how much.
SKIPPED = {b"meta": 12, b"iinf": 14, b"stsd": 16} | dict.fromkeys([b"avc1", b"hvc1", b"hev1", b"av01", b"vp09", b"mp4v"], 86)
CONTAINERS = {
    b"meta", b"iprp", b"ipco", b"iinf", b"dinf", b"moov", b"grpl", b"trak", b"mdia", b"minf", b"stbl", b"edts", b"udta",
    b"mvex", b"moof", b"traf",
} | SKIPPED.keys()


def boxes(data, start=0, end=None, found=None):
    """(offset, header size, length, kind) of every ISO box, containers before their content."""
    found = [] if found is None else found
    end = len(data) if end is None else end
    while start + 8 <= end:
        length, kind = struct.unpack_from(">I4s", data, start)
        if length < 8 or start + length > end:
            length = end - start
        found.append((start, 8, length, kind))
        if kind in CONTAINERS:
            boxes(data, start + SKIPPED.get(kind, 8), start + length, found)
        start += length
    return found


def box_lie(rng, data, others):
    found = boxes(data)[1:]  # ftyp is what gets it past our own look
    at, header, length, kind = rng.choice(found)
    how = rng.randrange(4)
    if how == 0:
        return put(data, at, struct.pack(">I", rng.choice(UNSIGNED + [length - 1, length + 1])))
    if how == 1:
        return put(
            data,
            at + 4,
            rng.choice([b"free", b"mdat", b"ispe", b"iloc", b"ipma", b"grid", b"idat", rng.choice(found)[3]]),
        )
    if length <= header or kind == b"mdat" and rng.random() < 0.5:
        return set_number(rng, data, others)
    inside = at + rng.randrange(header, length)
    return put(data, inside, struct.pack(">I", rng.choice(UNSIGNED))[: rng.choice([1, 2, 4])])[: len(data)]


def box_sizes(rng, data, others):
    """Forges the width or height of the picture (ispe)."""
    at = rng.choice([box[0] for box in boxes(data) if box[3] == b"ispe"])
    return put(data, at + rng.choice([12, 16]), struct.pack(">I", rng.choice(UNSIGNED + [4_000, 9_000])))


def box_move(rng, data, others):
    found = boxes(data)[1:]
    (at, _, length, _), (to, _, _, _) = rng.choice(found), rng.choice(found)
    box = data[at : at + length]
    if rng.random() < 0.5:
        return data[:to] + box * rng.choice([1, 5]) + data[to:]
    return data[:at] + data[at + length :]
