"""Damages a file by mutations of its format, or of any."""
import struct
import zlib

from fuzzing import pictures, svg, video
from fuzzing.generic import GENERIC, flip_bits

STRUCTURED = pictures.MUTATIONS | video.MUTATIONS | svg.MUTATIONS


def damage(rng, format, data, others):
    """The damaged bytes and the names of the mutations; sometimes none, so that options meet intact pictures too."""
    if rng.random() < 0.06:
        return data, ["none"]
    done = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        structured = STRUCTURED[format]
        mutation = rng.choice(structured if structured and rng.random() < 0.6 else GENERIC)
        try:
            data = mutation(rng, data, others)
        except (IndexError, ValueError, StopIteration, struct.error, zlib.error, RecursionError):
            # An earlier mutation removed the structure that this one needs.
            mutation = flip_bits
            data = mutation(rng, data or b"\0", others)
        done.append(mutation.__name__)
    return data or b"\0", done
