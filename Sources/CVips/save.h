// Encoders: 8-bit pixels in, bytes out, without metadata. The caller frees the buffer with g_free.
#pragma once

// 8.15 replaced `strip` by `keep`.
#if CAMEO_VIPS_AT_LEAST(8, 15)
#define CAMEO_NO_METADATA "keep", VIPS_FOREIGN_KEEP_NONE
#else
#define CAMEO_NO_METADATA "strip", TRUE
#endif

/// `compression`: zlib's level, 1..9. All row filters are tried: without them, photographs are 20 to 40 per cent
/// larger.
static inline int cameo_vips_pngsave(VipsImage *in, void **buffer, size_t *length, int compression) {
    return vips_pngsave_buffer(in, buffer, length, "compression", compression, "filter", VIPS_FOREIGN_PNG_FILTER_ALL,
                               CAMEO_NO_METADATA, NULL);
}

/// At most 256 colours; `effort` (1..10) is the quantiser's. Rows of palette indices are best left unfiltered.
static inline int cameo_vips_pngsave_palette(VipsImage *in, void **buffer, size_t *length, int compression,
                                             int quality, int effort) {
    return vips_pngsave_buffer(in, buffer, length, "compression", compression, "filter", VIPS_FOREIGN_PNG_FILTER_NONE,
                               "palette", TRUE, "Q", quality, "effort", effort, CAMEO_NO_METADATA, NULL);
}

/// `effort`: 0..6. An animation is its stacked frames with the fields page-height, delay and loop.
static inline int cameo_vips_webpsave(VipsImage *in, void **buffer, size_t *length, int quality, int alpha_quality,
                                      int effort) {
    return vips_webpsave_buffer(in, buffer, length, "Q", quality, "alpha_q", alpha_quality, "effort", effort,
                                CAMEO_NO_METADATA, NULL);
}

static inline int cameo_vips_webpsave_lossless(VipsImage *in, void **buffer, size_t *length, int effort) {
    return vips_webpsave_buffer(in, buffer, length, "lossless", TRUE, "effort", effort, CAMEO_NO_METADATA, NULL);
}

/// `quality`: of the preprocessing, 100 for none.
static inline int cameo_vips_webpsave_near_lossless(VipsImage *in, void **buffer, size_t *length, int quality,
                                                    int effort) {
    return vips_webpsave_buffer(in, buffer, length, "near_lossless", TRUE, "Q", quality, "effort", effort,
                                CAMEO_NO_METADATA, NULL);
}

/// `effort`: libaom's, 0..9. `bitdepth` is explicit, because the saver's default is 12.
static inline int cameo_vips_avifsave(VipsImage *in, void **buffer, size_t *length, int quality, int effort,
                                      VipsForeignSubsample subsampling) {
    return vips_heifsave_buffer(in, buffer, length, "Q", quality, "compression", VIPS_FOREIGN_HEIF_COMPRESSION_AV1,
                                "effort", effort, "bitdepth", 8, "subsample_mode", subsampling, CAMEO_NO_METADATA, NULL);
}

/// `effort`: the quantiser's, 1..10. An animation is passed as for WebP.
static inline int cameo_vips_gifsave(VipsImage *in, void **buffer, size_t *length, int effort) {
    return vips_gifsave_buffer(in, buffer, length, "effort", effort, CAMEO_NO_METADATA, NULL);
}

/// The lowest value of one band.
static inline int cameo_vips_lowest(VipsImage *in, double *lowest, int band) {
    VipsImage *one = NULL;
    if (vips_extract_band(in, &one, band, NULL) != 0) return -1;
    int result = vips_min(one, lowest, NULL);
    g_object_unref(one);
    return result;
}

/// A profile by one of libvips' built-in names; the caller unrefs the blob.
static inline int cameo_vips_profile_load(const char *name, VipsBlob **profile) {
    return vips_profile_load(name, profile, NULL);
}

/// Adds to libvips' error text.
static inline void cameo_vips_note_error(const char *domain, const char *text) { vips_error(domain, "%s", text); }
