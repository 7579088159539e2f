// Decoders. All read top to bottom; `fail_on` sets which damage is an error (VIPS_FAIL_ON_ERROR includes truncation but
// not warnings, such as odd EXIF). `page` counts from 0; `n` pages from there are stacked vertically, -1 for all.
#pragma once

#define CAMEO_LOADING "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on

/// `shrink`: 1, 2, 4 or 8, applied by the decoder.
static inline int cameo_vips_jpegload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int shrink) {
    return vips_jpegload_source(source, out, CAMEO_LOADING, "shrink", shrink, NULL);
}

static inline int cameo_vips_pngload(VipsSource *source, VipsImage **out, VipsFailOn fail_on) {
    return vips_pngload_source(source, out, CAMEO_LOADING, NULL);
}

/// `scale`: 0 < scale <= 1, applied by the decoder.
static inline int cameo_vips_webpload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int page, int n,
                                      double scale) {
    return vips_webpload_source(source, out, CAMEO_LOADING, "page", page, "n", n, "scale", scale, NULL);
}

static inline int cameo_vips_gifload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int page, int n) {
    return vips_gifload_source(source, out, CAMEO_LOADING, "page", page, "n", n, NULL);
}

/// `part`: which of the page's SubIFDs; -1: the page itself.
static inline int cameo_vips_tiffload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int page, int part) {
    return vips_tiffload_source(source, out, CAMEO_LOADING, "page", page, "subifd", part, NULL);
}

/// Page 0 is the file's primary image, which need not be the first; libvips takes it if no page is given.
static inline int cameo_vips_heifload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int page) {
    if (page == 0) return vips_heifload_source(source, out, CAMEO_LOADING, NULL);
    return vips_heifload_source(source, out, CAMEO_LOADING, "page", page, NULL);
}

/// `scale`: any multiple of the drawing's own size. `unlimited` stays off, so that libxml2's and librsvg's limits
/// apply.
static inline int cameo_vips_svgload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, double scale) {
    return vips_svgload_source(source, out, CAMEO_LOADING, "scale", scale, NULL);
}

/// `scale`: any multiple of 72 dots per inch.
static inline int cameo_vips_pdfload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int page, double scale) {
    return vips_pdfload_source(source, out, CAMEO_LOADING, "page", page, "scale", scale, NULL);
}

static inline int cameo_vips_jxlload(VipsSource *source, VipsImage **out, VipsFailOn fail_on) {
    return vips_jxlload_source(source, out, CAMEO_LOADING, NULL);
}
