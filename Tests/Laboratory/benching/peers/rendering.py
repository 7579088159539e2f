"""A thumbnail by pyvips, as its users make it: one call of `thumbnail` for each size."""
import os
import pathlib

import pyvips

pyvips.cache_set_max(0)


def render(path, renditions, folder):
    for rendition in renditions:
        width, height, quality = rendition["width"], rendition["height"], rendition["quality"]
        if rendition["fit"] == "cover":
            image = pyvips.Image.thumbnail(path, width, height=height, crop="centre")
        else:
            image = pyvips.Image.thumbnail(path, width, height=height, size="down")
        name = f"{folder}/{pathlib.Path(path).stem}-{rendition['label']}.{rendition['suffix']}"
        if rendition["format"] == "jpeg":
            image.jpegsave(name, Q=quality, strip=True)
        elif rendition["format"] == "webp":
            image.webpsave(name, Q=quality, strip=True)
        else:
            image.heifsave(name, Q=quality, compression="av1", effort=2, bitdepth=8, strip=True)


def render_and_tell(path, renditions, folder):
    """Renders, then adds one byte to the folder's `done` (or a line to `failed`), which the waiting program looks at."""
    try:
        render(path, renditions, folder)
    except Exception as error:
        tell(folder, "failed", f"{path}: {error!r}\n".replace("\n", " ").encode() + b"\n")
    finally:
        tell(folder, "done", b".")


def tell(folder, name, data):
    file = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, data)
    finally:
        os.close(file)
