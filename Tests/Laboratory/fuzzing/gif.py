"""GIF: blocks, and forged values in them."""

import struct

from fuzzing.generic import UNSIGNED, put, rearrange


def gif_parts(data):
    """Header with the global palette, and blocks (extensions and frames) as bytes."""
    at = 13 + (3 << (data[10] & 7) + 1 if data[10] & 0x80 else 0)
    head, blocks = data[:at], []
    while at < len(data) and data[at] in (0x21, 0x2C):
        start = at
        if data[at] == 0x21:
            at += 2
        else:
            flags = data[at + 9]
            at += 10 + (3 << (flags & 7) + 1 if flags & 0x80 else 0) + 1
        while at < len(data) and data[at]:
            at += 1 + data[at]
        at += 1
        blocks.append(data[start:at])
    return head, blocks


def gif_rearrange(rng, data, others):
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
