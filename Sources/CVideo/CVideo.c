#include "video.h"

#include <stdlib.h>
#include <string.h>

// The entry points.

void cameo_video_start(void) {
    av_log_set_level(AV_LOG_QUIET);
}

const char *cameo_video_version(void) {
    static char text[32];
    unsigned version = avcodec_version();
    snprintf(text, sizeof text, "%u.%u.%u", AV_VERSION_MAJOR(version), AV_VERSION_MINOR(version),
             AV_VERSION_MICRO(version));
    return text;
}

enum cameo_video_result cameo_video_frame(int fd, const struct cameo_video_wish *wish, struct cameo_video_frame *frame) {
    struct video video = {.fd = fd, .has_holes = wish->has_holes};
    memset(frame, 0, sizeof *frame);
    enum cameo_video_result result = video_open(&video, wish, frame);
    if (result == VIDEO_FRAME && wish->tiles > 0 && !video_is_cover(video.stream)) {
        result = video_roll(&video, wish, frame);
    } else if (result == VIDEO_FRAME) {
        result = video_choose(&video, wish, frame);
        if (result == VIDEO_FRAME) result = video_picture(&video, wish, frame);
    }
    if (video.is_encrypted && result != VIDEO_FRAME) result = VIDEO_ENCRYPTED;
    video_close(&video);
    if (video.missing_count > 0) {
        // Whatever was made without them may be wrong.
        free(frame->png);
        frame->png = NULL;
        memcpy(frame->missing, video.missing, sizeof video.missing);
        frame->missing_count = video.missing_count;
        return VIDEO_BYTES_MISSING;
    }
    return result;
}
