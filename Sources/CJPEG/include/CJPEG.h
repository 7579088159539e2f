// libjpeg reports errors by longjmp, which must not leave C.
#pragma once
#include <stddef.h>

/// The size of a message of `cameo_jpeg_encode`, with its terminating zero.
enum { cameo_jpeg_message_size = 200 };

/// Encodes a picture in memory: `bands` of 8 bits a pixel, 1 (grey) or 3 (RGB), without gaps. Writes the same bytes as
/// libvips' saver without metadata, which has two threads hand each other every few rows: that took a third of the
/// encoding of a thumbnail of 256 pixels.
///
/// Returns 0; the caller frees `*bytes` with `free`. Returns -1 with libjpeg's text in `message`, after which the process
/// may have lost memory: only a lack of it, or a side above 65,500, is an error.
int cameo_jpeg_encode(const unsigned char *pixels, int width, int height, int bands, int quality, int is_progressive,
                      int halves_chroma, unsigned char **bytes, size_t *length, char *message);

/// Decodes a JPEG file into `pixels`, `width` x `height` of `bands` of 8 bits, without gaps: what libjpeg shrinks by `divisor`
/// (1, 2, 4 or 8), without a last column and row that are not whole. Returns 0; -1 if the file ends too soon or is damaged so
/// that libvips refuses it, or if it has another size or other colours than grey (`bands` 1) or red, green and blue (3). Then
/// `pixels` has anything.
int cameo_jpeg_decode(const unsigned char *bytes, size_t length, int divisor, unsigned char *pixels, int width, int height,
                      int bands);
