// zlib. In C because its state is a structure that a macro initialises.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// How many rows the image data of a PNG file, which may be cut off, inflate to; -1 if they are interlaced, or if there is no
/// header. Each row has its filter in front (https://www.w3.org/TR/png-3/#10Compression).
int64_t cameo_png_rows(const uint8_t *file, size_t length);
