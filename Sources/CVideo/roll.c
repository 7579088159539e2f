#include "video.h"

#include <libavutil/mathematics.h>
#include <stdlib.h>
#include <string.h>

// DESIGN: the moments are visited in the order of time. Each is shown by the last keyframe before it, as cheap as a frame
// alone, unless the moment before has shown that one: then the frames in between are decoded too, without those that no
// other needs, as long as the budget lasts. A moment that cannot be decoded repeats its neighbour.

// The packets that may be decoded between keyframes, of HD; of larger frames fewer. As how many of them a moment counts
// whose key packet alone gives no picture.
enum { MOST_BETWEEN = 600, HD_PIXELS = 1920 * 1088, RECOVERED = 25 };

struct walk {
    // The keyframe of the moment before.
    int64_t key;
    bool is_between;
    int budget;
};

// The time of the last keyframe before; AV_NOPTS_VALUE if no index tells.
static int64_t key_before(const struct video *video, int64_t time) {
    if (!video_has_index(video)) return AV_NOPTS_VALUE;
    const AVIndexEntry *entry = avformat_index_get_entry(
        video->stream, av_index_search_timestamp(video->stream, time, AVSEEK_FLAG_BACKWARD));
    return entry ? entry->timestamp : AV_NOPTS_VALUE;
}

// Decodes from where the decoder is to the frame at a time.
static int decode_until(struct video *video, int64_t time, int *budget) {
    for (bool is_at_end = false;;) {
        int result = avcodec_receive_frame(video->codec, video->frame);
        if (result >= 0 && video->frame->best_effort_timestamp >= time) return 0;
        if (result >= 0) continue;
        if (result != AVERROR(EAGAIN) || is_at_end) return result;
        if (*budget <= 0) return AVERROR(EAGAIN);
        if (av_read_frame(video->format, video->packet) < 0) {
            is_at_end = true;
            avcodec_send_packet(video->codec, NULL);
            continue;
        }
        if (video->packet->stream_index == video->stream->index) {
            (*budget)--;
            avcodec_send_packet(video->codec, video->packet);
        }
        av_packet_unref(video->packet);
    }
}

static int decode(struct video *video, struct walk *walk, int64_t moment) {
    bool is_held;
    int64_t time = video_edited(video, moment, &is_held), delay = video->edit ? video_index_delay(video) : 0;
    int64_t key = key_before(video, time - delay);
    bool is_repeated = key != AV_NOPTS_VALUE && key == walk->key;
    // The next frame may be one that is cut off.
    if (video->edit && walk->budget > 0 && (is_held || is_repeated || video_is_cut(video, key + delay))) {
        walk->budget -= RECOVERED;
        walk->key = key;
        return video_decode_exact(video, moment);
    }
    // Moments may be closer than frames.
    if (is_repeated && walk->is_between && video->frame->buf[0] && video->frame->best_effort_timestamp >= time) return 0;
    if (is_repeated && walk->is_between) return decode_until(video, time, &walk->budget);
    if (is_repeated && walk->budget <= 0) return AVERROR(EAGAIN);
    walk->is_between = is_repeated;
    video->codec->skip_frame = is_repeated ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
    video->codec->skip_loop_filter = video->is_shrunk ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
    int error = av_seek_frame(video->format, video->stream->index, time - delay, AVSEEK_FLAG_BACKWARD);
    avcodec_flush_buffers(video->codec);
    // Some indexes are read by the first search.
    if (key == AV_NOPTS_VALUE) key = key_before(video, time - delay);
    walk->key = key;
    if (error < 0 || key == AV_NOPTS_VALUE) return video_decode_near(video, moment);
    if (is_repeated) return decode_until(video, time, &walk->budget);
    error = video_decode_next_key(video);
    if (error >= 0 || error == AVERROR(ENOMEM) || video->is_blocked || walk->budget <= 0) return error;
    walk->budget -= RECOVERED;
    walk->key = AV_NOPTS_VALUE;
    return video_decode_near(video, moment);
}

enum cameo_video_result video_roll(struct video *video, const struct cameo_video_wish *wish,
                                   struct cameo_video_frame *out) {
    bool is_fragmented = strcmp(wish->demuxer, "mov") == 0 && video->stream->nb_frames == 0;
    bool is_unknown = video->whole <= 0 || is_fragmented;
    if (is_unknown || video->stream->start_time == AV_NOPTS_VALUE) video_measure(video, is_unknown);
    out->duration = (double)video->whole * av_q2d(video->stream->time_base);
    if (!(out->duration < 1e9)) out->duration = 0;

    out->time = -1;

    // As Rendition.Storyboard counts, in milliseconds.
    int64_t length = (int64_t)(out->duration * 1000 + 0.5), span = (int64_t)(wish->interval * 1000 + 0.5);
    if (length < 1) length = 1;
    if (span < 1) span = 1;
    bool is_short = span * wish->tiles >= length;
    out->frames = is_short ? (int)((length + span - 1) / span) : wish->tiles;

    double pixels = (double)video->stream->codecpar->width * video->stream->codecpar->height;
    struct walk walk = {.key = AV_NOPTS_VALUE, .budget = MOST_BETWEEN};
    if (pixels > HD_PIXELS) walk.budget = (int)(MOST_BETWEEN * (HD_PIXELS / pixels));
    struct layout layout;
    uint8_t *rows = NULL;
    size_t bytes = 0;
    int error = AVERROR_INVALIDDATA, shown = 0;
    for (int i = 0; i < out->frames; i++) {
        int64_t from = is_short ? i * span : i * length / wish->tiles;
        int64_t to = is_short ? (i + 1) * span : (i + 1) * length / wish->tiles;
        if (to > length) to = length;
        int64_t offset = av_rescale_q((from + to) / 2, (AVRational){1, 1000}, video->stream->time_base);
        // What is missing for this moment is not what the next one needs.
        video->is_blocked = false;
        int found = decode(video, &walk, video->origin + offset);
        if (found >= 0 && !rows) {
            // That of all frames is that of the first.
            enum cameo_video_result result = video_layout(video, wish, out, &layout);
            if (result != VIDEO_FRAME) return result;
            bytes = video_row_bytes(&layout);
            rows = malloc(bytes * (size_t)out->frames + VIDEO_MARGIN);
            if (!rows) found = AVERROR(ENOMEM);
        }
        if (found >= 0) found = video_rows(video, &layout, rows + (size_t)i * bytes);
        if (found == AVERROR(ENOMEM)) {
            free(rows);
            return VIDEO_OUT_OF_MEMORY;
        }
        if (found >= 0) {
            for (; shown < i; shown++) memcpy(rows + (size_t)shown * bytes, rows + (size_t)i * bytes, bytes);
            shown = i + 1;
        } else if (shown > 0) {
            memcpy(rows + (size_t)i * bytes, rows + (size_t)(i - 1) * bytes, bytes);
            shown = i + 1;
        } else {
            error = found;
        }
    }
    if (shown == 0) {
        free(rows);
        if (error == AVERROR_EOF && !video->has_packets && video->stream->nb_frames == 0) return VIDEO_NO_PICTURE;
        return video_failure(error, out);
    }
    error = video_png(&layout, rows, out);
    free(rows);
    return error < 0 ? video_failure(error, out) : VIDEO_FRAME;
}
