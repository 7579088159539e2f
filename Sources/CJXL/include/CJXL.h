// libjxl's decoder, for animations: libvips shows their last frame. In C because its pixels are filled in while it goes from event to event.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct cameo_jxl_frame {
    int is_animation;
    /// Upright; of 8 or 16 bits, or floats of 32; 1 to 4 bands, the last of 2 and 4 opacity.
    uint32_t width, height, bits, bands;
    /// Row by row, without padding; to be freed.
    void *pixels;
};

/// Whether a JPEG XL file is an animation; -1 if its header cannot be read.
int cameo_jxl_is_animation(const uint8_t *file, size_t length);

/// The first frame of a JPEG XL file, as it is shown; 0 if it was decoded. Its pixels are to be freed in any case.
int cameo_jxl_first_frame(const uint8_t *file, size_t length, struct cameo_jxl_frame *out);
