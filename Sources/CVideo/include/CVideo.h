// One frame of a video, by libavformat, libavcodec and libswscale. These are C because the libraries' interfaces are
// structures of pointers and macros, which Swift sees only in part.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What a frame may be, and which one is wanted.
struct cameo_video_wish {
    /// The demuxer by libavformat's name. No other is tried.
    const char *demuxer;
    /// The decoders that may be used, by libavcodec's names, with commas between: of videos; and of covers, which are all.
    const char *decoders, *cover_decoders;
    enum { VIDEO_AUTO, VIDEO_SECONDS, VIDEO_SHARE, VIDEO_COVER } place;
    /// Seconds from the beginning, or a share of the duration from 0 to 1.
    double position;
    /// Whether the frame that is shown at the position is wanted, not the nearest keyframe.
    bool is_exact;
    /// Replaces the size of an upright frame with square pixels by the size of the picture to make of it.
    void (*fit)(const void *context, int *width, int *height);
    const void *context;
    /// If not 0, the video is divided into this many equal spans, or into fewer of `interval` seconds if that is enough,
    /// and each is shown by a frame. `place` and `position` then count nothing.
    int tiles;
    double interval;
    int64_t maximum_pixels;
    int maximum_edge;
    /// A frame whose picture would have more bytes is halved until it has fewer.
    size_t maximum_bytes;
    /// Whether the file's holes are bytes that are still missing, not zeros.
    bool has_holes;
};

/// What a cover shows, the best first: the front; what is not told; something else, as the back or the artist; an icon.
enum cameo_video_cover { COVER_NONE, COVER_FRONT, COVER_OTHER, COVER_ADDITIONAL, COVER_ICON };

/// What became of it.
enum cameo_video_result {
    VIDEO_FRAME,
    /// The file is damaged or truncated.
    VIDEO_CORRUPT,
    /// There is no video in the file.
    VIDEO_NO_PICTURE,
    /// There is one, in a codec that is not decoded.
    VIDEO_UNSUPPORTED_CODEC,
    /// There is one, and no key here opens it.
    VIDEO_ENCRYPTED,
    VIDEO_TOO_LARGE,
    VIDEO_OUT_OF_MEMORY,
    /// Bytes were needed that are missing.
    VIDEO_BYTES_MISSING,
};

/// The most places that are reported at once.
enum { VIDEO_MOST_MISSING = 64 };

struct cameo_video_frame {
    /// A PNG without compression, 8 bits a channel or, for HDR, 16; the caller frees it. Several frames stand one below
    /// the other. The chunk caMo has the width and height of a frame of the video, and the number of frames.
    uint8_t *png;
    size_t byte_count;
    int frames;
    /// Of a frame in the picture.
    int png_width, png_height;
    /// Of a frame of the video: upright, with square pixels.
    int width, height;
    /// The moment that is shown, in seconds from the file's beginning; negative if it is unknown, as that of a cover.
    double time;
    /// Of the file in seconds; 0 if it is unknown.
    double duration;
    /// How it is turned to be shown, clockwise in degrees: 0, 90, 180 or 270.
    int rotation;
    bool has_audio;
    enum cameo_video_cover cover;
    /// The decoder by libavcodec's name; of what is not decoded, the codec.
    char codec[32];
    /// An explanation by libavcodec, possibly empty.
    char detail[128];
    /// The offsets of the first bytes that were missing: one, or for several frames one each.
    int64_t missing[VIDEO_MOST_MISSING];
    int missing_count;
};

/// Decodes one frame of the file. `frame` is filled in as far as it is known even if there is none.
enum cameo_video_result cameo_video_frame(int fd, const struct cameo_video_wish *wish, struct cameo_video_frame *frame);

/// The version of libavcodec, such as 59.37.100.
const char *cameo_video_version(void);

/// Silences the libraries' log. Called once.
void cameo_video_start(void);
