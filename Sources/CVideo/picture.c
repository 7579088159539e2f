#include "video.h"

#include <libavutil/adler32.h>
#include <libavutil/crc.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <stdlib.h>
#include <string.h>

// The picture of a frame: in RGB, with square pixels, turned upright, as a PNG of stored blocks (RFC 1951, 3.2.4), no
// larger than its renditions need. HDR stays as it is coded, at 16 bits, and is named in a cICP chunk: the renderer maps
// its tones.

enum { BLOCK = 65535 };

static size_t pixel_bytes(const struct layout *layout) {
    return (size_t)(layout->has_alpha ? 4 : 3) << layout->is_deep;
}

static size_t row_bytes(const struct layout *layout, int width) {
    return (size_t)width * pixel_bytes(layout);
}

static void swap(int *one, int *other) {
    int kept = *one;
    *one = *other;
    *other = kept;
}

// What is cut from a frame of this size: a pixel is left. What the decoder has cut already is not cut again.
static struct aperture cut_of(const struct video *video, int width, int height) {
    const AVCodecParameters *coded = video->stream->codecpar;
    struct aperture cut = {0};
    if (width != coded->width || height != coded->height) return cut;
    cut = video->aperture;
    cut.left = av_clip(cut.left, 0, width - 1);
    cut.top = av_clip(cut.top, 0, height - 1);
    cut.right = av_clip(cut.right, 0, width - 1 - cut.left);
    cut.bottom = av_clip(cut.bottom, 0, height - 1 - cut.top);
    return cut;
}

// Makes of the size of a coded frame that of the upright one with square pixels: the edge whose pixels are longer is
// stretched.
static void shape(const struct video *video, const AVFrame *frame, int *width, int *height) {
    struct aperture cut = cut_of(video, *width, *height);
    *width -= cut.left + cut.right;
    *height -= cut.top + cut.bottom;
    AVRational ratio = av_guess_sample_aspect_ratio(video->format, video->stream, (AVFrame *)frame);
    double stretch = ratio.num > 0 && ratio.den > 0 ? av_q2d(ratio) : 1;
    if (stretch < 0.05 || stretch > 20) stretch = 1;
    if (stretch > 1) *width = (int)(*width * stretch + 0.5);
    if (stretch < 1) *height = (int)(*height / stretch + 0.5);
    if (video->orientation.is_transposed) swap(width, height);
}

static void fit(const struct cameo_video_wish *wish, int frame_width, int frame_height, int *width, int *height) {
    *width = frame_width;
    *height = frame_height;
    if (wish->fit) wish->fit(wish->context, width, height);
    if (*width < 1 || *width > frame_width) *width = frame_width;
    if (*height < 1 || *height > frame_height) *height = frame_height;
}

bool video_shrinks(const struct video *video, const struct cameo_video_wish *wish) {
    const AVCodecParameters *coded = video->stream->codecpar;
    if (coded->width < 1 || coded->height < 1) return false;
    int frame_width = coded->width, frame_height = coded->height, width, height;
    shape(video, NULL, &frame_width, &frame_height);
    fit(wish, frame_width, frame_height, &width, &height);
    if (video->orientation.is_transposed) swap(&width, &height);
    struct aperture cut = cut_of(video, coded->width, coded->height);
    return width * 2 <= coded->width - cut.left - cut.right && height * 2 <= coded->height - cut.top - cut.bottom;
}

// What the coded frame does not name, the container may; what a box of an MP4 names goes before.
static int name(const struct video *video, int frame, int file, int nothing) {
    return file != nothing && (video->has_own_colors || frame == nothing) ? file : frame;
}

static void name_colors(const struct video *video, AVFrame *frame) {
    const AVCodecParameters *file = video->stream->codecpar;
    frame->color_primaries = name(video, frame->color_primaries, file->color_primaries, AVCOL_PRI_UNSPECIFIED);
    frame->color_trc = name(video, frame->color_trc, file->color_trc, AVCOL_TRC_UNSPECIFIED);
    frame->colorspace = name(video, frame->colorspace, file->color_space, AVCOL_SPC_UNSPECIFIED);
    frame->color_range = name(video, frame->color_range, file->color_range, AVCOL_RANGE_UNSPECIFIED);
}

static void color(const AVFrame *frame, struct layout *layout) {
    layout->primaries = frame->color_primaries == AVCOL_PRI_BT2020    ? 9
                        : frame->color_primaries == AVCOL_PRI_SMPTE432 ? 12
                                                                       : 1;
    layout->transfer = frame->color_trc == AVCOL_TRC_SMPTE2084      ? 16
                       : frame->color_trc == AVCOL_TRC_ARIB_STD_B67 ? 18
                                                                    : 1;
    layout->is_deep = layout->transfer != 1;
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    layout->has_alpha = format && format->flags & AV_PIX_FMT_FLAG_ALPHA;
}

static enum AVPixelFormat pixel_format(const struct layout *layout) {
    if (layout->has_alpha) return layout->is_deep ? AV_PIX_FMT_RGBA64BE : AV_PIX_FMT_RGBA;
    return layout->is_deep ? AV_PIX_FMT_RGB48BE : AV_PIX_FMT_RGB24;
}

// Where samples of colour are that stand for a square of pixels whose first ones are cut off, in 256ths of a pixel:
// libswscale's default is the middle of a whole square.
static int color_place(int cut, int shift) {
    int missing = cut & ((1 << shift) - 1);
    return missing ? (128 << shift) - 128 - 256 * missing : -513;
}

static int convert(const struct video *video, const AVFrame *frame, const struct layout *layout, uint8_t *pixels,
                   size_t stride) {
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    if (!format || format->flags & AV_PIX_FMT_FLAG_HWACCEL) return AVERROR_INVALIDDATA;
    struct aperture cut = cut_of(video, frame->width, frame->height);
    int width = frame->width - cut.left - cut.right, height = frame->height - cut.top - cut.bottom;
    // Of an interlaced frame one field is used, because the other is of another moment.
    bool is_interlaced = frame->interlaced_frame && height >= 4;
    if (is_interlaced) height /= 2, cut.top /= 2;
    const uint8_t *planes[4] = {frame->data[0], frame->data[1], frame->data[2], frame->data[3]};
    int strides[4];
    for (int i = 0; i < 4; i++) strides[i] = frame->linesize[i] * (is_interlaced ? 2 : 1);
    for (int i = 0; i < format->nb_components; i++) {
        int plane = format->comp[i].plane, is_color = i == 1 || i == 2;
        if (planes[plane] != frame->data[plane]) continue;
        planes[plane] += (ptrdiff_t)(cut.top >> (is_color ? format->log2_chroma_h : 0)) * strides[plane] +
                         (ptrdiff_t)(cut.left >> (is_color ? format->log2_chroma_w : 0)) * format->comp[i].step;
    }

    char options[256];
    snprintf(options, sizeof options, "srcw=%d:srch=%d:src_format=%d:dstw=%d:dsth=%d:dst_format=%d:sws_flags=%d:"
             "src_h_chr_pos=%d:src_v_chr_pos=%d", width, height, frame->format, layout->width, layout->height,
             pixel_format(layout), SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT,
             color_place(cut.left, format->log2_chroma_w), color_place(cut.top, format->log2_chroma_h));
    struct SwsContext *scaler = sws_alloc_context();
    if (!scaler || av_set_options_string(scaler, options, "=", ":") < 0 || sws_init_context(scaler, NULL, NULL) < 0) {
        sws_freeContext(scaler);
        return AVERROR(ENOMEM);
    }
    // What is not named is as players guess it: HD by BT.709, the rest by BT.601.
    int matrix = frame->colorspace;
    if (matrix == AVCOL_SPC_UNSPECIFIED || matrix == AVCOL_SPC_RESERVED || matrix == AVCOL_SPC_RGB)
        matrix = frame->width >= 1280 || frame->height >= 720 ? SWS_CS_ITU709 : SWS_CS_ITU601;
    bool is_full = frame->color_range == AVCOL_RANGE_JPEG || strncmp(format->name, "yuvj", 4) == 0;
    sws_setColorspaceDetails(scaler, sws_getCoefficients(matrix), is_full, sws_getCoefficients(SWS_CS_ITU709), 1, 0,
                             1 << 16, 1 << 16);
    uint8_t *rows[4] = {pixels};
    int row_strides[4] = {(int)stride};
    int result = sws_scale(scaler, planes, strides, 0, height, rows, row_strides);
    sws_freeContext(scaler);
    return result == layout->height ? 0 : AVERROR_INVALIDDATA;
}

// Converts `video->frame`; one of another shape than the first lies in the middle, on black.
static int place(const struct video *video, const struct layout *layout, uint8_t *pixels, size_t stride) {
    struct layout part = *layout;
    int width = video->frame->width, height = video->frame->height;
    shape(video, video->frame, &width, &height);
    double across = (double)layout->shown_width / width, down = (double)layout->shown_height / height;
    // A row more or less is the encoder's.
    bool is_wide = across < down * 0.98, is_high = down < across * 0.98;
    if (is_wide != layout->orientation.is_transposed && (is_wide || is_high))
        part.height = FFMAX(1, (int)(layout->height * (is_wide ? across / down : down / across) + 0.5));
    else if (is_wide || is_high)
        part.width = FFMAX(1, (int)(layout->width * (is_wide ? across / down : down / across) + 0.5));
    else
        return convert(video, video->frame, layout, pixels, stride);
    size_t row = row_bytes(&part, part.width), left = row_bytes(layout, (layout->width - part.width) / 2);
    uint8_t *own = malloc(row * (size_t)part.height + VIDEO_MARGIN);
    int error = own ? convert(video, video->frame, &part, own, row) : AVERROR(ENOMEM);
    int top = (layout->height - part.height) / 2;
    for (int y = 0; y < layout->height && error >= 0; y++) {
        uint8_t *into = pixels + (size_t)y * stride;
        memset(into, 0, row_bytes(layout, layout->width));
        if (y >= top && y < top + part.height) memcpy(into + left, own + (size_t)(y - top) * row, row);
    }
    free(own);
    return error;
}

// The rows of a PNG: a zero, for no prediction, and the pixels. `from` has the frame as it is coded.
static void upright(const struct layout *layout, const uint8_t *from, uint8_t *to) {
    size_t pixel = pixel_bytes(layout), stride = row_bytes(layout, layout->width);
    struct orientation turn = layout->orientation;
    int width = turn.is_transposed ? layout->height : layout->width;
    int height = turn.is_transposed ? layout->width : layout->height;
    for (int y = 0; y < height; y++) {
        int row = turn.flips_y ? height - 1 - y : y;
        *to++ = 0;
        for (int x = 0; x < width; x++, to += pixel) {
            int column = turn.flips_x ? width - 1 - x : x;
            const uint8_t *at = turn.is_transposed ? from + (size_t)column * stride + (size_t)row * pixel
                                                   : from + (size_t)row * stride + (size_t)column * pixel;
            memcpy(to, at, pixel);
        }
    }
}

static uint8_t *begin_chunk(uint8_t *at, const char *name, size_t length) {
    AV_WB32(at, (uint32_t)length);
    memcpy(at + 4, name, 4);
    return at + 8;
}

static uint8_t *end_chunk(uint8_t *start, size_t length) {
    uint32_t sum = ~av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), ~0u, start + 4, length + 4);
    AV_WB32(start + 8 + length, sum);
    return start + 12 + length;
}

static size_t stored_bytes(size_t count) {
    return 2 + (count + BLOCK - 1) / BLOCK * 5 + count + 4;
}

static uint8_t *write_png(const struct layout *layout, const struct cameo_video_frame *out, const uint8_t *rows,
                          size_t count, uint8_t *at) {
    memcpy(at, "\x89PNG\r\n\x1a\n", 8);
    uint8_t *chunk = at + 8, *into = begin_chunk(chunk, "IHDR", 13);
    AV_WB32(into, (uint32_t)out->png_width);
    AV_WB32(into + 4, (uint32_t)out->png_height * (uint32_t)out->frames);
    const uint8_t kind[] = {layout->is_deep ? 16 : 8, layout->has_alpha ? 6 : 2, 0, 0, 0};
    memcpy(into + 8, kind, sizeof kind);
    chunk = end_chunk(chunk, 13);
    into = begin_chunk(chunk, "caMo", 12);
    AV_WB32(into, (uint32_t)out->width);
    AV_WB32(into + 4, (uint32_t)out->height);
    AV_WB32(into + 8, (uint32_t)out->frames);
    chunk = end_chunk(chunk, 12);
    if (layout->primaries != 1 || layout->transfer != 1) {
        into = begin_chunk(chunk, "cICP", 4);
        into[0] = (uint8_t)layout->primaries;
        into[1] = (uint8_t)layout->transfer;
        into[2] = 0;
        into[3] = 1;
        chunk = end_chunk(chunk, 4);
    }
    into = begin_chunk(chunk, "IDAT", stored_bytes(count));
    *into++ = 0x78;
    *into++ = 0x01;
    for (size_t done = 0; done < count;) {
        size_t block = count - done < BLOCK ? count - done : BLOCK;
        *into = done + block == count;
        AV_WL16(into + 1, block);
        AV_WL16(into + 3, ~block);
        memcpy(into + 5, rows + done, block);
        into += 5 + block;
        done += block;
    }
    AV_WB32(into, av_adler32_update(1, rows, count));
    chunk = end_chunk(chunk, stored_bytes(count));
    begin_chunk(chunk, "IEND", 0);
    return end_chunk(chunk, 0);
}

enum cameo_video_result video_layout(struct video *video, const struct cameo_video_wish *wish,
                                     struct cameo_video_frame *out, struct layout *layout) {
    *layout = (struct layout){.orientation = video->orientation};
    name_colors(video, video->frame);
    color(video->frame, layout);
    out->width = video->frame->width;
    out->height = video->frame->height;
    shape(video, video->frame, &out->width, &out->height);
    if ((int64_t)out->width * out->height > wish->maximum_pixels || out->width > wish->maximum_edge ||
        out->height > wish->maximum_edge)
        return VIDEO_TOO_LARGE;
    layout->shown_width = out->width;
    layout->shown_height = out->height;
    out->png_width = out->width;
    out->png_height = out->height;
    // Colours that are not multiplied by alpha are resized by the renderer.
    if (!layout->has_alpha) fit(wish, out->width, out->height, &out->png_width, &out->png_height);
    size_t most = wish->maximum_bytes / (size_t)out->frames;
    while (out->png_width > VIDEO_EDGE || out->png_height > VIDEO_EDGE ||
           (row_bytes(layout, out->png_width) + 1) * (size_t)out->png_height * 10 / 9 > most) {
        out->png_width = (out->png_width + 1) / 2;
        out->png_height = (out->png_height + 1) / 2;
    }
    layout->width = out->png_width;
    layout->height = out->png_height;
    if (layout->orientation.is_transposed) swap(&layout->width, &layout->height);
    return VIDEO_FRAME;
}

size_t video_row_bytes(const struct layout *layout) {
    int width = layout->orientation.is_transposed ? layout->height : layout->width;
    int height = layout->orientation.is_transposed ? layout->width : layout->height;
    return (row_bytes(layout, width) + 1) * (size_t)height;
}

int video_rows(const struct video *video, const struct layout *layout, uint8_t *rows) {
    name_colors(video, video->frame);
    size_t stride = row_bytes(layout, layout->width);
    struct orientation turn = layout->orientation;
    if (turn.is_transposed || turn.flips_x || turn.flips_y) {
        uint8_t *coded = malloc(stride * (size_t)layout->height + VIDEO_MARGIN);
        int error = coded ? place(video, layout, coded, stride) : AVERROR(ENOMEM);
        if (error >= 0) upright(layout, coded, rows);
        free(coded);
        return error;
    }
    int error = place(video, layout, rows + 1, stride + 1);
    if (error >= 0)
        for (int y = 0; y < layout->height; y++) rows[(size_t)y * (stride + 1)] = 0;
    return error;
}

int video_png(const struct layout *layout, const uint8_t *rows, struct cameo_video_frame *out) {
    size_t count = video_row_bytes(layout) * (size_t)out->frames;
    uint8_t *png = malloc(count + count / BLOCK * 5 + 192);
    if (!png) return AVERROR(ENOMEM);
    out->byte_count = (size_t)(write_png(layout, out, rows, count, png) - png);
    out->png = png;
    return 0;
}

enum cameo_video_result video_picture(struct video *video, const struct cameo_video_wish *wish,
                                      struct cameo_video_frame *out) {
    struct layout layout;
    out->frames = 1;
    enum cameo_video_result result = video_layout(video, wish, out, &layout);
    if (result != VIDEO_FRAME) return result;
    uint8_t *rows = malloc(video_row_bytes(&layout) + VIDEO_MARGIN);
    int error = rows ? video_rows(video, &layout, rows) : AVERROR(ENOMEM);
    if (error >= 0) error = video_png(&layout, rows, out);
    free(rows);
    return error < 0 ? video_failure(error, out) : VIDEO_FRAME;
}
