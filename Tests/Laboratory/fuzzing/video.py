"""Forged structures in files of boxes, elements, packets and chunks: HEIF, AVIF and every container of videos."""
import struct

from fuzzing.generic import UNSIGNED, damage_within, forge, move, put, rearrange, set_number

# ----------------------------------------------------------------------------------------- ISO boxes: HEIF, AVIF, MP4

# Those of whose content a part comes before the first box: how much.
SKIPPED = {b"meta": 12, b"iinf": 14, b"stsd": 16} | dict.fromkeys([b"avc1", b"hvc1", b"hev1", b"av01", b"vp09", b"mp4v"], 86)
CONTAINERS = {
    b"meta", b"iprp", b"ipco", b"iinf", b"dinf", b"moov", b"grpl", b"trak", b"mdia", b"minf", b"stbl", b"edts", b"udta",
    b"mvex", b"moof", b"traf",
} | SKIPPED.keys()
TABLES = {
    b"stts", b"stsc", b"stsz", b"stco", b"co64", b"ctts", b"stss", b"elst", b"tkhd", b"mdhd", b"mvhd", b"stsd", b"trun",
    b"tfhd", b"tfdt", b"trex", b"avc1", b"hvc1", b"hev1", b"av01", b"vp09", b"mp4v", b"avcC", b"hvcC", b"av1C", b"vpcC",
    b"esds", b"dref", b"hdlr", b"colr", b"pasp", b"sidx", b"mfra",
}


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
        kinds = [b"free", b"mdat", b"ispe", b"iloc", b"ipma", b"grid", b"idat", rng.choice(found)[3]]
        return put(data, at + 4, rng.choice(kinds))
    if length <= header or kind == b"mdat" and rng.random() < 0.5:
        return set_number(rng, data, others)
    inside = at + rng.randrange(header, length)
    return put(data, inside, struct.pack(">I", rng.choice(UNSIGNED))[: rng.choice([1, 2, 4])])[: len(data)]


def box_sizes(rng, data, others):
    """Forges the width or height of the picture (ispe)."""
    at = rng.choice([box[0] for box in boxes(data) if box[3] == b"ispe"])
    return put(data, at + rng.choice([12, 16]), struct.pack(">I", rng.choice(UNSIGNED + [4_000, 9_000])))


def box_move(rng, data, others):
    return move(rng, data, [(at, at + length) for at, _, length, _ in boxes(data)[1:]])


def movie_table(rng, data, others):
    """Forges a count, size, offset or time, most often near the beginning of a table."""
    at, header, length, _ = rng.choice([box for box in boxes(data) if box[3] in TABLES])
    return forge(rng, data, at + header, at + (min(length, 28) if rng.random() < 0.7 else length))


def movie_data(rng, data, others):
    at, header, length, _ = rng.choice([box for box in boxes(data) if box[3] == b"mdat"])
    return damage_within(rng, data, at + header, at + length)


# --------------------------------------------------------------------------------------------------- WebM and Matroska

MASTERS = {0x18538067, 0x1549A966, 0x1654AE6B, 0xAE, 0xE0, 0x1F43B675, 0x1C53BB6B, 0xBB, 0xB7, 0x114D9B74, 0x4DBB, 0xA0}


def elements(data, start=0, end=None, found=None):
    """(offset, bytes of the id, bytes of the length, end, id) of every element, masters before their content."""
    found = [] if found is None else found
    end = len(data) if end is None else end
    while start + 2 <= end and data[start]:
        name = 9 - data[start].bit_length()
        at = start + name
        if at >= end or not data[at]:
            break
        size = 9 - data[at].bit_length()
        content = at + size
        length = int.from_bytes(data[at:content], "big") & (1 << 7 * size) - 1
        stop = end if length == (1 << 7 * size) - 1 else min(end, content + length)
        number = int.from_bytes(data[start:at], "big")
        found.append((start, name, size, stop, number))
        if number in MASTERS:
            elements(data, content, stop, found)
        start = max(stop, content)
    return found


def element_lie(rng, data, others):
    """Forges a length, an id or a number."""
    found = elements(data)[1:]  # the first is what gets it past our own look
    at, name, size, stop, _ = rng.choice(found)
    how = rng.randrange(3)
    if how == 0:
        limit = (1 << 7 * size) - 1
        length = rng.choice([0, 1, limit, limit - 1, stop - at, stop - at + 1]) & limit
        return put(data, at + name, (length | 1 << 7 * size).to_bytes(size, "big"))
    if how == 1:
        other = rng.choice(found)
        return data[:at] + data[other[0] : other[0] + other[1]] + data[at + name :]
    return forge(rng, data, at + name + size, min(stop, at + name + size + 8))


def element_move(rng, data, others):
    return move(rng, data, [(element[0], element[3]) for element in elements(data)[1:]])


def element_data(rng, data, others):
    """Flips bits in a block."""
    at, name, size, stop, _ = rng.choice([element for element in elements(data) if element[4] in (0xA1, 0xA3)])
    return damage_within(rng, data, at + name + size, stop)


# --------------------------------------------------------------------------------------------------- Transport streams


def packets(data):
    """The packets of 188 bytes, or of 192 with a time stamp."""
    size = 188 if data[0] == data[188] == 0x47 else 192
    return [data[at : at + size] for at in range(0, len(data), size)]


def stream_order(rng, data, others):
    return b"".join(rearrange(rng, packets(data), 4))


def stream_packet(rng, data, others):
    """Forges the header or the first bytes of one packet: its stream, flags, table or times."""
    all = packets(data)
    index = rng.randrange(min(4, len(all)) if rng.random() < 0.4 else len(all))
    sync = 1 if len(all[0]) == 188 else 5
    all[index] = forge(rng, all[index], sync, sync + rng.choice([3, 24, 60]))
    return b"".join(all)


# ----------------------------------------------------------------------------------------------------------------- AVI


def lists(data, start=12, end=None, found=None):
    """(offset, length, kind) of every chunk, lists before their content."""
    found = [] if found is None else found
    end = len(data) if end is None else end
    while start + 8 <= end:
        kind, length = struct.unpack_from("<4sI", data, start)
        length = min(length, end - start - 8)
        found.append((start, length, kind))
        if kind == b"LIST":
            lists(data, start + 12, start + 8 + length, found)
        start += 8 + length + length % 2
    return found


def chunk_lie(rng, data, others):
    """Forges a length, a name, or a number in a header."""
    found = lists(data)
    at, length, _ = rng.choice(found)
    how = rng.randrange(3)
    if how == 0:
        return put(data, at + 4, struct.pack("<I", rng.choice(UNSIGNED + [length - 1 & 0xFFFF, length + 1])))
    if how == 1:
        return put(data, at, rng.choice([b"JUNK", b"idx1", b"LIST", b"00dc", rng.choice(found)[2]]))
    at, length, _ = rng.choice([chunk for chunk in found if chunk[2] in (b"avih", b"strh", b"strf", b"idx1", b"indx", b"vprp")])
    return forge(rng, data, at + 8, at + 8 + min(length, 80))


def chunk_move(rng, data, others):
    return move(rng, data, [(at, at + 8 + length) for at, length, _ in lists(data)])


def chunk_data(rng, data, others):
    at, length, _ = rng.choice([chunk for chunk in lists(data) if chunk[2][2:] in (b"dc", b"db")])
    return damage_within(rng, data, at + 8, at + 8 + length)
