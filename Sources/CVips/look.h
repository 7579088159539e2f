// Operations behind a rendition's look.
#pragma once

/// The result is floating point. Measured here: with libvips' defaults (an integer kernel that ends at a fifth of its
/// height) a step is up to 17 levels off a true Gaussian, with these options 3. A `sigma` under 0.2 copies.
static inline int cameo_vips_gaussblur(VipsImage *in, VipsImage **out, double sigma) {
    return vips_gaussblur(in, out, sigma, "precision", VIPS_PRECISION_FLOAT, "min_ampl", 0.02, NULL);
}

/// The slopes and thresholds are libvips' defaults, spelled out because a thumbnail's pixels depend on them: flat areas
/// stay unchanged (m1), edges get a slope of 3 (m2), at most 10 of 100 brighter (y2) and 20 darker (y3).
static inline int cameo_vips_sharpen(VipsImage *in, VipsImage **out, double sigma) {
    return vips_sharpen(in, out, "sigma", sigma, "x1", 2.0, "y2", 10.0, "y3", 20.0, "m1", 0.0, "m2", 3.0, NULL);
}

/// Computes in * factors + offsets, with `count` of each: one per band, or 1 for all.
static inline int cameo_vips_linear(VipsImage *in, VipsImage **out, const double *factors, const double *offsets,
                                    int count) {
    return vips_linear(in, out, factors, offsets, count, NULL);
}

/// `matrix`: edge × edge numbers, row by row, where edge is the number of bands.
static inline int cameo_vips_recomb(VipsImage *in, VipsImage **out, const double *matrix, int edge) {
    VipsImage *numbers = vips_image_new_matrix_from_array(edge, edge, matrix, edge * edge);
    if (!numbers) return -1;
    int result = vips_recomb(in, out, numbers, NULL);
    g_object_unref(numbers);
    return result;
}

static inline int cameo_vips_rint(VipsImage *in, VipsImage **out) { return vips_rint(in, out, NULL); }

static inline int cameo_vips_bandjoin(VipsImage *first, VipsImage *second, VipsImage **out) {
    return vips_bandjoin2(first, second, out, NULL);
}

static inline int cameo_vips_add(VipsImage *first, VipsImage *second, VipsImage **out) {
    return vips_add(first, second, out, NULL);
}

static inline int cameo_vips_multiply(VipsImage *first, VipsImage *second, VipsImage **out) {
    return vips_multiply(first, second, out, NULL);
}

static inline int cameo_vips_maplut(VipsImage *in, VipsImage **out, VipsImage *table) {
    return vips_maplut(in, out, table, NULL);
}

/// The largest of three bands. libvips' `bandrank` compares pictures, not the bands of one.
static inline int cameo_vips_band_maximum(VipsImage *in, VipsImage **out) {
    VipsImage *bands[3] = {NULL, NULL, NULL};
    int result = 0;
    for (int i = 0; i < 3 && result == 0; i++) result = vips_extract_band(in, &bands[i], i, NULL);
    if (result == 0) result = vips_bandrank(bands, out, 3, "index", 2, NULL);
    for (int i = 0; i < 3; i++) {
        if (bands[i]) g_object_unref(bands[i]);
    }
    return result;
}

static inline int cameo_vips_insert(VipsImage *in, VipsImage *part, VipsImage **out, int left, int top) {
    return vips_insert(in, part, out, left, top, NULL);
}

/// Draws `over` on `in`, both sRGB and not premultiplied; the result has alpha.
static inline int cameo_vips_composite2(VipsImage *in, VipsImage *over, VipsImage **out) {
    return vips_composite2(in, over, out, VIPS_BLEND_MODE_OVER, NULL);
}

/// One 8-bit band of zeros.
static inline int cameo_vips_black(VipsImage **out, int width, int height) {
    return vips_black(out, width, height, NULL);
}
