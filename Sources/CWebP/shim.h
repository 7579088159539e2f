// libwebp. Swift sees all of it; libvips' saver, which uses it too, adds metadata that would have to be taken off.
#pragma once
#include <webp/decode.h>
#include <webp/encode.h>

static inline int cameo_webp_error(const WebPPicture *picture) { return (int)picture->error_code; }

/// Decodes a picture into `pixels`, `width` x `height` of `bands` (3: RGB, 4: RGBA) of 8 bits, without gaps, shrunk by
/// `divisor`. Returns 0; -1 if the file is damaged or an animation, or if it has another size. Then `pixels` has anything.
static inline int cameo_webp_decode(const uint8_t *bytes, size_t length, int divisor, uint8_t *pixels, int width, int height,
                                    int bands) {
    WebPDecoderConfig decoding;
    if (!WebPInitDecoderConfig(&decoding) || WebPGetFeatures(bytes, length, &decoding.input) != VP8_STATUS_OK ||
        decoding.input.has_animation || decoding.input.width != width * divisor ||
        decoding.input.height != height * divisor)
        return -1;
    decoding.options.use_scaling = divisor > 1;
    decoding.options.scaled_width = width;
    decoding.options.scaled_height = height;
    decoding.output.colorspace = bands == 4 ? MODE_RGBA : MODE_RGB;
    decoding.output.is_external_memory = 1;
    decoding.output.u.RGBA.rgba = pixels;
    decoding.output.u.RGBA.stride = width * bands;
    decoding.output.u.RGBA.size = (size_t)width * (size_t)height * (size_t)bands;
    if (WebPDecode(bytes, length, &decoding) != VP8_STATUS_OK) return -1;
    // Who writes to the file meanwhile may have changed its size.
    return decoding.output.width == width && decoding.output.height == height ? 0 : -1;
}
