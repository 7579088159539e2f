"""The mutations of each format."""
import struct
import zlib

from fuzzing import pictures, svg, video
from fuzzing.generic import GENERIC, flip_bits

# The names of functions of these modules; what stands twice is drawn twice as often.
STRUCTURED = {format: [vars(module)[name] for name in names.split()] for module, formats in {
    pictures: {
        "jpeg": "jpeg_order jpeg_length jpeg_frame jpeg_body jpeg_scan jpeg_scan jpeg_metadata",
        "png": "png_order png_header png_body png_length png_scanlines png_scanlines png_profile",
        "gif": "gif_order gif_screen gif_frame gif_frame",
        "webp": "webp_order webp_length webp_sizes webp_body webp_body",
        "tiff": "tiff_entry tiff_entry tiff_header tiff_header tiff_links",
        "pdf": "pdf_numbers",
        "jxl": "",
    },
    video: {
        "heif": "box_lie box_lie box_sizes box_move",
        "avif": "box_lie box_lie box_sizes box_move",
        "mp4": "movie_table movie_table movie_table box_lie box_move movie_data",
        "matroska": "element_lie element_lie element_move element_data",
        "mpegts": "stream_packet stream_packet stream_order",
        "avi": "chunk_lie chunk_lie chunk_move chunk_data",
    },
    svg: {"svg": "svg_numbers svg_numbers svg_values svg_nest svg_multiply svg_elements"},
}.items() for format, names in formats.items()}


def damage(rng, format, data, others):
    """The damaged bytes and the names of the mutations; sometimes none, so that options meet intact pictures too."""
    if rng.random() < 0.06:
        return data, ["none"]
    done = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        structured = STRUCTURED[format]
        mutation = rng.choice(structured) if structured and rng.random() < 0.6 else rng.choice(GENERIC)
        try:
            data = mutation(rng, data, others)
        except (IndexError, ValueError, StopIteration, struct.error, zlib.error, RecursionError):
            # An earlier mutation removed the structure that this one needs.
            mutation = flip_bits
            data = mutation(rng, data or b"\0", others)
        done.append(mutation.__name__)
    return data or b"\0", done
