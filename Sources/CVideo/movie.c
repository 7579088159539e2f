#include "video.h"

#include <stdlib.h>

// DESIGN: what libavformat does not tell of an MP4's tracks, or tells wrongly (ISO/IEC 14496-12): which are no pictures
// of the film, and what is cut off the edges.

enum { MOST_TRACKS = 64, MOST_BOXES = 1 << 14, MOST_DEPTH = 8 };

struct track {
    int id;
    uint32_t flags, handler;
    bool has_aspect, has_colors;
    // A clean aperture: width, height and offsets of the middle, as fractions.
    int32_t clean[8];
};

struct movie {
    int count, boxes;
    struct track tracks[MOST_TRACKS];
};

static void walk(struct movie *movie, AVIOContext *io, int64_t end, int depth, struct track *track);

static void read_box(struct movie *movie, AVIOContext *io, uint32_t type, int64_t end, int depth, struct track *track) {
    if (type == MKBETAG('t', 'r', 'a', 'k') && movie->count < MOST_TRACKS)
        return walk(movie, io, end, depth + 1, &movie->tracks[movie->count++]);
    if (track && (type == MKBETAG('e', 'd', 't', 's') || type == MKBETAG('m', 'd', 'i', 'a') ||
                  type == MKBETAG('m', 'i', 'n', 'f') || type == MKBETAG('s', 't', 'b', 'l')))
        return walk(movie, io, end, depth + 1, track);
    // Of most boxes, version and flags: from version 1 on, times have 64 bits.
    uint32_t word = avio_rb32(io);
    bool is_long = word >> 24 > 0;
    int64_t number;
    if (!track) return;
    switch (type) {
    case MKBETAG('t', 'k', 'h', 'd'):
        track->flags = word;
        avio_skip(io, is_long ? 16 : 8);
        track->id = (int)avio_rb32(io);
        break;
    case MKBETAG('h', 'd', 'l', 'r'):
        // QuickTime has a second one, for the data.
        if (avio_rb32(io) != MKBETAG('d', 'h', 'l', 'r')) track->handler = avio_rb32(io);
        break;
    case MKBETAG('s', 't', 's', 'd'):
        // The first entry, whose boxes follow its numbers (12.1.3).
        avio_skip(io, 4);
        number = avio_tell(io) + (int64_t)avio_rb32(io);
        avio_skip(io, 82);
        walk(movie, io, FFMIN(end, number), depth + 1, track);
        break;
    case MKBETAG('p', 'a', 's', 'p'): track->has_aspect = word > 0 && avio_rb32(io) > 0; break;
    case MKBETAG('c', 'o', 'l', 'r'):
        track->has_colors = word == MKBETAG('n', 'c', 'l', 'x') || word == MKBETAG('n', 'c', 'l', 'c');
        break;
    case MKBETAG('c', 'l', 'a', 'p'):
        for (int i = 0; i < 8; i++) track->clean[i] = (int32_t)(i == 0 ? word : avio_rb32(io));
        break;
    default: break;
    }
}

static void walk(struct movie *movie, AVIOContext *io, int64_t end, int depth, struct track *track) {
    while (movie->boxes++ < MOST_BOXES && depth < MOST_DEPTH) {
        int64_t begin = avio_tell(io), size = avio_rb32(io);
        uint32_t type = avio_rb32(io);
        if (size == 1) size = (int64_t)avio_rb64(io);
        if (size == 0) size = INT64_MAX;
        if (avio_feof(io) || avio_tell(io) > end || size < avio_tell(io) - begin) return;
        int64_t next = size < end - begin ? begin + size : end;
        bool is_movie = depth == 0 && type == MKBETAG('m', 'o', 'o', 'v');
        if (is_movie) walk(movie, io, next, 1, NULL);
        if (depth > 0) read_box(movie, io, type, next, depth, track);
        if (is_movie || next >= end || avio_seek(io, next, SEEK_SET) < 0) return;
    }
}

int video_read_movie(struct video *video) {
    int64_t position = video->position;
    video->position = 0;
    AVIOContext *io = video_open_reader(video);
    video->movie = calloc(1, sizeof *video->movie);
    if (io && video->movie) walk(video->movie, io, video->size, 0, NULL);
    video_close_reader(io);
    video->position = position;
    return video->movie ? 0 : AVERROR(ENOMEM);
}

void video_close_movie(struct video *video) {
    free(video->movie);
}

static const struct track *track_of(const struct video *video, const AVStream *stream) {
    for (int i = 0; video->movie && i < video->movie->count; i++)
        if (video->movie->tracks[i].id == stream->id) return &video->movie->tracks[i];
    return NULL;
}

bool video_is_aside(const struct video *video, const AVStream *stream) {
    const struct track *track = track_of(video, stream);
    bool is_aside = track && track->handler == MKBETAG('a', 'u', 'x', 'v');
    // For previews alone (8.3.2).
    for (int i = 0; track && (track->flags & 6) == 4 && i < video->movie->count; i++) {
        const struct track *other = &video->movie->tracks[i];
        is_aside = is_aside || (other->handler == track->handler && other->flags & 1 && (other->flags & 6) != 4);
    }
    return is_aside;
}

// The edges that a clean aperture leaves out (12.1.4): its size, and how far its middle is from that of the frame.
static void cut_edges(struct video *video, const struct track *track) {
    double size[2], from[2], whole[2] = {video->stream->codecpar->width, video->stream->codecpar->height};
    for (int i = 0; i < 2; i++) {
        const int32_t *sizes = track->clean + 2 * i, *offsets = sizes + 4;
        size[i] = (double)sizes[0] / sizes[1];
        from[i] = (whole[i] - size[i]) / 2 + (double)offsets[0] / offsets[1];
        if (!(size[i] >= 1 && from[i] > -1 && from[i] + size[i] < whole[i] + 1)) return;
    }
    int left = (int)(from[0] + 0.5), top = (int)(from[1] + 0.5);
    video->aperture = (struct aperture){left, top, FFMAX(0, (int)(whole[0] - left - size[0] + 0.5)),
                                        FFMAX(0, (int)(whole[1] - top - size[1] + 0.5))};
    // libavformat takes the size of the aperture for the shape of pixels.
    if (!track->has_aspect) video->stream->sample_aspect_ratio = (AVRational){0, 1};
}

int video_take_track(struct video *video) {
    const struct track *track = track_of(video, video->stream);
    if (!track) return 0;
    video->has_own_colors = track->has_colors;
    cut_edges(video, track);
    return 0;
}
