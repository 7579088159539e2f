"""Compares thumbnails with those of vipsthumbnail. Reads {"reference": {name: file}, "others": {maker: {name: file}}};
prints, for each maker, formats, sizes in bytes, how many differ in size, and mean differences of 255."""
import json
import os
import sys

import pyvips


def picture(path):
    image = pyvips.Image.new_from_file(path)
    if image.hasalpha():
        image = image.flatten(background=255)
    return image.colourspace("srgb")


def difference(one, other):
    width, height = min(one.width, other.width), min(one.height, other.height)
    return (one.crop(0, 0, width, height) - other.crop(0, 0, width, height)).abs().avg()


def main():
    task = json.load(sys.stdin)
    answer = {}
    for maker, files in task["others"].items():
        found = {"files": len(files), "bytes": 0, "formats": [], "missing": [], "othersize": [], "differences": []}
        for name, reference in task["reference"].items():
            if name not in files or not os.path.getsize(files[name]):
                found["missing"].append(name)
                continue
            one, other = picture(reference), picture(files[name])
            found["bytes"] += os.path.getsize(files[name])
            loader = other.get("vips-loader") + (other.get("heif-compression") if "heif-compression" in other.get_fields() else "")
            expected = one.get("vips-loader") + (one.get("heif-compression") if "heif-compression" in one.get_fields() else "")
            if loader != expected:
                found["formats"].append(f"{name}: {loader}")
            if max(abs(one.width - other.width), abs(one.height - other.height)) > 1:
                found["othersize"].append(f"{name}: {other.width}x{other.height} instead of {one.width}x{one.height}")
                continue
            found["differences"].append(difference(one, other))
        answer[maker] = found
    print(json.dumps(answer))


main()
