// Computing pixels.
#pragma once

/// Computes all pixels into memory, in the calling thread. `vips_image_copy_memory` gives the same, but has a thread of its
/// own compute and wakes the caller for each row or tile, which takes a fifth of the time of a small picture.
static inline VipsImage *cameo_vips_computed(VipsImage *in) {
    if (in->dtype != VIPS_IMAGE_PARTIAL) return vips_image_copy_memory(in);
    VipsImage *out = vips_image_new_memory();
    VipsRegion *source = NULL, *target = NULL;
    VipsRect whole = {0, 0, in->Xsize, in->Ysize};
    int failed = vips_image_pipelinev(out, VIPS_DEMAND_STYLE_ANY, in, NULL) || vips_image_write_prepare(out) ||
                 !(source = vips_region_new(in)) || !(target = vips_region_new(out)) ||
                 vips_region_image(target, &whole);
    if (!failed) {
        // As libvips itself would go through the picture: its operations keep what this order needs again.
        int width, height, lines;
        vips_get_tile_size(in, &width, &height, &lines);
        for (int top = 0; top < in->Ysize && !failed; top += height)
            for (int left = 0; left < in->Xsize && !failed; left += width) {
                VipsRect tile = {left, top, VIPS_MIN(width, in->Xsize - left), VIPS_MIN(height, in->Ysize - top)};
                failed = vips_region_prepare_to(source, target, &tile, left, top);
            }
        vips_image_minimise_all(in);
    }
    if (target) g_object_unref(target);
    if (source) g_object_unref(source);
    if (!failed) return out;
    g_object_unref(out);
    return NULL;
}

/// Pixels in memory that are yet to be written, with the header of another picture except for the size. They are read in
/// the order in which a decoder delivers, since libvips rounds otherwise where it goes through a picture in other strips.
static inline VipsImage *cameo_vips_memory_like(VipsImage *like, int width, int height) {
    VipsImage *out = vips_image_new_memory();
    if (vips_image_pipelinev(out, VIPS_DEMAND_STYLE_ANY, like, NULL) == 0) {
        out->Xsize = width;
        out->Ysize = height;
        if (vips_image_write_prepare(out) == 0) return out;
    }
    g_object_unref(out);
    return NULL;
}
