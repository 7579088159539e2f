"""Makes the sets of pictures. Reads {"photographs": […], "folder": …, "wanted": {set: count}} and prints
{"sets": {set: [files]}, "missing": {set: reason}}."""
import html
import json
import os
import pathlib
import random
import shutil
import sys

import pyvips

WORDS = """the picture was taken on a clear morning above a quiet lake while a boat waited near its pier and nobody spoke
until the wind came back over the hills with rain""".split()
SMALLEST = 1_500_000  # pixels of a photograph


def evenly(files, count):
    return [files[index * len(files) // count] for index in range(min(count, len(files)))] if count < len(files) else files


def views(photographs, count, edge):
    """So many different pictures of this edge: each photograph whole, then parts of it."""
    made, area = 0, 0
    large = {}
    while made < count:
        for path in photographs:
            if path not in large:
                large[path] = pyvips.Image.thumbnail(path, 1600, size="down").copy_memory()
            picture = large[path]
            if area:
                share = 0.45 + 0.05 * (area % 5)
                width, height = int(picture.width * share), int(picture.height * share)
                chance = random.Random(f"{path}{area}")
                left, top = chance.randint(0, picture.width - width), chance.randint(0, picture.height - height)
                picture = picture.crop(left, top, width, height)
            yield picture.thumbnail_image(edge, height=edge)
            made += 1
            if made == count:
                return
        area += 1


def drawing(number):
    """An SVG: windows with text."""
    chance = random.Random(number)
    parts = [f'<rect width="1920" height="1080" fill="hsl({chance.randint(0, 359)},28%,88%)"/>',
             '<rect width="1920" height="36" fill="#25282d"/><text x="20" y="25" fill="#eee" font-size="18">Files   Edit   View   Help</text>']
    for x, y, width, height in ((60, 90, 820, 900), (940, 560, 900, 440)):
        parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="10" fill="#fff" stroke="#9aa0a6"/>'
                     f'<rect x="{x}" y="{y}" width="{width}" height="40" rx="10" fill="#dfe3e8"/>')
        for line in range((height - 80) // 28):
            text = " ".join(chance.choice(WORDS) for _ in range(width // 90))
            color = chance.choice(["#202124", "#202124", "#1a5fb4", "#a51d2d"])
            parts.append(f'<text x="{x + 24}" y="{y + 76 + line * 28}" font-size="18" fill="{color}">{html.escape(text)}</text>')
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="1920" height="1080" font-family="DejaVu Sans, sans-serif">{"".join(parts)}</svg>'


def screen(photograph, number):
    """A screenshot: a drawing, and a photograph in one of its windows."""
    page = pyvips.Image.svgload_buffer(drawing(number).encode()).flatten(background=255)
    view = pyvips.Image.thumbnail(photograph, 900, height=420, crop="centre").colourspace("srgb")
    return page.insert(view.flatten(background=255) if view.hasalpha() else view, 940, 90)


def main():
    task = json.load(sys.stdin)
    folder, wanted = pathlib.Path(task["folder"]), task["wanted"]
    shutil.rmtree(folder, ignore_errors=True)
    photographs = []
    for path in task["photographs"]:
        header = pyvips.Image.new_from_file(path)
        if header.width * header.height >= SMALLEST:
            photographs.append(path)
    sets, missing = {}, {}

    def place(kind, number, suffix):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        sets.setdefault(kind, []).append(str(folder / kind / f"{number:03}.{suffix}"))
        return sets[kind][-1]

    for number, path in enumerate(evenly(photographs, wanted["photographs"])):
        shutil.copyfile(path, place("photographs", number, "jpg"))
    for edge in (640, 160):
        for number, picture in enumerate(views(photographs, wanted[str(edge)], edge)):
            picture.jpegsave(place(str(edge), number, "jpg"), Q=88, strip=True)
    for number, path in enumerate(evenly(photographs, wanted["progressive"])):
        pyvips.Image.new_from_file(path).jpegsave(place("progressive", number, "jpg"), Q=88, interlace=True)
    for number in range(wanted["screens"]):
        screen(photographs[number % len(photographs)], number).pngsave(place("screens", number, "png"), strip=True)
    for number in range(wanted["drawings"]):
        pathlib.Path(place("drawings", number, "svg")).write_text(drawing(number))
    for number, path in enumerate(evenly(photographs, wanted["webp"])):
        pyvips.Image.thumbnail(path, 2048, size="down").webpsave(place("webp", number, "webp"), Q=85, strip=True)
    try:
        for number, path in enumerate(evenly(photographs, wanted["heic"])):
            picture = pyvips.Image.thumbnail(path, 2048, size="down")
            picture.heifsave(place("heic", number, "heic"), compression="hevc", Q=60, strip=True)
    except pyvips.Error as error:
        del sets["heic"]
        missing["heic"] = f"libvips cannot write HEIC here: {' '.join(str(error).split())}"
    os.sync()
    print(json.dumps({"sets": sets, "missing": missing}))


main()
