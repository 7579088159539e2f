// Decoders. All read top to bottom; `fail_on` says which damage is an error (VIPS_FAIL_ON_ERROR includes truncation;
// warnings, odd EXIF for one, are none). `page` counts from 0; `n` pages from there stand below one another, -1 for all.
#pragma once

#define CAMEO_LOADING "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on

/// `shrink`: 1, 2, 4 or 8, done by the decoder.
static inline int cameo_vips_jpegload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int shrink) {
    return vips_jpegload_source(source, out, CAMEO_LOADING, "shrink", shrink, NULL);
}

static inline int cameo_vips_pngload(VipsSource *source, VipsImage **out, VipsFailOn fail_on) {
    return vips_pngload_source(source, out, CAMEO_LOADING, NULL);
}

/// `scale`: 0 < scale <= 1, done by the decoder.
static inline int cameo_vips_webpload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int page, int n,
                                      double scale) {
    return vips_webpload_source(source, out, CAMEO_LOADING, "page", page, "n", n, "scale", scale, NULL);
}

static inline int cameo_vips_gifload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int page, int n) {
    return vips_gifload_source(source, out, CAMEO_LOADING, "page", page, "n", n, NULL);
}

static inline int cameo_vips_tiffload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int page) {
    return vips_tiffload_source(source, out, CAMEO_LOADING, "page", page, NULL);
}

/// Page 0 is the file's primary image, which libvips takes when it is told no page; it need not be the first.
static inline int cameo_vips_heifload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int page) {
    if (page == 0) return vips_heifload_source(source, out, CAMEO_LOADING, NULL);
    return vips_heifload_source(source, out, CAMEO_LOADING, "page", page, NULL);
}

/// `scale`: of the size that the drawing names, any. `unlimited` stays off: libxml2's and librsvg's own limits hold.
static inline int cameo_vips_svgload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, double scale) {
    return vips_svgload_source(source, out, CAMEO_LOADING, "scale", scale, NULL);
}

/// `scale`: of 72 dots an inch, any.
static inline int cameo_vips_pdfload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int page, double scale) {
    return vips_pdfload_source(source, out, CAMEO_LOADING, "page", page, "scale", scale, NULL);
}

static inline int cameo_vips_jxlload(VipsSource *source, VipsImage **out, VipsFailOn fail_on) {
    return vips_jxlload_source(source, out, CAMEO_LOADING, NULL);
}
