#!/usr/bin/env bash
# libvips 8.18.7 (pyvips 3.2.0, pyvips-binary 8.18.7) turns opacity around in a TIFF of CIELAB with alpha.
#
# TIFF 6.0 allows an extra sample beside L*, a* and b* (ExtraSamples 2, unassociated alpha). libvips loads all four as signed
# 16-bit numbers, so that a wholly opaque pixel, 255 or 65535, has the opacity -1, and thumbnail() makes it wholly
# transparent: 0. A pixel of a third, 21845, becomes wholly opaque: 255. So the picture vanishes where it is solid and stays
# where it is faint, with no warning; 8 and 16 bits alike. tifffile reads the numbers as they are stored.
#
# Prints one line a case, and fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q install pyvips==3.2.0 tifffile==2026.3.3 numpy==2.4.6
venv/bin/pip -q install --force-reinstall --no-deps pyvips-binary==8.18.7
cat >case.py <<'PYTHON'
import numpy, pyvips, tifffile

assert [pyvips.version(part) for part in range(3)] == [8, 18, 7]
seen = []
for name, kind, alpha in (("opaque, 8 bits", "u1", 255), ("opaque, 16 bits", "u2", 65535), ("a third, 16 bits", "u2", 21845)):
    step = 1 if kind == "u1" else 257
    pixels = numpy.empty((8, 8, 4), kind)
    pixels[:] = 123 * step, 69 * (1 if step == 1 else 256), 52 * (1 if step == 1 else 256), alpha
    path = f"{len(seen)}.tif"
    tifffile.imwrite(path, pixels, photometric="cielab", extrasamples=["unassalpha"])
    stored = int(tifffile.imread(path)[4, 4, 3])
    shown = pyvips.Image.thumbnail(path, 8)(4, 4)
    print(f"{name}: stored {stored}, thumbnail() shows {shown}")
    seen.append((stored, shown[3]))
assert seen == [(255, 0.0), (65535, 0.0), (21845, 255.0)], "this has changed"
PYTHON
venv/bin/python case.py
