"""Mutations that work on any format, and what those of single formats share.

Each mutation takes a random source, the bytes, and the files of the format, and gives the damaged bytes back."""
import struct

UNSIGNED = [0, 1, 2, 7, 0x7F, 0x80, 0xFF, 0x100, 3_000, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000,
            0xFFFFFFFF]


def place(rng, data):
    """A random offset, mostly behind the magic bytes and often near the beginning, where headers are."""
    start = 0 if rng.random() < 0.04 else min(12, len(data) - 1)
    end = len(data) if rng.random() < 0.5 else min(len(data), 256)
    return rng.randrange(start, max(start + 1, end))


def put(data, at, new):
    return data[:at] + new + data[at + len(new) :]


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


def fill_run(rng, data, others):
    at, length = place(rng, data), rng.choice([2, 4, 16, 64, 400])
    return data[:at] + rng.choice([b"\0" * length, b"\xff" * length, rng.randbytes(length)]) + data[at + length :]


def set_number(rng, data, others):
    size = rng.choice("HHII")
    number = rng.choice(UNSIGNED) & (0xFFFF if size == "H" else 0xFFFFFFFF)
    return put(data, place(rng, data), struct.pack(rng.choice("<>") + size, number))[: len(data)]


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


def rearrange(rng, items, keep=1):
    """Removes, duplicates, swaps or multiplies one of the items after the first `keep`."""
    items = list(items)
    if len(items) <= keep:
        return items
    index, other, how = rng.randrange(keep, len(items)), rng.randrange(keep, len(items)), rng.randrange(4)
    if how == 0:
        del items[index]
    elif how == 1:
        items.insert(other, items[index])
    elif how == 2:
        items[index], items[other] = items[other], items[index]
    else:
        content = items[index] if isinstance(items[index], bytes) else items[index][1]
        # Bounded, so that one input does not cost as much as a hundred.
        times = min(rng.choice([2, 20, 200]), 1 + 300_000 // (len(content) + 1))
        items[index:index] = [items[index]] * times
    return items


def move(rng, data, spans):
    """Copies one of the spans (start, end) to the start of another, or removes it."""
    (at, stop), (to, _) = rng.choice(spans), rng.choice(spans)
    return data[:to] + data[at:stop] * rng.choice([1, 5]) + data[to:] if rng.random() < 0.5 else data[:at] + data[stop:]


def forge(rng, data, start, end):
    """Puts an extreme number at a random place within a range."""
    size = rng.choice([1, 2, 4, 4, 8])
    number = rng.choice(UNSIGNED) * (0x1_0000_0001 if size == 8 else 1)
    new = (number & (1 << 8 * size) - 1).to_bytes(size, rng.choice(["little", "big"]))
    return put(data, rng.randrange(start, max(start + 1, end - size + 1)), new)[: len(data)]


def damage_within(rng, data, start, end):
    """Flips bits within a range."""
    return data[:start] + flip_bits(rng, data[start:end] or b"\0", []) + data[end:]


def named(function, name):
    function.__name__ = name
    return function


def chunk_mutations(split, join, keep=0):
    """Mutations of a file of chunks (kind, body): their order, a length, a body. `split` gives the chunks and the rest;
    `join` makes the file of them and of {index of a chunk: its forged length}."""
    def order(rng, data, others):
        chunks, rest = split(data)
        return join(rearrange(rng, chunks, keep), rest)

    def length(rng, data, others):
        chunks, rest = split(data)
        return join(chunks, rest, {rng.randrange(len(chunks)): rng.choice(UNSIGNED)})

    def body(rng, data, others):
        chunks, rest = split(data)
        index = rng.randrange(len(chunks))
        kind, content = chunks[index]
        chunks[index] = kind, flip_bits(rng, content, []) if len(content) > 12 else rng.randbytes(len(content) or 1)
        return join(chunks, rest)

    format = join.__name__.removesuffix("_file")
    return [named(made, f"{format}_{made.__name__}") for made in (order, length, body)]


def elements(data, read, start, end, pad=1):
    """(start, start of the content, end, kind) of every element, containers before their content. `read` gives these of
    the element at a place, without its start, and where its first child begins, or None."""
    found = []
    while start < end and (one := read(data, start, end)):
        content, stop, kind, inside = one
        found.append((start, content, stop, kind))
        if inside:
            found += elements(data, read, inside, stop, pad)
        start = max(content, stop + (stop - content) % pad)
    return found


def riff_chunk(data, start, end):
    if start + 8 > end:
        return None
    length = int.from_bytes(data[start + 4 : start + 8], "little")
    kind = data[start : start + 4]
    return start + 8, min(start + 8 + length, end), kind, start + 12 if kind == b"LIST" else None


def element_mutations(parse, payload, *names):
    """Mutations of a file of elements: the place of one, and the content of one of the kinds `payload`."""
    def move_one(rng, data, others):
        return move(rng, data, [(start, stop) for start, _, stop, _ in parse(data)])

    def damage_one(rng, data, others):
        _, content, stop, _ = rng.choice([element for element in parse(data) if element[3] in payload])
        return damage_within(rng, data, content, stop)

    return [named(*pair) for pair in zip((move_one, damage_one), names)]
