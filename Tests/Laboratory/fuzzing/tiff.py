"""TIFF: directories, and forged values in them."""

import struct

from fuzzing.generic import UNSIGNED, put


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
    how = rng.randrange(4)
    if how == 0:
        tags = [
            254, 256, 257, 258, 259, 262, 273, 274, 277, 278, 279, 284, 317, 320, 322, 323, 324, 325, 330, 338, 339,
            347, 530, 34675,
        ]
        return put(data, at, struct.pack(order + "H", rng.choice(tags)))
    if how == 1:
        return put(data, at + 2, struct.pack(order + "H", rng.choice([0, 1, 2, 3, 4, 5, 7, 12, 13, 16, 17, 0xFFFF])))
    if how == 2:
        return put(data, at + 4, struct.pack(order + "I", rng.choice(UNSIGNED)))
    return put(
        data, at + 8, struct.pack(order + "I", rng.choice(UNSIGNED + [len(data) - 1, len(data), len(data) + 99]))
    )


def tiff_header(rng, data, others):
    """Forges a tag on which the size, type or layout of the pixels depends."""
    order, entries, _ = tiff_entries(data)
    wanted = {256, 257, 258, 259, 262, 277, 278, 284, 317, 322, 323, 338, 339}
    at = rng.choice([at for at in entries if struct.unpack_from(order + "H", data, at)[0] in wanted] or entries)
    size = struct.unpack_from(order + "H", data, at + 2)[0]
    numbers = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 8_000, 30_000, 0xFFFF, 32773, 32946, 34712, 34892, 50000, 50001]
    return put(data, at + 8, struct.pack(order + ("H" if size == 3 else "I"), rng.choice(numbers)))


def tiff_links(rng, data, others):
    """Links directories to themselves, to each other, or to nothing."""
    order, entries, links = tiff_entries(data)
    target = rng.choice(
        [8, rng.choice(entries) - 2, len(data) - 2, rng.choice(UNSIGNED), struct.unpack_from(order + "I", data, 4)[0]]
    )
    return put(data, rng.choice(links), struct.pack(order + "I", target & 0xFFFFFFFF))
