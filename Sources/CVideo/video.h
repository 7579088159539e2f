#pragma once
#include "CVideo.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

/// How coded frames are turned to be shown: whether rows become columns; then, what is reversed in the result.
struct orientation {
    bool is_transposed, flips_x, flips_y;
};

struct video {
    int fd;
    const char *demuxer;
    int64_t position, size;
    AVFormatContext *format;
    AVStream *stream;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    struct orientation orientation;
    /// In units of the stream; a duration of 0 is unknown.
    int64_t start, duration;
    /// Whether a packet was ever read of the stream.
    bool has_packets;
    /// Whether frames are made at most half as large, so that the edges of blocks need not be smoothed.
    bool is_shrunk;
};

/// Opens file, stream and decoder. Whatever it returns, `video_close` must follow.
enum cameo_video_result video_open(struct video *video, const struct cameo_video_wish *wish,
                                   struct cameo_video_frame *out);
void video_close(struct video *video);

/// Opens the file anew, at its beginning, for demuxers that cannot go back.
int video_rewind(struct video *video);

/// Whether the stream is a picture that belongs to the file: cover art.
bool video_is_cover(const AVStream *stream);

/// Decodes the frame that is wished for into `video->frame`.
enum cameo_video_result video_choose(struct video *video, const struct cameo_video_wish *wish,
                                     struct cameo_video_frame *out);

/// Whether pictures of the stream, as far as its headers tell its size, have at most half of its width and height.
bool video_shrinks(const struct video *video, const struct cameo_video_wish *wish);

/// Makes the picture of `video->frame`.
enum cameo_video_result video_picture(struct video *video, const struct cameo_video_wish *wish,
                                      struct cameo_video_frame *out);

/// The result that stands for an error of the libraries, whose text goes to `out->detail`.
enum cameo_video_result video_failure(int error, struct cameo_video_frame *out);
