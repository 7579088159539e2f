"""A thumbnail in the words of every program that makes it, and the jobs of the benchmark."""
import collections
import concurrent.futures
import copy

import lab
from lab import CORES


class Rendition:
    """A square, `cover` or `inside` it, as jpeg, webp or avif."""

    optimises = False  # whether peers are to optimise the tables of a JPEG, as Cameo does

    def __init__(self, edge, fit, format, quality=75):
        self.edge, self.fit, self.format, self.quality = edge, fit, format, quality
        self.box = f"{edge}x{edge}"
        self.cameo = f"{self.box}:{fit}:{format}:q{quality}"
        # How peers name a file, behind the name of the source and a hyphen.
        self.file = f"{edge}-{fit}-{format}.{'jpg' if format == 'jpeg' else format}"

    def optimised(self):
        other = copy.copy(self)
        other.optimises = True
        return other

    def shrink(self, width, height):
        """By what a decoder of JPEG shrinks, as libvips has it: to twice the thumbnail's size at least."""
        factor = (min if self.fit == "cover" else max)(width, height) / self.edge
        return max(shrink for shrink in (1, 2, 4, 8) if shrink == 1 or factor >= 2 * shrink)

    def vipsthumbnail(self, folder):
        size = ["-s", self.box, "-m", "centre"] if self.fit == "cover" else ["-s", f"{self.box}>"]
        # libaom's effort is Cameo's, and so are the 8 bits.
        more = ",compression=av1,effort=2,bitdepth=8" if self.format == "avif" else ""
        more += ",optimize_coding" if self.optimises else ""
        return [*size, "-o", f"{folder}/%s-{self.file}[Q={self.quality},strip{more}]"]

    def convert(self):
        """The words before and behind the source. The hint makes the decoder shrink, as ImageMagick's manual
        advises."""
        size = ["-thumbnail", f"{self.box}>"]
        if self.fit == "cover":
            size = ["-thumbnail", f"{self.box}^", "-gravity", "center", "-extent", self.box]
        hint = f"jpeg:size={self.edge * 2}x{self.edge * 2}"
        return ["-define", hint], ["-auto-orient", *size, "-quality", str(self.quality), "-strip"]


# Thumbnails of a set of pictures. The counts are pictures, and rounds, of a quick and of a whole run.
Job = collections.namedtuple("Job", "name title set renditions pictures rounds", defaults=[(3, 5)])


def inside(format, *edges, quality=75):
    return [Rendition(edge, "inside", format, quality) for edge in edges]


FIVE = (64, 256, 512, 1024, 1600)
JPEG, WEBP, SMALL = ([Rendition(*words)]
                     for words in ((256, "cover", "jpeg"), (256, "cover", "webp"), (64, "cover", "jpeg")))
AVIF = inside("avif", 512, quality=50)
JOBS = (
    Job("photographs-256-jpeg", "256 cover JPEG, photographs", "photographs", JPEG, (24, 40)),
    Job("photographs-256-webp", "256 cover WebP, photographs", "photographs", WEBP, (12, 40), (2, 5)),
    Job("photographs-1024-jpeg", "1024 inside JPEG, photographs", "photographs", inside("jpeg", 1024), (12, 40),
        (2, 5)),
    Job("photographs-five-jpeg", "five sizes JPEG, photographs", "photographs", inside("jpeg", *FIVE), (3, 24), (2, 3)),
    Job("photographs-five-webp", "five sizes WebP, photographs", "photographs", inside("webp", *FIVE), (3, 20), (2, 3)),
    Job("photographs-512-avif", "512 inside AVIF, photographs", "photographs", AVIF, (3, 16), (2, 3)),
    Job("640-256-jpeg", "256 cover JPEG, pictures of 640 px", "640", JPEG, (100, 200)),
    Job("640-256-webp", "256 cover WebP, pictures of 640 px", "640", WEBP, (60, 200), (2, 5)),
    Job("160-64-jpeg", "64 cover JPEG, pictures of 160 px", "160", SMALL, (150, 400)),
    Job("progressive-256-jpeg", "256 cover JPEG, progressive", "progressive", JPEG, (8, 48), (2, 5)),
    Job("screens-256-webp", "256 cover WebP, PNG screenshots", "screens", WEBP, (8, 48), (2, 5)),
    Job("webp-256-jpeg", "256 cover JPEG, WebP", "webp", JPEG, (8, 48), (2, 5)),
    Job("drawings-256-webp", "256 cover WebP, SVG drawings", "drawings", WEBP, (8, 48), (2, 5)),
    Job("heic-256-jpeg", "256 cover JPEG, HEIC", "heic", JPEG, (4, 16), (2, 3)),
)


def sets_wanted(quick):
    wanted = collections.Counter()
    for job in JOBS:
        wanted[job.set] = max(wanted[job.set], job.pictures[not quick])
    return wanted


def options_of(renditions):
    """Of cameo-enqueue."""
    return [word for rendition in renditions for word in ("--size", rendition.cameo)]


def vipsthumbnail(pictures, renditions, folder):
    """Makes thumbnails by one process a core and rendition."""
    def make(share):
        for rendition in renditions if share else ():
            lab.output("vipsthumbnail", *share, *rendition.vipsthumbnail(folder), env=lab.ONE_CORE)

    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        list(pool.map(make, [pictures[core::CORES] for core in range(CORES)]))
