#pragma once
#include "CVideo.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

struct video {
    int fd;
    int64_t position, size;
    AVFormatContext *format;
    AVStream *stream;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    /// In units of the stream; a duration of 0 is unknown.
    int64_t start, duration;
    /// Whether a packet was ever read of the stream.
    bool has_packets;
};

/// Opens file, stream and decoder. Whatever it returns, `video_close` must follow.
enum cameo_video_result video_open(struct video *video, const struct cameo_video_wish *wish,
                                   struct cameo_video_frame *out);
void video_close(struct video *video);

/// Decodes the frame that is wished for into `video->frame`.
enum cameo_video_result video_choose(struct video *video, const struct cameo_video_wish *wish,
                                     struct cameo_video_frame *out);

/// Makes the picture of `video->frame`.
enum cameo_video_result video_picture(struct video *video, const struct cameo_video_wish *wish,
                                      struct cameo_video_frame *out);

/// The result that stands for an error of the libraries, whose text goes to `out->detail`.
enum cameo_video_result video_failure(int error, struct cameo_video_frame *out);
