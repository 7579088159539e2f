// Operations between decoder and encoder.
#pragma once

static inline int cameo_vips_colourspace(VipsImage *in, VipsImage **out, VipsInterpretation space) {
    return vips_colourspace(in, out, space, NULL);
}

/// Converts to sRGB of `depth` bits by the embedded profile, else by `fallback` (a file, a built-in name of libvips, or
/// NULL). Relative, also of CMYK, as browsers do it: perceptual has black point compensation since libvips 8.16.
static inline int cameo_vips_to_srgb(VipsImage *in, VipsImage **out, const char *fallback, int depth) {
    if (fallback)
        return vips_icc_transform(in, out, "srgb", "embedded", TRUE, "input_profile", fallback, "depth", depth, "intent",
                                  VIPS_INTENT_RELATIVE, NULL);
    return vips_icc_transform(in, out, "srgb", "embedded", TRUE, "depth", depth, "intent", VIPS_INTENT_RELATIVE, NULL);
}

static inline int cameo_vips_copy(VipsImage *in, VipsImage **out) { return vips_copy(in, out, NULL); }

/// The same values, labelled with another colour space.
static inline int cameo_vips_reinterpreted(VipsImage *in, VipsImage **out, VipsInterpretation space) {
    return vips_copy(in, out, "interpretation", space, NULL);
}

/// The same bits of 16-bit samples, taken for unsigned ones.
static inline int cameo_vips_unsigned(VipsImage *in, VipsImage **out) {
    return vips_copy(in, out, "format", VIPS_FORMAT_USHORT, "interpretation", VIPS_INTERPRETATION_GREY16, NULL);
}

static inline int cameo_vips_premultiply(VipsImage *in, VipsImage **out) { return vips_premultiply(in, out, NULL); }

static inline int cameo_vips_unpremultiply(VipsImage *in, VipsImage **out) { return vips_unpremultiply(in, out, NULL); }

static inline int cameo_vips_cast(VipsImage *in, VipsImage **out, VipsBandFormat format) {
    return vips_cast(in, out, format, NULL);
}

static inline int cameo_vips_resize(VipsImage *in, VipsImage **out, double hscale, double vscale) {
    return vips_resize(in, out, hscale, "vscale", vscale, NULL);
}

static inline int cameo_vips_autorot(VipsImage *in, VipsImage **out) { return vips_autorot(in, out, NULL); }

static inline int cameo_vips_rot(VipsImage *in, VipsImage **out, VipsAngle angle) {
    return vips_rot(in, out, angle, NULL);
}

static inline int cameo_vips_flip(VipsImage *in, VipsImage **out, VipsDirection direction) {
    return vips_flip(in, out, direction, NULL);
}

static inline int cameo_vips_grid(VipsImage *in, VipsImage **out, int tile_height, int across, int down) {
    return vips_grid(in, out, tile_height, across, down, NULL);
}

static inline int cameo_vips_extract_area(VipsImage *in, VipsImage **out, int left, int top, int width, int height) {
    return vips_extract_area(in, out, left, top, width, height, NULL);
}

static inline int cameo_vips_smartcrop(VipsImage *in, VipsImage **out, int width, int height,
                                       VipsInteresting interesting) {
    return vips_smartcrop(in, out, width, height, "interesting", interesting, NULL);
}

static inline int cameo_vips_add_alpha(VipsImage *in, VipsImage **out) { return vips_addalpha(in, out, NULL); }

/// `background`: one number per band.
static inline int cameo_vips_embed(VipsImage *in, VipsImage **out, int left, int top, int width, int height,
                                   const double *background, int count) {
    VipsArrayDouble *colour = vips_array_double_new(background, count);
    int result = vips_embed(in, out, left, top, width, height, "extend", VIPS_EXTEND_BACKGROUND, "background", colour,
                            NULL);
    vips_area_unref(VIPS_AREA(colour));
    return result;
}

/// `background`: one number per band except alpha.
static inline int cameo_vips_flatten(VipsImage *in, VipsImage **out, const double *background, int count) {
    VipsArrayDouble *colour = vips_array_double_new(background, count);
    int result = vips_flatten(in, out, "background", colour, NULL);
    vips_area_unref(VIPS_AREA(colour));
    return result;
}

/// `count` bands from `first` on.
static inline int cameo_vips_bands(VipsImage *in, VipsImage **out, int first, int count) {
    return vips_extract_band(in, out, first, "n", count, NULL);
}

/// Draws the picture over a plain, possibly translucent colour (`background`: red, green, blue, alpha, 0..255).
static inline int cameo_vips_composite_over(VipsImage *in, VipsImage **out, const double *background) {
    VipsImage *plain = vips_image_new_from_image(in, background, 4);
    if (!plain) return -1;
    int result = vips_composite2(plain, in, out, VIPS_BLEND_MODE_OVER, NULL);
    g_object_unref(plain);
    return result;
}

/// The band values of one pixel, to be freed with g_free.
static inline int cameo_vips_getpoint(VipsImage *in, double **numbers, int *count, int x, int y) {
    return vips_getpoint(in, numbers, count, x, y, NULL);
}

/// A picture over pixels that the caller owns and keeps until the picture is gone, with the size and type of `like`
/// except for its height.
static inline int cameo_vips_over_memory(const void *pixels, size_t size, VipsImage *like, int height,
                                         VipsImage **out) {
    VipsImage *image = vips_image_new_from_memory(pixels, size, vips_image_get_width(like), height,
                                                  vips_image_get_bands(like), vips_image_get_format(like));
    if (!image) return -1;
    int result = vips_copy(image, out, "interpretation", vips_image_get_interpretation(like), NULL);
    g_object_unref(image);
    return result;
}

/// The names of a pixel's type and of its meaning, for messages; NULL if libvips knows none.
static inline const char *cameo_vips_format_name(VipsBandFormat format) {
    return vips_enum_nick(VIPS_TYPE_BAND_FORMAT, format);
}

static inline const char *cameo_vips_interpretation_name(VipsInterpretation space) {
    return vips_enum_nick(VIPS_TYPE_INTERPRETATION, space);
}

/// Whether GLib ends the program after a message of this level.
static inline int cameo_log_is_fatal(GLogLevelFlags level) {
    return (level & (G_LOG_FLAG_FATAL | G_LOG_LEVEL_ERROR)) != 0;
}

/// Whether libvips was built with the loader of that class name, such as VipsForeignLoadSvg.
static inline int cameo_vips_has_class(const char *name) { return g_type_from_name(name) != 0; }
