// zlib. In C because its state is a structure that a macro initialises.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// How many bytes the image data of a PNG file inflate to, as far as the file goes: those of its rows, each with its filter
/// in front (https://www.w3.org/TR/png-3/#10Compression). Counts little further than `most`.
uint64_t cameo_png_data(const uint8_t *file, size_t length, uint64_t most);
