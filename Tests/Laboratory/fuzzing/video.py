"""Forged structures in files of boxes, elements, packets and chunks: HEIF, AVIF and every container of videos."""
import struct

from fuzzing.generic import UNSIGNED, element_mutations, elements, forge, put, rearrange, riff_chunk, set_number

# ISO boxes: HEIF, AVIF, MP4

# Those of whose content a part comes before the first box: how much.
SKIPPED = {b"meta": 12, b"iinf": 14,
           b"stsd": 16} | dict.fromkeys([b"avc1", b"hvc1", b"hev1", b"av01", b"vp09", b"mp4v"], 86)
CONTAINERS = SKIPPED.keys() | set(b"iprp ipco dinf moov grpl trak mdia minf stbl edts udta mvex moof traf".split())
TABLES = set(b"""stts stsc stsz stco co64 ctts stss elst tkhd mdhd mvhd stsd trun tfhd tfdt trex avc1 hvc1 hev1 av01
    vp09 mp4v avcC hvcC av1C vpcC esds dref hdlr colr pasp sidx mfra""".split())


def box(data, start, end):
    if start + 8 > end:
        return None
    length, kind = struct.unpack_from(">I4s", data, start)
    stop = start + length if length >= 8 and start + length <= end else end
    return start + 8, stop, kind, start + SKIPPED.get(kind, 8) if kind in CONTAINERS else None


def boxes(data):
    """All but ftyp, which gets it past our own look."""
    return elements(data, box, 0, len(data))[1:]


def box_lie(rng, data, others):
    found = boxes(data)
    at, content, stop, kind = rng.choice(found)
    length, how = stop - at, rng.randrange(4)
    if how == 0:
        return put(data, at, struct.pack(">I", rng.choice(UNSIGNED + [length - 1, length + 1])))
    if how == 1:
        kinds = [b"free", b"mdat", b"ispe", b"iloc", b"ipma", b"grid", b"idat", rng.choice(found)[3]]
        return put(data, at + 4, rng.choice(kinds))
    if stop <= content or kind == b"mdat" and rng.random() < 0.5:
        return set_number(rng, data, others)
    inside = rng.randrange(content, stop)
    return put(data, inside, struct.pack(">I", rng.choice(UNSIGNED))[: rng.choice([1, 2, 4])])[: len(data)]


def box_sizes(rng, data, others):
    """Forges the width or height of the picture (ispe)."""
    at = rng.choice([start for start, _, _, kind in boxes(data) if kind == b"ispe"])
    return put(data, at + rng.choice([12, 16]), struct.pack(">I", rng.choice(UNSIGNED + [4_000, 9_000])))


def movie_table(rng, data, others):
    """Forges a count, size, offset or time, most often near the beginning of a table."""
    at, content, stop, _ = rng.choice([box for box in boxes(data) if box[3] in TABLES])
    return forge(rng, data, content, min(stop, at + 28) if rng.random() < 0.7 else stop)


box_move, movie_data = element_mutations(boxes, {b"mdat"}, "box_move", "movie_data")

# WebM and Matroska

MASTERS = {0x18538067, 0x1549A966, 0x1654AE6B, 0xAE, 0xE0, 0x1F43B675, 0x1C53BB6B, 0xBB, 0xB7, 0x114D9B74, 0x4DBB, 0xA0}


def number_size(byte):
    """The bytes of a number that begins with this one."""
    return 9 - byte.bit_length()


def element(data, start, end):
    if start + 2 > end or not data[start]:
        return None
    at = start + number_size(data[start])
    if at >= end or not data[at]:
        return None
    size = number_size(data[at])
    unknown = (1 << 7 * size) - 1
    length = int.from_bytes(data[at : at + size], "big") & unknown
    kind = int.from_bytes(data[start:at], "big")
    stop = end if length == unknown else min(end, at + size + length)
    return at + size, stop, kind, at + size if kind in MASTERS else None


def matroska(data):
    """All but the first, which gets it past our own look."""
    return elements(data, element, 0, len(data))[1:]


def element_lie(rng, data, others):
    """Forges a length, an id or a number."""
    found = matroska(data)
    start, content, stop, _ = rng.choice(found)
    at, how = start + number_size(data[start]), rng.randrange(3)
    if how == 0:
        limit = (1 << 7 * (content - at)) - 1
        length = rng.choice([0, 1, limit, limit - 1, stop - start, stop - start + 1]) & limit
        return put(data, at, (length | limit + 1).to_bytes(content - at, "big"))
    if how == 1:
        other = rng.choice(found)[0]
        return data[:start] + data[other : other + number_size(data[other])] + data[at:]
    return forge(rng, data, content, min(stop, content + 8))


element_move, element_data = element_mutations(matroska, {0xA1, 0xA3}, "element_move", "element_data")

# Transport streams


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


# AVI


def chunks(data):
    return elements(data, riff_chunk, 12, len(data), 2)


def chunk_lie(rng, data, others):
    """Forges a length, a name, or a number in a header."""
    found = chunks(data)
    at, content, stop, _ = rng.choice(found)
    length, how = stop - content, rng.randrange(3)
    if how == 0:
        return put(data, at + 4, struct.pack("<I", rng.choice(UNSIGNED + [length - 1 & 0xFFFF, length + 1])))
    if how == 1:
        return put(data, at, rng.choice([b"JUNK", b"idx1", b"LIST", b"00dc", rng.choice(found)[3]]))
    headers = (b"avih", b"strh", b"strf", b"idx1", b"indx", b"vprp")
    _, content, stop, _ = rng.choice([chunk for chunk in found if chunk[3] in headers])
    return forge(rng, data, content, min(stop, content + 80))


chunk_move, chunk_data = element_mutations(chunks, {b"00dc", b"00db"}, "chunk_move", "chunk_data")

MUTATIONS = {  # what stands twice is drawn twice as often
    "heif": [box_lie, box_lie, box_sizes, box_move],
    "avif": [box_lie, box_lie, box_sizes, box_move],
    "mp4": [movie_table, movie_table, movie_table, box_lie, box_move, movie_data],
    "matroska": [element_lie, element_lie, element_move, element_data],
    "mpegts": [stream_packet, stream_packet, stream_order],
    "avi": [chunk_lie, chunk_lie, chunk_move, chunk_data],
}
