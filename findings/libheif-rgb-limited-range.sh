#!/usr/bin/env bash
# libheif 1.23.6 (pillow-heif 1.8.1) shows red and blue of a HEIC in limited-range RGB too dull.
#
# With matrix coefficients 0 (GBR) and video_full_range_flag 0, ITU-T H.273 (8.3) has each of green, blue and red at
# 219 * value + 16, so 235 is white in all three. libheif expands green so, but blue and red, whose planes other matrices
# use for differences of colour, as if they were at 224 * value + 16: white becomes (250, 255, 250), which is greenish. The file
# is a lossless one by pillow-heif, of which only the range in the box colr (nclx) says something else; the same planes
# are shown as they are when it says full range.
#
# Prints one line a field, and fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q install pillow-heif==1.8.1 pillow==12.0.0 numpy==2.3.5
cat >case.py <<'PYTHON'
import io

import numpy
import pillow_heif

assert pillow_heif.libheif_version() == "1.23.6"
fields = [(235, 235, 235), (180, 130, 100), (110, 90, 160), (16, 16, 16)]
pixels = numpy.zeros((64, 64, 3), "u1")
for index, color in enumerate(fields):
    pixels[index // 2 * 32:][:32, index % 2 * 32:][:, :32] = color
file = io.BytesIO()
pillow_heif.from_bytes("RGB", (64, 64), pixels.tobytes()).save(
    file, format="HEIF", quality=-1, chroma=444, matrix_coefficients=0, full_range_flag=1, color_primaries=1,
    transfer_characteristics=13)
full = bytearray(file.getvalue())
place = full.find(b"colrnclx") + 14
assert full[place] == 0x80
limited = bytes(full[:place]) + b"\0" + bytes(full[place + 1:])


def shown(file):
    picture = numpy.asarray(pillow_heif.open_heif(io.BytesIO(file)))
    return [tuple(int(sample) for sample in picture[index // 2 * 32 + 16, index % 2 * 32 + 16]) for index in range(4)]


assert shown(bytes(full)) == fields
seen = shown(limited)
for stored, color in zip(fields, seen):
    right = tuple(round((sample - 16) * 255 / 219) for sample in stored)
    print(f"stored {stored}: H.273 {right}, libheif {color}")
assert seen == [(250, 255, 250), (187, 133, 96), (107, 86, 165), (0, 0, 0)], "this has changed"
PYTHON
venv/bin/python case.py
