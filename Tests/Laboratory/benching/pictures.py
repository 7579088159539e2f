"""Makes the sets of pictures."""
import html
import itertools
import os
import pathlib
import random
import shutil

import pyvips

WORDS = """the picture was taken on a clear morning above a quiet lake while a boat waited near its pier and nobody
spoke until the wind came back over the hills with rain""".split()
SMALLEST = 1_500_000  # pixels of a photograph


def evenly(files, count):
    return [files[index * len(files) // count] for index in range(count)] if count < len(files) else files


def views(photographs, edge):
    """Different pictures of this edge: each photograph whole, then parts of it."""
    large = [pyvips.Image.thumbnail(path, 1600, size="down").copy_memory() for path in photographs]
    for area in itertools.count():
        for path, picture in zip(photographs, large):
            if area:
                share = 0.45 + 0.05 * (area % 5)
                width, height = int(picture.width * share), int(picture.height * share)
                chance = random.Random(f"{path}{area}")
                left, top = chance.randint(0, picture.width - width), chance.randint(0, picture.height - height)
                picture = picture.crop(left, top, width, height)
            yield picture.thumbnail_image(edge, height=edge)


def drawing(number):
    """An SVG: windows with text."""
    chance = random.Random(number)
    parts = [f'<rect width="1920" height="1080" fill="hsl({chance.randint(0, 359)},28%,88%)"/>',
             '<rect width="1920" height="36" fill="#25282d"/>'
             '<text x="20" y="25" fill="#eee" font-size="18">Files   Edit   View   Help</text>']
    for x, y, width, height in ((60, 90, 820, 900), (940, 560, 900, 440)):
        parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="10" fill="#fff" stroke="#9aa0a6"/>'
                     f'<rect x="{x}" y="{y}" width="{width}" height="40" rx="10" fill="#dfe3e8"/>')
        for line in range((height - 80) // 28):
            text = " ".join(chance.choice(WORDS) for _ in range(width // 90))
            color = chance.choice(["#202124", "#202124", "#1a5fb4", "#a51d2d"])
            place = f'x="{x + 24}" y="{y + 76 + line * 28}"'
            parts.append(f'<text {place} font-size="18" fill="{color}">{html.escape(text)}</text>')
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="1920" height="1080" font-family="DejaVu Sans, sans-serif">'
            f'{"".join(parts)}</svg>')


def screen(photograph, number):
    """A screenshot: a drawing, and a photograph in one of its windows."""
    page = pyvips.Image.svgload_buffer(drawing(number).encode()).flatten(background=255)
    view = pyvips.Image.thumbnail(photograph, 900, height=420, crop="centre").colourspace("srgb")
    return page.insert(view.flatten(background=255) if view.hasalpha() else view, 940, 90)


def make(photographs, folder, wanted):
    """The `sets`, {set: [files]}, and those `missing`, {set: why}."""
    shutil.rmtree(folder, ignore_errors=True)
    headers = {str(path): pyvips.Image.new_from_file(str(path)) for path in photographs}
    photographs = [path for path, header in headers.items() if header.width * header.height >= SMALLEST]
    sets, missing = {}, {}

    def save(kind, suffix, pictures, act):
        """Makes a file of each of the pictures, by an act that gets it and the file."""
        (folder / kind).mkdir(parents=True)
        files = []
        for number, picture in enumerate(pictures):
            files.append(str(folder / kind / f"{number:03}.{suffix}"))
            act(picture, files[-1])
        sets[kind] = files

    def reduced(path):
        return pyvips.Image.thumbnail(path, 2048, size="down")

    def of(kind):
        return evenly(photographs, wanted[kind])

    save("photographs", "jpg", of("photographs"), shutil.copyfile)
    for edge in (640, 160):
        save(str(edge), "jpg", itertools.islice(views(photographs, edge), wanted[str(edge)]),
             lambda picture, file: picture.jpegsave(file, Q=88, strip=True))
    save("progressive", "jpg", of("progressive"),
         lambda path, file: pyvips.Image.new_from_file(path).jpegsave(file, Q=88, interlace=True))
    save("screens", "png", range(wanted["screens"]),
         lambda number, file: screen(photographs[number % len(photographs)], number).pngsave(file, strip=True))
    save("drawings", "svg", range(wanted["drawings"]),
         lambda number, file: pathlib.Path(file).write_text(drawing(number)))
    save("webp", "webp", of("webp"), lambda path, file: reduced(path).webpsave(file, Q=85, strip=True))
    try:
        save("heic", "heic", of("heic"),
             lambda path, file: reduced(path).heifsave(file, compression="hevc", Q=60, strip=True))
    except pyvips.Error as error:
        missing["heic"] = f"libvips cannot write HEIC here: {' '.join(str(error).split())}"
    os.sync()
    return {"sets": sets, "missing": missing}
