#define _GNU_SOURCE // SEEK_DATA
#include "video.h"

#include <errno.h>
#include <unistd.h>

// DESIGN: the file is read through a descriptor only, by functions of ours. libavformat gets no name and no protocol,
// the demuxer is chosen by Cameo's own look at the first bytes, and every request for a second file is refused: no
// playlist, no data reference and no nested format can reach another file or an address.

enum { BUFFER = 1 << 15 };

// The number of bytes that can be read at the reader's position, at most `count`; 0 at the end of the file, -1 in a hole.
static int64_t count_present(struct video *video, int64_t count) {
    if (video->position >= video->size) return 0;
    off_t data = lseek(video->fd, video->position, SEEK_DATA);
    if (data != video->position) return -1;
    off_t hole = lseek(video->fd, video->position, SEEK_HOLE);
    return hole > data && hole - data < count ? hole - data : count;
}

static int read_source(void *opaque, uint8_t *bytes, int count) {
    struct video *video = opaque;
    if (video->is_blocked) return AVERROR(EIO);
    if (video->has_holes) {
        int64_t present = count_present(video, count);
        if (present < 0) {
            if (video->missing_count < VIDEO_MOST_MISSING) video->missing[video->missing_count++] = video->position;
            video->is_blocked = true;
            return AVERROR(EIO);
        }
        count = (int)present;
        if (count == 0) return AVERROR_EOF;
    }
    ssize_t result;
    do result = pread(video->fd, bytes, (size_t)count, video->position);
    while (result < 0 && errno == EINTR);
    if (result <= 0) return result == 0 ? AVERROR_EOF : AVERROR(errno);
    video->position += result;
    return (int)result;
}

static int64_t seek_source(void *opaque, int64_t offset, int whence) {
    struct video *video = opaque;
    if (whence & AVSEEK_SIZE) return video->size;
    switch (whence & ~AVSEEK_FORCE) {
    case SEEK_SET: break;
    case SEEK_CUR: offset += video->position; break;
    case SEEK_END: offset += video->size; break;
    default: return AVERROR(EINVAL);
    }
    if (offset < 0) return AVERROR(EINVAL);
    return video->position = offset;
}

static int open_nothing(AVFormatContext *format, AVIOContext **io, const char *url, int flags, AVDictionary **options) {
    (void)format, (void)io, (void)url, (void)flags, (void)options;
    return AVERROR(EPERM);
}

AVIOContext *video_open_reader(struct video *video) {
    uint8_t *buffer = av_malloc(BUFFER);
    AVIOContext *io = buffer ? avio_alloc_context(buffer, BUFFER, 0, video, read_source, NULL, seek_source) : NULL;
    if (!io) av_free(buffer);
    return io;
}

void video_close_reader(AVIOContext *io) {
    if (io) av_freep(&io->buffer);
    avio_context_free(&io);
}

int video_open_format(struct video *video) {
    const AVInputFormat *demuxer = av_find_input_format(video->demuxer);
    if (!demuxer) return AVERROR_DEMUXER_NOT_FOUND;
    AVIOContext *io = video_open_reader(video);
    if (!io) return AVERROR(ENOMEM);
    AVFormatContext *format = avformat_alloc_context();
    if (format) {
        format->pb = io;
        format->flags |= AVFMT_FLAG_CUSTOM_IO;
        format->io_open = open_nothing;
        format->format_whitelist = av_strdup(demuxer->name);
        format->codec_whitelist = av_strdup(video->decoders[true]);
        format->protocol_whitelist = av_strdup("");
    }
    AVDictionary *options = NULL;
    if (video->edit_count > 0) av_dict_set(&options, "ignore_editlist", "1", 0);
    // Frees the context, but not our reader, if it fails.
    int error = format ? avformat_open_input(&format, NULL, demuxer, &options) : AVERROR(ENOMEM);
    av_dict_free(&options);
    if (error < 0) {
        video_close_reader(io);
        return error;
    }
    video->format = format;
    return 0;
}

void video_close_format(AVFormatContext *format) {
    if (!format) return;
    AVIOContext *io = format->pb;
    avformat_close_input(&format);
    video_close_reader(io);
}

int video_rewind(struct video *video) {
    unsigned index = (unsigned)video->stream->index;
    AVFormatContext *old = video->format;
    video->position = 0;
    int error = video_open_format(video);
    if (error >= 0 && index >= video->format->nb_streams) error = AVERROR_INVALIDDATA;
    if (error < 0) {
        if (video->format != old) video_close_format(video->format);
        video->format = old;
        return error;
    }
    // What was read of the file besides.
    AVRational ratio = video->stream->sample_aspect_ratio;
    video_close_format(old);
    for (unsigned i = 0; i < video->format->nb_streams; i++)
        if (i != index) video->format->streams[i]->discard = AVDISCARD_ALL;
    video->stream = video->format->streams[index];
    video->stream->sample_aspect_ratio = ratio;
    return 0;
}

enum cameo_video_result video_failure(int error, struct cameo_video_frame *out) {
    if (error == AVERROR(ENOMEM)) return VIDEO_OUT_OF_MEMORY;
    av_strerror(error, out->detail, sizeof out->detail);
    return VIDEO_CORRUPT;
}
