// Reads the frames of a JPEG XL by libjxl's events.
#include "CJXL.h"

#include <jxl/decode.h>
#include <stdlib.h>

static void note(const JxlBasicInfo *info, struct cameo_jxl_frame *out) {
    out->is_animation = info->have_animation != 0;
    const int is_turned = info->orientation > 4;
    out->width = is_turned ? info->ysize : info->xsize;
    out->height = is_turned ? info->xsize : info->ysize;
    out->bits = info->exponent_bits_per_sample > 0 ? 32 : info->bits_per_sample > 8 ? 16 : 8;
    out->bands = info->num_color_channels + (info->alpha_bits > 0 ? 1 : 0);
}

// Decodes up to an event, and says whether it came.
static int decode(JxlDecoder *decoder, JxlDecoderStatus last, struct cameo_jxl_frame *out) {
    for (;;) {
        const JxlDecoderStatus status = JxlDecoderProcessInput(decoder);
        const JxlDataType type = out->bits == 32 ? JXL_TYPE_FLOAT : out->bits == 16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8;
        const JxlPixelFormat format = {out->bands, type, JXL_NATIVE_ENDIAN, 0};
        size_t size;
        JxlBasicInfo info;
        switch (status) {
        case JXL_DEC_BASIC_INFO:
            if (JxlDecoderGetBasicInfo(decoder, &info) != JXL_DEC_SUCCESS) return 0;
            note(&info, out);
            break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            if (out->pixels || JxlDecoderImageOutBufferSize(decoder, &format, &size) != JXL_DEC_SUCCESS
                || size != (size_t)out->width * out->height * out->bands * (out->bits / 8)
                || !(out->pixels = malloc(size))
                || JxlDecoderSetImageOutBuffer(decoder, &format, out->pixels, size) != JXL_DEC_SUCCESS)
                return 0;
            break;
        default: return status == last;
        }
        if (status == last) return 1;
    }
}

static int run(const uint8_t *file, size_t length, int events, JxlDecoderStatus last, struct cameo_jxl_frame *out) {
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    if (!decoder) return 0;
    int is_done = JxlDecoderSubscribeEvents(decoder, events) == JXL_DEC_SUCCESS
                  && JxlDecoderSetInput(decoder, file, length) == JXL_DEC_SUCCESS;
    JxlDecoderCloseInput(decoder);
    is_done = is_done && decode(decoder, last, out);
    JxlDecoderDestroy(decoder);
    return is_done;
}

int cameo_jxl_is_animation(const uint8_t *file, size_t length) {
    struct cameo_jxl_frame frame = {0};
    return run(file, length, JXL_DEC_BASIC_INFO, JXL_DEC_BASIC_INFO, &frame) ? frame.is_animation : -1;
}

int cameo_jxl_first_frame(const uint8_t *file, size_t length, struct cameo_jxl_frame *out) {
    const int events = JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE;
    return run(file, length, events, JXL_DEC_FULL_IMAGE, out) ? 0 : -1;
}
