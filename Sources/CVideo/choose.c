#include "video.h"

#include <math.h>
#include <stdlib.h>

// DESIGN: where several key frames could serve, the first that shows something is taken; of one that may be part of a fade,
// what follows is read, too, and decoded if it is large.

// More than a mixture of two scenes has, or a dark scene rather than black.
enum { SURE_CONTRAST = 165, DARK_CONTRAST = 12, MOST_FADES = 3 };

struct best {
    AVFrame *frame;
    const struct edit *edit;
    int contrast, fades;
};

// Returns whether the frame just decoded is good; else keeps it if it is the best so far. Of frames in order, one that
// shows more than all before may be part of a fade.
static bool is_good(struct video *video, struct best *best, bool is_key) {
    uint8_t points[VIDEO_GRID][VIDEO_GRID];
    int found = video_contrast(video->frame, points);
    bool is_doubtful = is_key && found >= VIDEO_GOOD_CONTRAST && found < SURE_CONTRAST && best->fades < MOST_FADES;
    if (is_doubtful && video_is_fading(video, *points)) found /= 4, best->fades++;
    if (found >= VIDEO_GOOD_CONTRAST && (is_key || found <= best->contrast + 1)) return true;
    if (found > best->contrast) {
        best->contrast = found;
        best->edit = video->edit;
        av_frame_unref(best->frame);
        av_frame_move_ref(best->frame, video->frame);
    }
    return false;
}

// Decodes one frame after the other from the beginning, without those that no other needs; few if something is shown.
static bool find_good_frame(struct video *video, struct best *best) {
    bool is_held;
    if (video_seek_before(video, video_edited(video, video->start, &is_held)) < 0) return false;
    video->codec->skip_loop_filter = video->is_shrunk ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
    video->codec->skip_frame = AVDISCARD_NONREF;
    bool is_at_end = false;
    int most = best->contrast < DARK_CONTRAST ? VIDEO_MOST_FRAMES : VIDEO_MOST_FRAMES / 6;
    for (int packets = 0; packets < most;) {
        int result = avcodec_receive_frame(video->codec, video->frame);
        if (result >= 0) {
            // What follows may be cut off by edits.
            bool is_cut = video_is_cut(video, video->frame->best_effort_timestamp);
            if (!video_is_damaged(video->frame) && !is_cut && is_good(video, best, false)) return true;
            continue;
        }
        if (result != AVERROR(EAGAIN) || is_at_end) return false;
        packets++;
        if (video_read_packet(video) < 0) {
            is_at_end = true;
            avcodec_send_packet(video->codec, NULL);
            continue;
        }
        avcodec_send_packet(video->codec, video->packet);
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
        int64_t moment = video->start + offset;
        int result = video->edit_count > 0 ? video_decode_near(video, moment) : video_decode_key_at(video, moment);
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
        if (!is_known) seen[count++] = time;
        is_found = !is_known && is_good(video, &best, true);
    }
    bool is_dark = count > 2 && best.contrast >= DARK_CONTRAST, is_open = error != AVERROR(ENOMEM) && !video->is_blocked;
    if (!is_found && !is_dark && is_open) is_found = find_good_frame(video, &best);
    if (!is_found && best.contrast >= 0) {
        av_frame_unref(video->frame);
        av_frame_move_ref(video->frame, best.frame);
        video->edit = best.edit;
        is_found = true;
    }
    av_frame_free(&best.frame);
    return is_found ? 0 : error;
}

static int choose_at(struct video *video, const struct cameo_video_wish *wish) {
    if (wish->place == VIDEO_SHARE && video->whole <= 0) video_measure(video, true);
    double offset = wish->place == VIDEO_SHARE ? wish->position * (double)video->whole
                                               : wish->position / av_q2d(video->stream->time_base);
    if (offset > 4e18) offset = 4e18;
    // A tenth of a second may be a little less than a whole number of units.
    int64_t time = video->origin + (int64_t)floor(offset + 0.001), end = video->start + video->duration;
    // Behind the end is the last frame. Some files declare an end that is too early.
    bool is_last = wish->place == VIDEO_SHARE && wish->position >= 1;
    int64_t place = video->duration > 0 && time > end ? end : time;
    if (wish->is_exact && video->edit_count > 0) return video_decode_exact(video, time);
    if (wish->is_exact) return video_decode_shown_at(video, place, is_last ? INT64_MAX : time);
    return video_decode_near(video, place);
}

enum cameo_video_result video_choose(struct video *video, const struct cameo_video_wish *wish,
                                     struct cameo_video_frame *out) {
    bool is_cover = video_is_cover(video->stream);
    // Matroska and fragments do not say when the first frame is shown.
    if (!is_cover && video->stream->start_time == AV_NOPTS_VALUE) video_measure(video, false);
    int error = is_cover                    ? video_decode_alone(video, &video->stream->attached_pic)
                : wish->place == VIDEO_AUTO ? choose_good(video)
                                            : choose_at(video, wish);
    if (out->duration <= 0 || video->edit_count > 0)
        out->duration = (double)video->whole * av_q2d(video->stream->time_base);
    if (!(out->duration < 1e9)) out->duration = 0;
    int64_t shown = error < 0 ? AV_NOPTS_VALUE : video_presented(video, video->frame->best_effort_timestamp);
    out->time = is_cover || shown == AV_NOPTS_VALUE ? -1
                : shown < video->origin            ? 0
                                                   : (double)(shown - video->origin) * av_q2d(video->stream->time_base);
    if (error >= 0) return VIDEO_FRAME;
    if (error == AVERROR_EOF && !video->has_packets && !is_cover && video->stream->nb_frames == 0)
        return VIDEO_NO_PICTURE;
    return video_failure(error, out);
}
