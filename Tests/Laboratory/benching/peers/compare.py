"""Compares thumbnails with those of vipsthumbnail. Reads {"reference": {name: file}, "others": {maker: {name: file}}};
prints, for each maker, formats, sizes in bytes, how many differ in size, and mean differences of 255."""
import json
import os
import sys

import pyvips


def picture(path):
    """A picture and its format."""
    image = pyvips.Image.new_from_file(path)
    kind = image.get("vips-loader")
    if "heif-compression" in image.get_fields():
        kind += image.get("heif-compression")
    return (image.flatten(background=255) if image.hasalpha() else image).colourspace("srgb"), kind


def compare(reference, files):
    found = {"files": len(files), "bytes": 0, "formats": [], "missing": [], "othersize": [], "differences": []}
    for name, path in reference.items():
        if name not in files or not os.path.getsize(files[name]):
            found["missing"].append(name)
            continue
        (one, expected), (other, kind) = picture(path), picture(files[name])
        found["bytes"] += os.path.getsize(files[name])
        if kind != expected:
            found["formats"].append(f"{name}: {kind}")
        if max(abs(one.width - other.width), abs(one.height - other.height)) > 1:
            found["othersize"].append(f"{name}: {other.width}x{other.height} instead of {one.width}x{one.height}")
            continue
        box = (0, 0, min(one.width, other.width), min(one.height, other.height))
        found["differences"].append((one.crop(*box) - other.crop(*box)).abs().avg())
    return found


task = json.load(sys.stdin)
print(json.dumps({maker: compare(task["reference"], files) for maker, files in task["others"].items()}))
