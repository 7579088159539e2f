// libheif. Swift sees all of it; libvips' saver, which uses it too, has colours rounded to YCbCr before 8.15.
#pragma once
#include <libheif/heif.h>
#include <stddef.h>

/// Whether the coded pixels of a grey primary picture say that they have the full range; -1 if they say nothing.
static inline int cameo_heif_has_full_range(const void *file, size_t length) {
    struct heif_context *context = heif_context_alloc();
    struct heif_image_handle *handle = NULL;
    struct heif_image *image = NULL;
    struct heif_color_profile_nclx *profile = NULL;
    int result = -1;
    if (heif_context_read_from_memory_without_copy(context, file, length, NULL).code == heif_error_Ok
        && heif_context_get_primary_image_handle(context, &handle).code == heif_error_Ok
        && heif_decode_image(handle, &image, heif_colorspace_monochrome, heif_chroma_monochrome, NULL).code == heif_error_Ok
        && heif_image_get_nclx_color_profile(image, &profile).code == heif_error_Ok)
        result = profile->full_range_flag != 0;
    if (profile) heif_nclx_color_profile_free(profile);
    if (image) heif_image_release(image);
    if (handle) heif_image_handle_release(handle);
    heif_context_free(context);
    return result;
}
