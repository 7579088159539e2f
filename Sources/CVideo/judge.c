#include "video.h"

#include <libavutil/pixdesc.h>
#include <stdlib.h>

// How much a frame shows, and whether it is part of a fade.

// The rows between two that are compared.
enum { APART = 8 };

// The range of what was counted without the lowest and the highest ones.
static int range(const int counts[256], int without) {
    int low = 0, high = 255;
    for (int seen = counts[0]; seen <= without && low < 255; seen += counts[++low]) {}
    for (int seen = counts[255]; seen <= without && high > 0; seen += counts[--high]) {}
    return high > low ? high - low : 0;
}

// How much a frame shows: the range of its lightness without the darkest and the lightest hundredth, 0 to 255. Black,
// blank and half faded frames have little; frames of one colour but for a twentieth, as titles and empty desktops, and
// bars, whose rows are alike and go up and down, have a quarter of it. `points` gets the lightness of points.
int video_contrast(const AVFrame *frame, uint8_t points[VIDEO_GRID][VIDEO_GRID]) {
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    if (!format || frame->width < 1 || frame->height < 1) return 0;
    // Green stands for lightness in RGB.
    const AVComponentDescriptor *part = &format->comp[format->flags & AV_PIX_FMT_FLAG_RGB ? 1 : 0];
    if (part->depth < 8 || part->depth > 16) return 255;
    int counts[256] = {0}, alike = 0;
    for (int row = 0; row < VIDEO_GRID; row++) {
        const uint8_t *line =
            frame->data[part->plane] + (ptrdiff_t)frame->linesize[part->plane] * (row * (frame->height - 1) / VIDEO_GRID);
        int change = 0, across = 0;
        for (int column = 0; column < VIDEO_GRID; column++) {
            const uint8_t *at = line + (ptrdiff_t)(column * (frame->width - 1) / VIDEO_GRID) * part->step + part->offset;
            int value = part->depth == 8 ? *at : (at[0] | at[1] << 8) >> part->shift >> (part->depth - 8) & 0xFF;
            counts[points[row][column] = (uint8_t)value]++;
            change += row < APART ? 255 : abs(points[row - APART][column] - value);
            across += column > 0 ? abs(points[row][column - 1] - value) : 0;
        }
        alike += change <= 3 * VIDEO_GRID && across >= VIDEO_GOOD_CONTRAST;
    }
    int found = range(counts, VIDEO_GRID * VIDEO_GRID / 100);
    bool is_plain = range(counts, VIDEO_GRID * VIDEO_GRID / 20) < 16 || alike > VIDEO_GRID / 2;
    return found >= VIDEO_GOOD_CONTRAST && is_plain ? found / 4 : found;
}

// How many points are flat, as those around are, and of another lightness in a later frame if there is one.
static int count_flat(const uint8_t *points, const uint8_t *later) {
    int count = 0;
    for (int i = VIDEO_GRID + 1; i < VIDEO_GRID * (VIDEO_GRID - 1) - 1; i++) {
        bool is_flat = abs(points[i + 1] - points[i - 1]) <= 4 && abs(points[i + VIDEO_GRID] - points[i - VIDEO_GRID]) <= 4;
        count += is_flat && (!later || abs(later[i] - points[i]) > 2);
    }
    return count;
}

// Whether what is flat in a keyframe, and which motion leaves alone, soon gets lighter or darker: it is part of a fade.
// What follows is decoded only if it is half as large as the keyframe, and larger than all of the file on average.
bool video_is_fading(struct video *video, const uint8_t *points) {
    int flat = count_flat(points, NULL), changed = 0;
    int64_t time = video->frame->best_effort_timestamp;
    if (flat < VIDEO_GRID * VIDEO_GRID / 10 || time == AV_NOPTS_VALUE) return false;
    int64_t soon = av_sat_add64(time, (int64_t)(0.2 / av_q2d(video->stream->time_base)));
    // Without an index, a search may end behind the keyframe.
    int64_t place = video_has_index(video) ? time : av_sat_sub64(time, video_a_second(video));
    uint8_t later[VIDEO_GRID][VIDEO_GRID];
    struct video_group *group = calloc(1, sizeof *group);
    AVFrame *key = av_frame_clone(video->frame);
    bool is_busy = group && key && video_seek_before(video, place) >= 0 &&
                   video_read_group(video, time, soon, group) >= 0 && group->count > 0 &&
                   group->bytes > (size_t)group->packets[0]->size * 3 / 2;
    double length = 0, bytes = is_busy ? (double)group->bytes - group->packets[0]->size : 0;
    for (int i = 1; is_busy && i < group->count; i++) length += (double)group->packets[i]->duration;
    int64_t whole = video->edit_count > 0 ? video->stream->duration : video->duration;
    is_busy = is_busy && bytes * (double)whole > 1.3 * (double)video->size * length;
    if (is_busy && video_decode_group(video, soon, group) >= 0 && video_contrast(video->frame, later) < 255)
        changed = count_flat(points, *later);
    if (key) av_frame_unref(video->frame), av_frame_move_ref(video->frame, key);
    if (group) video_empty_group(group);
    av_frame_free(&key);
    free(group);
    return changed * 2 > flat;
}
