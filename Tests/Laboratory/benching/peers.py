"""What a process of huey, RQ or a pool does for a picture, by pyvips."""
import os
import pathlib

import pyvips

pyvips.cache_set_max(0)


def render(path, renditions, folder):
    """Thumbnails as pyvips' users make them: one call of `thumbnail` for each size."""
    for rendition in renditions:
        how = {"crop": "centre"} if rendition.fit == "cover" else {"size": "down"}
        image = pyvips.Image.thumbnail(str(path), rendition.edge, height=rendition.edge, **how)
        name = f"{folder}/{pathlib.Path(path).stem}-{rendition.file}"
        if rendition.format == "avif":
            image.heifsave(name, Q=rendition.quality, compression="av1", effort=2, bitdepth=8, strip=True)
        else:
            more = {"optimize_coding": True} if rendition.optimises else {}
            getattr(image, f"{rendition.format}save")(name, Q=rendition.quality, strip=True, **more)


def decode(path, rendition):
    """Decodes a picture as that rendition needs it, and makes nothing of it."""
    image = pyvips.Image.new_from_file(str(path), access="sequential")
    if image.get("vips-loader") == "jpegload" and (shrink := rendition.shrink(image.width, image.height)) > 1:
        image = pyvips.Image.jpegload(str(path), access="sequential", shrink=shrink)
    image.copy_memory()


def render_and_tell(path, renditions, folder):
    """Renders, then adds one byte to the folder's `done` (or a line to `failed`), which the waiting program reads."""
    def tell(name, data):
        file = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(file, data)
        os.close(file)

    try:
        render(path, renditions, folder)
    except Exception as error:
        tell("failed", f"{path}: {error!r}".replace("\n", " ").encode() + b"\n")
    finally:
        tell("done", b".")


def __getattr__(name):
    """The queue that huey's consumer asks for by name."""
    if name != "huey_queue":
        raise AttributeError(name)
    from huey import SqliteHuey

    queue = SqliteHuey(filename=os.environ["BENCH_FOLDER"] + "/huey.db", fsync=True, timeout=30)
    queue.make = queue.task()(render_and_tell)
    globals()[name] = queue
    return queue
