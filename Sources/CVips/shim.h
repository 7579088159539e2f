// libvips' operations are variadic C functions, which Swift cannot call. Each wrapper below fixes the options that Cameo
// uses, so that the option names (strings that the compiler cannot check) stand in this one place.
//
// All return libvips' own result: 0, or -1 with text in vips_error_buffer(). `out` is a new reference, for the caller to
// drop with g_object_unref. Written for libvips 8.14 to 8.17; options that were renamed are behind VIPS_CHECK_VERSION.
#pragma once
#include <vips/vips.h>

#define CAMEO_VIPS_AT_LEAST(major, minor)                                                                              \
    (VIPS_MAJOR_VERSION > (major) || (VIPS_MAJOR_VERSION == (major) && VIPS_MINOR_VERSION >= (minor)))

// 8.15 replaced `strip` by `keep`.
#if CAMEO_VIPS_AT_LEAST(8, 15)
#define CAMEO_NO_METADATA "keep", VIPS_FOREIGN_KEEP_NONE
#else
#define CAMEO_NO_METADATA "strip", TRUE
#endif

// Top to bottom, and a truncated or damaged file is an error. `VIPS_FAIL_ON_ERROR` includes truncation; warnings (odd
// EXIF, for one) are none.
#define CAMEO_LOADING "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_ERROR

/// `shrink`: 1, 2, 4 or 8, done by the decoder.
static inline int cameo_vips_jpegload(VipsSource *source, VipsImage **out, int shrink) {
    return vips_jpegload_source(source, out, CAMEO_LOADING, "shrink", shrink, NULL);
}

static inline int cameo_vips_pngload(VipsSource *source, VipsImage **out) {
    return vips_pngload_source(source, out, CAMEO_LOADING, NULL);
}

/// `scale`: 0 < scale <= 1, done by the decoder.
static inline int cameo_vips_webpload(VipsSource *source, VipsImage **out, double scale) {
    return vips_webpload_source(source, out, CAMEO_LOADING, "scale", scale, NULL);
}

static inline int cameo_vips_gifload(VipsSource *source, VipsImage **out) {
    return vips_gifload_source(source, out, CAMEO_LOADING, NULL);
}

static inline int cameo_vips_tiffload(VipsSource *source, VipsImage **out) {
    return vips_tiffload_source(source, out, CAMEO_LOADING, NULL);
}

static inline int cameo_vips_heifload(VipsSource *source, VipsImage **out) {
    return vips_heifload_source(source, out, CAMEO_LOADING, NULL);
}

static inline int cameo_vips_colourspace(VipsImage *in, VipsImage **out, VipsInterpretation space) {
    return vips_colourspace(in, out, space, NULL);
}

/// To 8-bit sRGB by the embedded profile, else by `fallback` (a file or one of libvips' built-in names; may be NULL).
static inline int cameo_vips_to_srgb(VipsImage *in, VipsImage **out, const char *fallback) {
    if (fallback)
        return vips_icc_transform(in, out, "srgb", "embedded", TRUE, "input_profile", fallback, "depth", 8, "intent",
                                  VIPS_INTENT_PERCEPTUAL, NULL);
    return vips_icc_transform(in, out, "srgb", "embedded", TRUE, "depth", 8, "intent", VIPS_INTENT_RELATIVE, NULL);
}

static inline int cameo_vips_copy(VipsImage *in, VipsImage **out) { return vips_copy(in, out, NULL); }

static inline int cameo_vips_premultiply(VipsImage *in, VipsImage **out) { return vips_premultiply(in, out, NULL); }

static inline int cameo_vips_unpremultiply(VipsImage *in, VipsImage **out) { return vips_unpremultiply(in, out, NULL); }

static inline int cameo_vips_cast(VipsImage *in, VipsImage **out, VipsBandFormat format) {
    return vips_cast(in, out, format, NULL);
}

static inline int cameo_vips_resize(VipsImage *in, VipsImage **out, double hscale, double vscale) {
    return vips_resize(in, out, hscale, "vscale", vscale, NULL);
}

static inline int cameo_vips_autorot(VipsImage *in, VipsImage **out) { return vips_autorot(in, out, NULL); }

static inline int cameo_vips_extract_area(VipsImage *in, VipsImage **out, int left, int top, int width, int height) {
    return vips_extract_area(in, out, left, top, width, height, NULL);
}

static inline int cameo_vips_smartcrop(VipsImage *in, VipsImage **out, int width, int height,
                                       VipsInteresting interesting) {
    return vips_smartcrop(in, out, width, height, "interesting", interesting, NULL);
}

static inline int cameo_vips_add_alpha(VipsImage *in, VipsImage **out) { return vips_addalpha(in, out, NULL); }

/// `background`: as many numbers as the picture has bands.
static inline int cameo_vips_embed(VipsImage *in, VipsImage **out, int left, int top, int width, int height,
                                   const double *background, int count) {
    VipsArrayDouble *colour = vips_array_double_new(background, count);
    int result = vips_embed(in, out, left, top, width, height, "extend", VIPS_EXTEND_BACKGROUND, "background", colour,
                            NULL);
    vips_area_unref(VIPS_AREA(colour));
    return result;
}

/// `background`: as many numbers as the picture has bands besides alpha.
static inline int cameo_vips_flatten(VipsImage *in, VipsImage **out, const double *background, int count) {
    VipsArrayDouble *colour = vips_array_double_new(background, count);
    int result = vips_flatten(in, out, "background", colour, NULL);
    vips_area_unref(VIPS_AREA(colour));
    return result;
}

/// The first `count` bands.
static inline int cameo_vips_first_bands(VipsImage *in, VipsImage **out, int count) {
    return vips_extract_band(in, out, 0, "n", count, NULL);
}

/// The picture over a plain colour that may itself be transparent (`background`: red, green, blue, alpha, 0..255).
static inline int cameo_vips_composite_over(VipsImage *in, VipsImage **out, const double *background) {
    VipsImage *plain = vips_image_new_from_image(in, background, 4);
    if (!plain) return -1;
    int result = vips_composite2(plain, in, out, VIPS_BLEND_MODE_OVER, NULL);
    g_object_unref(plain);
    return result;
}

/// The savers hand out a buffer for the caller to free with g_free.
static inline int cameo_vips_jpegsave(VipsImage *in, void **buffer, size_t *length, int quality) {
    return vips_jpegsave_buffer(in, buffer, length, "Q", quality, "optimize_coding", TRUE, CAMEO_NO_METADATA, NULL);
}

static inline int cameo_vips_pngsave(VipsImage *in, void **buffer, size_t *length) {
    return vips_pngsave_buffer(in, buffer, length, "compression", 6, CAMEO_NO_METADATA, NULL);
}

static inline int cameo_vips_webpsave(VipsImage *in, void **buffer, size_t *length, int quality) {
    return vips_webpsave_buffer(in, buffer, length, "Q", quality, CAMEO_NO_METADATA, NULL);
}

/// `bitdepth` must be told: the saver's own default is 12.
static inline int cameo_vips_avifsave(VipsImage *in, void **buffer, size_t *length, int quality, int effort) {
    return vips_heifsave_buffer(in, buffer, length, "Q", quality, "compression", VIPS_FOREIGN_HEIF_COMPRESSION_AV1,
                                "effort", effort, "bitdepth", 8, CAMEO_NO_METADATA, NULL);
}
