"""Compares thumbnails with those of vipsthumbnail."""
import os
import statistics

import pyvips


def picture(path):
    """A picture and its format."""
    image = pyvips.Image.new_from_file(path)
    kind = image.get("vips-loader")
    if "heif-compression" in image.get_fields():
        kind += image.get("heif-compression")
    return (image.flatten(background=255) if image.hasalpha() else image).colourspace("srgb"), kind


def compare(reference, files, wanted):
    """Of {name: file} of both: the bytes, the mean differences of 255, and what is wrong, if only their count."""
    differences = [0.0]
    faults = [] if len(files) == wanted else [f"{len(files)} of {wanted} thumbnails"]
    for name in reference.keys() & files.keys():
        (one, expected), (other, kind) = picture(reference[name]), picture(files[name])
        if kind != expected:
            faults.append(f"{name}: {kind}")
        if max(abs(one.width - other.width), abs(one.height - other.height)) > 1:
            faults.append(f"{name}: {other.width}x{other.height} instead of {one.width}x{one.height}")
            continue
        box = (0, 0, min(one.width, other.width), min(one.height, other.height))
        differences.append((one.crop(*box) - other.crop(*box)).abs().avg())
    return {"bytes": sum(map(os.path.getsize, files.values())), "faults": faults[:3],
            "meanDifference": round(statistics.fmean(differences[1:] or differences), 2),
            "largestDifference": round(max(differences), 2)}
