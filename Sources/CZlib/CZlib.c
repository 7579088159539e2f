// Inflates the image data of a PNG.
#include "CZlib.h"

#include <string.h>
#include <zlib.h>

static size_t number(const uint8_t *at) {
    return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

// How many bytes the image data inflate to, as far as the file goes; little further than `most`.
static uint64_t inflated(const uint8_t *file, size_t length, uint64_t most) {
    z_stream stream = {0};
    if (inflateInit(&stream) != Z_OK) return 0;
    uint64_t found = 0;
    int result = Z_OK;
    for (size_t at = 8; result == Z_OK && found < most && at < length && length - at > 8;) {
        size_t rest = length - at - 8, size = number(file + at);
        if (memcmp(file + at + 4, "IDAT", 4) == 0) {
            stream.next_in = (Bytef *)(uintptr_t)(file + at + 8);
            stream.avail_in = (uInt)(size < rest ? size : rest);
            do {
                uint8_t part[16384];
                stream.next_out = part;
                stream.avail_out = sizeof part;
                result = inflate(&stream, Z_NO_FLUSH);
                found += sizeof part - stream.avail_out;
            } while (result == Z_OK && stream.avail_out == 0 && found < most);
            // All input is used up; the next part has more.
            if (result == Z_BUF_ERROR) result = Z_OK;
        }
        if (size > rest) break;
        at += size + 12;
    }
    inflateEnd(&stream);
    return found;
}

int64_t cameo_png_rows(const uint8_t *file, size_t length) {
    if (length < 33 || file[28] != 0) return -1;
    // By the colour type; a palette's indices and grey have one sample.
    const uint64_t samples = file[25] == 2 ? 3 : file[25] == 4 ? 2 : file[25] == 6 ? 4 : 1;
    const uint64_t row = 1 + (number(file + 16) * samples * file[24] + 7) / 8;
    return (int64_t)(inflated(file, length, row * number(file + 20)) / row);
}
