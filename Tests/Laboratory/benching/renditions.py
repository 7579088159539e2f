"""A thumbnail in the words of every program that makes it, and the jobs of the benchmark."""
import dataclasses
import os
import subprocess
import threading

from lab import CORES, Unmeasured


@dataclasses.dataclass(frozen=True)
class Rendition:
    """A thumbnail in the words of every program that makes it."""

    width: int
    height: int
    fit: str  # cover or inside
    format: str  # jpeg, webp or avif
    quality: int

    @property
    def label(self):
        return f"{self.width}-{self.fit}-{self.format}"

    @property
    def suffix(self):
        return {"jpeg": "jpg"}.get(self.format, self.format)

    def file(self, source):
        """The name of the file that a peer writes for a source."""
        return f"{source.stem}-{self.label}.{self.suffix}"

    @property
    def cameo(self):
        return f"{self.width}x{self.height}:{self.fit}:{self.format}:q{self.quality}"

    def vipsthumbnail(self, folder):
        box = f"{self.width}x{self.height}"
        size = ["-s", box, "-m", "centre"] if self.fit == "cover" else ["-s", f"{box}>"]
        # libaom's effort is Cameo's, and so are the 8 bits.
        more = ",compression=av1,effort=2,bitdepth=8" if self.format == "avif" else ""
        return [*size, "-o", f"{folder}/%s-{self.label}.{self.suffix}[Q={self.quality},strip{more}]"]

    def convert(self):
        """The words between source and target. The hint makes the decoder shrink, as ImageMagick's manual advises."""
        box = f"{self.width}x{self.height}"
        hint = ["-define", f"jpeg:size={self.width * 2}x{self.height * 2}"]
        cover = ["-thumbnail", f"{box}^", "-gravity", "center", "-extent", box]
        return hint, ["-auto-orient", *(cover if self.fit == "cover" else ["-thumbnail", f"{box}>"]), "-quality", str(self.quality)]

    def words(self):
        """What the peers that are Python programs are told."""
        return {**dataclasses.asdict(self), "label": self.label, "suffix": self.suffix}


@dataclasses.dataclass(frozen=True)
class Job:
    """Thumbnails of a set of pictures. The counts are pictures, and rounds, of a quick and of a whole run."""

    name: str
    title: str
    set: str
    renditions: tuple
    pictures: tuple
    rounds: tuple = (3, 5)


def cover(edge, format):
    return (Rendition(edge, edge, "cover", format, 75),)


def inside(format, *edges, quality=75):
    return tuple(Rendition(edge, edge, "inside", format, quality) for edge in edges)


FIVE = (64, 256, 512, 1024, 1600)
JOBS = (
    Job("photographs-256-jpeg", "256 cover JPEG, photographs", "photographs", cover(256, "jpeg"), (24, 40)),
    Job("photographs-256-webp", "256 cover WebP, photographs", "photographs", cover(256, "webp"), (12, 40), (2, 5)),
    Job("photographs-1024-jpeg", "1024 inside JPEG, photographs", "photographs", inside("jpeg", 1024), (12, 40), (2, 5)),
    Job("photographs-five-jpeg", "five sizes JPEG, photographs", "photographs", inside("jpeg", *FIVE), (3, 24), (2, 3)),
    Job("photographs-five-webp", "five sizes WebP, photographs", "photographs", inside("webp", *FIVE), (3, 20), (2, 3)),
    Job("photographs-512-avif", "512 inside AVIF, photographs", "photographs", inside("avif", 512, quality=50), (3, 16), (2, 3)),
    Job("640-256-jpeg", "256 cover JPEG, pictures of 640 px", "640", cover(256, "jpeg"), (100, 200)),
    Job("640-256-webp", "256 cover WebP, pictures of 640 px", "640", cover(256, "webp"), (60, 200), (2, 5)),
    Job("160-64-jpeg", "64 cover JPEG, pictures of 160 px", "160", cover(64, "jpeg"), (150, 400)),
    Job("progressive-256-jpeg", "256 cover JPEG, progressive", "progressive", cover(256, "jpeg"), (8, 24), (2, 5)),
    Job("screens-256-webp", "256 cover WebP, PNG screenshots", "screens", cover(256, "webp"), (8, 24), (2, 5)),
    Job("webp-256-jpeg", "256 cover JPEG, WebP", "webp", cover(256, "jpeg"), (8, 24), (2, 5)),
    Job("drawings-256-webp", "256 cover WebP, SVG drawings", "drawings", cover(256, "webp"), (8, 24), (2, 5)),
    Job("heic-256-jpeg", "256 cover JPEG, HEIC", "heic", cover(256, "jpeg"), (4, 16), (2, 3)),
)


def sets_wanted(quick):
    wanted = {}
    for job in JOBS:
        wanted[job.set] = max(wanted.get(job.set, 0), job.pictures[not quick])
    return wanted


def vipsthumbnail(pictures, renditions, folder):
    """Makes thumbnails by one process a core and rendition."""
    environment, errors = dict(os.environ, VIPS_CONCURRENCY="1"), []

    def run(share):
        for rendition in renditions if share else ():
            command = ["vipsthumbnail", *map(str, share), *rendition.vipsthumbnail(folder)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode:
                errors.append(done.stderr)

    threads = [threading.Thread(target=run, args=(pictures[core::CORES],)) for core in range(CORES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise Unmeasured(errors[0])
