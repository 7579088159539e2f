#include "CJPEG.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

// After stdio.h, whose FILE they need.
#include <jpeglib.h>

#include <jerror.h>

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

/// Has errors end what libjpeg does, and nothing printed.
static struct jpeg_error_mgr *quiet(struct errors *errors) {
    jpeg_std_error(&errors->manager);
    errors->manager.error_exit = fail;
    errors->manager.output_message = ignore;
    return &errors->manager;
}

/// libjpeg's own prints. libvips takes a hundredth warning for damage: each of them may cost a pass through the picture.
static void count_warning(j_common_ptr info, int level) {
    if (level < 0 && ++info->err->num_warnings >= 100) info->err->error_exit(info);
}

/// libjpeg's own pretends that the file ends here, and leaves the rest grey.
static boolean fail_at_end(j_decompress_ptr decoder) {
    ERREXIT(decoder, JERR_INPUT_EOF);
    return FALSE;
}

int cameo_jpeg_decode(const unsigned char *bytes, size_t length, int divisor, unsigned char *pixels, int width, int height,
                      int bands) {
    struct jpeg_decompress_struct decoder;
    char message[JMSG_LENGTH_MAX];
    struct errors errors = {.message = message};
    decoder.err = quiet(&errors);
    errors.manager.emit_message = count_warning;
    if (setjmp(errors.back)) {
        jpeg_destroy_decompress(&decoder);
        return -1;
    }
    jpeg_create_decompress(&decoder);
    jpeg_mem_src(&decoder, bytes, length);
    decoder.src->fill_input_buffer = fail_at_end;
    jpeg_read_header(&decoder, TRUE);
    if ((int)decoder.image_width / divisor != width || (int)decoder.image_height / divisor != height ||
        decoder.out_color_space != (bands == 1 ? JCS_GRAYSCALE : JCS_RGB))
        ERREXIT(&decoder, JERR_CONVERSION_NOTIMPL);
    decoder.scale_num = 1;
    decoder.scale_denom = (unsigned)divisor;
    jpeg_start_decompress(&decoder);
    size_t stride = (size_t)width * (size_t)bands, decoded = (size_t)decoder.output_width * (size_t)bands;
    // libjpeg frees it. Its last column and row may be of less than `divisor` pixels.
    JSAMPARRAY rows = decoder.mem->alloc_sarray((j_common_ptr)&decoder, JPOOL_IMAGE, (JDIMENSION)decoded, rows_at_a_time);
    while (decoder.output_scanline < decoder.output_height) {
        JSAMPROW targets[rows_at_a_time];
        JDIMENSION top = decoder.output_scanline;
        for (JDIMENSION number = 0; number < rows_at_a_time; number++) {
            int is_direct = decoded == stride && top + number < (JDIMENSION)height;
            targets[number] = is_direct ? pixels + stride * (top + number) : rows[number];
        }
        JDIMENSION read = jpeg_read_scanlines(&decoder, targets, rows_at_a_time);
        for (JDIMENSION number = 0; decoded != stride && number < read && top + number < (JDIMENSION)height; number++)
            memcpy(pixels + stride * (top + number), rows[number], stride);
    }
    jpeg_finish_decompress(&decoder);
    jpeg_destroy_decompress(&decoder);
    return 0;
}

int cameo_jpeg_encode(const unsigned char *pixels, int width, int height, int bands, int quality, int is_progressive,
                      int halves_chroma, unsigned char **bytes, size_t *length, char *message) {
    struct jpeg_compress_struct encoder;
    struct errors errors = {.message = message};
    unsigned char *written = NULL;
    unsigned long count = 0;
    encoder.err = quiet(&errors);
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
