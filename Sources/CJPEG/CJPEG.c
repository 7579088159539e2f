#include "CJPEG.h"

#include <setjmp.h>
#include <stdio.h>

// After stdio.h, whose FILE it needs.
#include <jpeglib.h>

_Static_assert((int)cameo_jpeg_message_size >= JMSG_LENGTH_MAX, "libjpeg's texts fit");

/// The rows that libjpeg takes at a time: a row of blocks with halved chroma.
enum { rows_at_a_time = 16 };

struct errors {
    struct jpeg_error_mgr manager;
    jmp_buf back;
    char *message;
};

static void fail(j_common_ptr info) {
    struct errors *errors = (struct errors *)info->err;
    errors->manager.format_message(info, errors->message);
    longjmp(errors->back, 1);
}

/// libjpeg's own prints to standard error.
static void ignore(j_common_ptr info) { (void)info; }

int cameo_jpeg_encode(const unsigned char *pixels, int width, int height, int bands, int quality, int is_progressive,
                      int halves_chroma, unsigned char **bytes, size_t *length, char *message) {
    struct jpeg_compress_struct encoder;
    struct errors errors = {.message = message};
    unsigned char *written = NULL;
    unsigned long count = 0;
    encoder.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = fail;
    errors.manager.output_message = ignore;
    if (setjmp(errors.back)) {
        jpeg_destroy_compress(&encoder);
        return -1;
    }
    jpeg_create_compress(&encoder);
    jpeg_mem_dest(&encoder, &written, &count);
    encoder.image_width = (JDIMENSION)width;
    encoder.image_height = (JDIMENSION)height;
    encoder.input_components = bands;
    encoder.in_color_space = bands == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&encoder);
    jpeg_set_quality(&encoder, quality, TRUE);
    encoder.optimize_coding = TRUE;
    encoder.write_JFIF_header = FALSE;
    if (is_progressive) jpeg_simple_progression(&encoder);
    if (!halves_chroma)
        for (int component = 0; component < encoder.num_components; component++)
            encoder.comp_info[component].h_samp_factor = encoder.comp_info[component].v_samp_factor = 1;
    jpeg_start_compress(&encoder, TRUE);
    size_t stride = (size_t)width * (size_t)bands;
    while (encoder.next_scanline < encoder.image_height) {
        JSAMPROW rows[rows_at_a_time];
        JDIMENSION number = 0;
        for (; number < rows_at_a_time && encoder.next_scanline + number < encoder.image_height; number++)
            rows[number] = (JSAMPROW)pixels + stride * (encoder.next_scanline + number);
        jpeg_write_scanlines(&encoder, rows, number);
    }
    jpeg_finish_compress(&encoder);
    jpeg_destroy_compress(&encoder);
    *bytes = written;
    *length = count;
    return 0;
}
