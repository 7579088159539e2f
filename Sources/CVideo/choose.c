#include "video.h"

#include <libavutil/pixdesc.h>

// DESIGN: one key packet is sent and the decoder drained, so that nothing else is read or decoded. A frame between two
// keyframes is never shown; where several key frames could serve, the first that shows something is taken.

enum {
    // The packets that are read in search of a keyframe, and the keyframes that may be damaged.
    MOST_PACKETS = 20000,
    MOST_KEYS = 4,
    // The frames that are decoded one after the other, if no keyframe shows anything.
    MOST_FRAMES = 300,
    // The points of a frame that are looked at, a side.
    GRID = 96,
};

static bool is_damaged(const AVFrame *frame) {
    return frame->decode_error_flags != 0 || frame->flags & AV_FRAME_FLAG_CORRUPT;
}

int video_decode_next_key(struct video *video) {
    int keys = 0, error = AVERROR_INVALIDDATA;
    for (int packets = 0; packets < MOST_PACKETS && keys < MOST_KEYS; packets++) {
        int read = av_read_frame(video->format, video->packet);
        if (read < 0) return read == AVERROR_EOF && keys > 0 ? error : read;
        bool is_ours = video->packet->stream_index == video->stream->index;
        if (is_ours) video->has_packets = true;
        if (!is_ours || !(video->packet->flags & AV_PKT_FLAG_KEY)) {
            av_packet_unref(video->packet);
            continue;
        }
        keys++;
        bool is_cut = video->packet->flags & AV_PKT_FLAG_CORRUPT;
        int result = avcodec_send_packet(video->codec, video->packet);
        av_packet_unref(video->packet);
        if (result >= 0) {
            avcodec_send_packet(video->codec, NULL);
            result = avcodec_receive_frame(video->codec, video->frame);
        }
        avcodec_flush_buffers(video->codec);
        if (result == AVERROR(ENOMEM)) return result;
        if (result >= 0 && !is_cut && !is_damaged(video->frame)) return 0;
        error = result < 0 && result != AVERROR_EOF ? result : AVERROR_INVALIDDATA;
    }
    return error;
}

// Whether it is a transport stream: what libavformat calls its index are places, not keyframes.
static bool has_no_index(const struct video *video) {
    return video->format->iformat->flags & AVFMT_TS_DISCONT;
}

// Goes to the keyframe that is nearest to a time, as far as the file's index tells; else to the last one before.
static int seek(struct video *video, int64_t time) {
    AVStream *stream = video->stream;
    int error = has_no_index(video) && time <= video->start
                    ? av_seek_frame(video->format, -1, 0, AVSEEK_FLAG_BYTE)
                    : av_seek_frame(video->format, stream->index, time, AVSEEK_FLAG_BACKWARD);
    if (error < 0) error = av_seek_frame(video->format, stream->index, time, 0);
    // Files without an index are read from their beginning.
    if (error < 0) error = av_seek_frame(video->format, stream->index, video->start, AVSEEK_FLAG_ANY);
    avcodec_flush_buffers(video->codec);
    if (error < 0 || has_no_index(video)) return error;
    const AVIndexEntry *before = avformat_index_get_entry(
        stream, av_index_search_timestamp(stream, time, AVSEEK_FLAG_BACKWARD));
    const AVIndexEntry *after = avformat_index_get_entry(stream, av_index_search_timestamp(stream, time, 0));
    if (!before || !after || after->timestamp - time >= time - before->timestamp) return 0;
    return av_seek_frame(video->format, stream->index, after->timestamp, AVSEEK_FLAG_BACKWARD);
}

static int decode_key_at(struct video *video, int64_t time) {
    int error = seek(video, time > video->start ? time : video->start);
    return error < 0 ? error : video_decode_next_key(video);
}

// How much a frame shows: the range of its lightness without the darkest and the lightest hundredth, 0 to 255. Black,
// blank and half faded frames have little.
static int contrast(const AVFrame *frame) {
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    if (!format || frame->width < 1 || frame->height < 1) return 0;
    // Green stands for lightness in RGB.
    const AVComponentDescriptor *part = &format->comp[format->flags & AV_PIX_FMT_FLAG_RGB ? 1 : 0];
    if (part->depth < 8 || part->depth > 16) return 255;
    int counts[256] = {0}, total = 0;
    int columns = frame->width < GRID ? frame->width : GRID, rows = frame->height < GRID ? frame->height : GRID;
    for (int row = 0; row < rows; row++) {
        const uint8_t *line =
            frame->data[part->plane] + (ptrdiff_t)frame->linesize[part->plane] * (row * (frame->height - 1) / rows);
        for (int column = 0; column < columns; column++) {
            const uint8_t *at = line + (ptrdiff_t)(column * (frame->width - 1) / columns) * part->step + part->offset;
            int value = part->depth == 8 ? *at : (at[0] | at[1] << 8) >> part->shift >> (part->depth - 8) & 0xFF;
            counts[value]++, total++;
        }
    }
    int low = 0, high = 255;
    for (int seen = counts[0]; seen <= total / 100 && low < 255; seen += counts[++low]) {}
    for (int seen = counts[255]; seen <= total / 100 && high > 0; seen += counts[--high]) {}
    return high > low ? high - low : 0;
}
enum { GOOD_CONTRAST = 80 };

struct best {
    AVFrame *frame;
    int contrast;
};

// Returns whether the frame just decoded is good; else keeps it if it is the best so far.
static bool is_good(struct video *video, struct best *best) {
    int found = contrast(video->frame);
    if (found >= GOOD_CONTRAST) return true;
    if (found > best->contrast) {
        best->contrast = found;
        av_frame_unref(best->frame);
        av_frame_move_ref(best->frame, video->frame);
    }
    return false;
}

// Decodes one frame after the other from the beginning.
static bool find_good_frame(struct video *video, struct best *best) {
    if (seek(video, video->start) < 0) return false;
    bool is_at_end = false;
    for (int frames = 0, packets = 0; frames < MOST_FRAMES && packets < MOST_PACKETS;) {
        int result = avcodec_receive_frame(video->codec, video->frame);
        if (result >= 0) {
            frames++;
            if (!is_damaged(video->frame) && is_good(video, best)) return true;
            continue;
        }
        if (result != AVERROR(EAGAIN) || is_at_end) return false;
        packets++;
        if (av_read_frame(video->format, video->packet) < 0) {
            is_at_end = true;
            avcodec_send_packet(video->codec, NULL);
            continue;
        }
        if (video->packet->stream_index == video->stream->index) avcodec_send_packet(video->codec, video->packet);
        av_packet_unref(video->packet);
    }
    return false;
}

static int choose_good(struct video *video) {
    static const double shares[] = {.1, .25, .4, .55, .7, .85, 0};
    // Where the duration is unknown.
    static const double seconds[] = {0, 1, 2, 5, 10, 20, 40};
    struct best best = {.frame = av_frame_alloc(), .contrast = -1};
    if (!best.frame) return AVERROR(ENOMEM);
    int error = AVERROR_INVALIDDATA;
    int64_t seen[sizeof shares / sizeof *shares];
    size_t count = 0;
    bool is_found = false;
    for (size_t i = 0; i < sizeof shares / sizeof *shares && !is_found; i++) {
        int64_t offset = video->duration > 0 ? (int64_t)((double)video->duration * shares[i])
                                             : (int64_t)(seconds[i] / av_q2d(video->stream->time_base));
        int result = decode_key_at(video, video->start + offset);
        if (result == AVERROR(ENOMEM)) {
            error = result;
            break;
        }
        if (result < 0) {
            if (error == AVERROR_INVALIDDATA) error = result;
            continue;
        }
        int64_t time = video->frame->best_effort_timestamp;
        bool is_known = false;
        for (size_t j = 0; j < count; j++) is_known = is_known || seen[j] == time;
        seen[count++] = time;
        is_found = !is_known && is_good(video, &best);
    }
    if (!is_found && best.contrast >= 0) is_found = find_good_frame(video, &best);
    if (!is_found && best.contrast >= 0) {
        av_frame_unref(video->frame);
        av_frame_move_ref(video->frame, best.frame);
        is_found = true;
    }
    av_frame_free(&best.frame);
    return is_found ? 0 : error;
}

int video_decode_near(struct video *video, int64_t time) {
    int error = decode_key_at(video, time);
    // A transport stream has no index: a search ends between two keyframes, and there may be none behind it.
    int64_t step = (int64_t)(1 / av_q2d(video->stream->time_base));
    for (int64_t back = step; error == AVERROR_EOF && has_no_index(video) && back <= 32 * step; back *= 2)
        error = decode_key_at(video, time - back);
    return error;
}

enum cameo_video_result video_choose(struct video *video, const struct cameo_video_wish *wish,
                                     struct cameo_video_frame *out) {
    int error;
    if (wish->place == VIDEO_AUTO) {
        error = choose_good(video);
    } else {
        double offset = wish->place == VIDEO_SHARE ? wish->position * (double)video->duration
                                                         : wish->position / av_q2d(video->stream->time_base);
        // Behind the end is the last keyframe.
        if (video->duration > 0 && offset > (double)video->duration) offset = (double)video->duration;
        if (offset > 4e18) offset = 4e18;
        error = video_decode_near(video, video->start + (int64_t)offset);
    }
    if (error >= 0) return VIDEO_FRAME;
    if (error == AVERROR_EOF && !video->has_packets && video->stream->nb_frames == 0) return VIDEO_NO_PICTURE;
    return video_failure(error, out);
}
