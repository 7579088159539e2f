// Looks at pictures in memory: pixels that a decoder has not written.
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// Whether two pictures in memory have the same size, type and pixels.
static inline gboolean cameo_vips_have_same_pixels(VipsImage *first, VipsImage *second) {
    const void *mine = vips_image_get_data(first), *other = vips_image_get_data(second);
    return mine && other && first->Xsize == second->Xsize && first->Ysize == second->Ysize
           && first->Bands == second->Bands && first->BandFmt == second->BandFmt
           && memcmp(mine, other, VIPS_IMAGE_SIZEOF_IMAGE(first)) == 0;
}

/// The sample of a band, of 8 or 16 bits.
static inline int cameo_vips_sample(VipsImage *in, const uint8_t *pixel, int band) {
    return in->BandFmt == VIPS_FORMAT_UCHAR ? pixel[band] : ((const uint16_t *)(const void *)pixel)[band];
}

/// Whether a block of eight by eight pixels, the smallest unit of HEVC, looks as zeros do where they are taken for YCbCr:
/// green, or blue; in a grey picture, black; in opacity, transparent. The picture is in memory, of 8 or 16 bits.
static inline gboolean cameo_vips_looks_empty(VipsImage *in) {
    const uint8_t *pixels = (const uint8_t *)vips_image_get_data(in);
    const int edge = 8;
    const size_t size = VIPS_IMAGE_SIZEOF_PEL(in), row = VIPS_IMAGE_SIZEOF_LINE(in);
    const gboolean has_alpha = vips_image_hasalpha(in);
    gboolean is_black = FALSE, is_colorful = FALSE;
    for (int y = 0; pixels && y + edge <= in->Ysize; y += edge) {
        for (int x = 0; x + edge <= in->Xsize; x += edge) {
            const uint8_t *block = pixels + y * row + x * size;
            if (has_alpha && cameo_vips_sample(in, block, in->Bands - 1) == 0) return TRUE;
            const int red = cameo_vips_sample(in, block, 0);
            const int green = in->Bands < 3 ? red : cameo_vips_sample(in, block, 1);
            const int blue = in->Bands < 3 ? red : cameo_vips_sample(in, block, 2);
            is_colorful = is_colorful || red != green || green != blue;
            if (red != 0 || (green != 0 && blue != 0) || memcmp(block, block + size, (edge - 1) * size) != 0) continue;
            int same = 1;
            while (same < edge && memcmp(block, block + same * row, edge * size) == 0) same++;
            if (same < edge) continue;
            if (green != 0 || blue != 0) return TRUE;
            is_black = TRUE;
        }
    }
    return is_black && !is_colorful;
}

/// The picture, which is in memory and has no opacity, with those pixels transparent that are others in another decode, and
/// all rows but the first ones, in which libvips may have left what was in earlier rows.
static inline int cameo_vips_without_missing(VipsImage *in, VipsImage *other, VipsImage **out, int rows) {
    const uint8_t *mine = (const uint8_t *)vips_image_get_data(in), *others = (const uint8_t *)vips_image_get_data(other);
    const size_t size = VIPS_IMAGE_SIZEOF_PEL(in), row = VIPS_IMAGE_SIZEOF_LINE(in), sample = VIPS_IMAGE_SIZEOF_ELEMENT(in);
    // Who writes to the file meanwhile may have changed its size.
    if (!mine || !others || row != VIPS_IMAGE_SIZEOF_LINE(other) || in->Ysize != other->Ysize) return -1;
    uint8_t *opacity = (uint8_t *)calloc((size_t)in->Ysize, in->Xsize * sample);
    if (!opacity) return -1;
    for (int y = 0; y < in->Ysize && y < rows; y++) {
        for (int x = 0; x < in->Xsize; x++) {
            const size_t at = y * row + x * size;
            if (memcmp(mine + at, others + at, size) == 0)
                memset(opacity + ((size_t)y * in->Xsize + x) * sample, 0xFF, sample);
        }
    }
    VipsImage *band = vips_image_new_from_memory_copy(opacity, (size_t)in->Ysize * in->Xsize * sample, in->Xsize, in->Ysize, 1,
                                                      in->BandFmt);
    free(opacity);
    if (!band) return -1;
    int result = vips_bandjoin2(in, band, out, NULL);
    g_object_unref(band);
    return result;
}
