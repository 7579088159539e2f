#include "video.h"

#include <libavutil/intreadwrite.h>
#include <libavutil/mathematics.h>
#include <stdlib.h>

// DESIGN: what libavformat does not tell of an MP4's tracks, or tells wrongly (ISO/IEC 14496-12): which are no pictures
// of the film, what is cut off the edges, and the edit list (8.6.6), by which a presentation is put together from parts
// of the media. libavformat keeps the common list: one edit that begins with the first frame and goes on to the last.
// Of any other, the file is opened again as if it had none, moments of the presentation become times of the media here,
// and frames that no edit covers are decoded for others, but not shown.

enum { MOST_TRACKS = 64, MOST_BOXES = 1 << 14, MOST_DEPTH = 8, MOST_EDITS = 1 << 12 };
// Thirty years, in seconds, are a forged number.
static const int64_t MOST_SECONDS = 1000000000;
// The end of an edit that goes on to that of the media, which only its packets may tell.
static const int64_t OPEN = INT64_MAX / 4;

struct track {
    int id;
    uint32_t flags, handler;
    bool has_aspect, has_colors, is_long;
    // A clean aperture: width, height and offsets of the middle, as fractions.
    int32_t clean[8];
    // The duration of the media, and when its first frame is shown.
    int64_t duration, first;
    // The edit list as it is in the file.
    uint8_t *edits;
    int edit_count;
};

struct movie {
    int units, count, boxes;
    struct track tracks[MOST_TRACKS];
};

static void walk(struct movie *movie, AVIOContext *io, int64_t end, int depth, struct track *track);

static void read_list(AVIOContext *io, int64_t end, bool is_long, struct track *track) {
    int bytes = is_long ? 20 : 12;
    int64_t most = FFMIN(MOST_EDITS, (end - avio_tell(io) - 4) / bytes), count = avio_rb32(io);
    count = FFMIN(count, most);
    if (count <= 0 || track->edits || !(track->edits = av_malloc((size_t)(count * bytes)))) return;
    int read = avio_read(io, track->edits, (int)count * bytes);
    track->edit_count = FFMAX(0, read) / bytes;
    track->is_long = is_long;
}

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
    if (type == MKBETAG('m', 'v', 'h', 'd')) {
        avio_skip(io, is_long ? 16 : 8);
        movie->units = (int)(avio_rb32(io) & INT_MAX);
    }
    if (!track) return;
    switch (type) {
    case MKBETAG('t', 'k', 'h', 'd'):
        track->flags = word;
        avio_skip(io, is_long ? 16 : 8);
        track->id = (int)avio_rb32(io);
        break;
    case MKBETAG('m', 'd', 'h', 'd'):
        avio_skip(io, is_long ? 20 : 12);
        number = is_long ? (int64_t)avio_rb64(io) : avio_rb32(io);
        track->duration = number < 0 || number > OPEN || (!is_long && number == UINT32_MAX) ? 0 : number;
        break;
    case MKBETAG('h', 'd', 'l', 'r'):
        // QuickTime has a second one, for the data.
        if (avio_rb32(io) != MKBETAG('d', 'h', 'l', 'r')) track->handler = avio_rb32(io);
        break;
    case MKBETAG('e', 'l', 's', 't'): read_list(io, end, is_long, track); break;
    case MKBETAG('c', 't', 't', 's'):
        // Fragments have their own.
        if (avio_rb32(io) == 0) break;
        avio_skip(io, 4);
        track->first = (int32_t)avio_rb32(io);
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
    for (int i = 0; video->movie && i < video->movie->count; i++) av_free(video->movie->tracks[i].edits);
    free(video->movie);
    free(video->edits);
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

// Finds the edits that show something.
static void find_edits(struct video *video, const struct track *track) {
    AVRational units = {1, FFMAX(1, video->movie->units)}, own = video->stream->time_base;
    // Durations are rounded to the movie's units: what is less before the end may be a frame that was cut off.
    int64_t sum = 0, unit = av_rescale_q(1, units, own);
    for (int i = 0; i < track->edit_count; i++) {
        const uint8_t *at = track->edits + i * (track->is_long ? 20 : 12);
        int64_t duration = track->is_long ? (int64_t)AV_RB64(at) : AV_RB32(at);
        int64_t media = track->is_long ? (int64_t)AV_RB64(at + 8) : (int32_t)AV_RB32(at + 4);
        int32_t rate = (int32_t)AV_RB32(at + (track->is_long ? 16 : 8));
        if (duration < 0 || duration > MOST_SECONDS * units.den - sum || media > OPEN) break;
        struct edit *edit = &video->edits[video->edit_count];
        bool is_open = duration == 0 && i == track->edit_count - 1;
        edit->start = av_rescale_q(sum, units, own);
        sum += duration;
        edit->duration = is_open ? OPEN : av_rescale_q(sum, units, own) - edit->start;
        // QuickTime has rates besides 0, a frame that stands still, and 1. None goes back.
        edit->rate = rate < 0 ? 1 : rate / 65536.0;
        edit->from = media;
        double length = (double)edit->duration * edit->rate - (double)unit;
        edit->to = is_open ? OPEN : media + (int64_t)av_clipd(length, 1, OPEN);
        if (media >= 0 && edit->duration > 0) video->edit_count++;
    }
}

// Whether libavformat shows what the list says.
static bool is_plain(const struct video *video, const struct track *track) {
    const struct edit *edit = video->edits;
    if (video->edit_count == 0) return true;
    if (video->edit_count > 1 || edit->rate != 1 || edit->from > track->first) return false;
    int64_t second = video->stream->time_base.den, unit = second / FFMAX(1, video->movie->units) + 1;
    return edit->to == OPEN || track->duration == 0 ||
           (edit->to + 2 * unit >= track->duration && edit->to - edit->from <= track->duration + second / 2);
}

int video_take_track(struct video *video) {
    const struct track *track = track_of(video, video->stream);
    if (!track) return 0;
    video->has_own_colors = track->has_colors;
    cut_edges(video, track);
    video->edits = calloc((size_t)track->edit_count + 1, sizeof *video->edits);
    if (!video->edits) return AVERROR(ENOMEM);
    find_edits(video, track);
    if (is_plain(video, track)) video->edit_count = 0;
    return 0;
}

void video_span_edits(struct video *video, int64_t end) {
    struct edit *last = &video->edits[video->edit_count - 1];
    const struct track *track = track_of(video, video->stream);
    if (end <= 0 && track->duration > 0) end = track->first + track->duration;
    else if (end <= 0) end = FFMAX(video->first, last->from) + FFMAX(0, video->stream->duration);
    if (last->to == OPEN && end > last->from) last->duration = end - last->from;
    video->start = video->edits->start;
    video->duration = last->duration < OPEN ? last->start + last->duration - video->start : 0;
}

int64_t video_edited(struct video *video, int64_t moment, bool *is_held) {
    *is_held = false;
    if (video->edit_count == 0) return moment;
    const struct edit *edit = video->edits, *last = edit + video->edit_count - 1;
    while (edit < last && edit[1].start <= moment) edit++;
    video->edit = edit;
    int64_t offset = av_clip64(moment - edit->start, 0, edit->duration);
    // Between edits, the last frame stays.
    *is_held = edit->rate == 0 || (offset == edit->duration && edit < last);
    return FFMIN(edit->from + (int64_t)FFMIN((double)offset * edit->rate, (double)OPEN), edit->to - 1);
}

int64_t video_presented(const struct video *video, int64_t time) {
    const struct edit *edit = video->edit;
    if (!edit || time == AV_NOPTS_VALUE) return time;
    double offset = edit->rate > 0 ? (double)(time - edit->from) / edit->rate : 0;
    return edit->start + (int64_t)av_clipd(offset, 0, (double)edit->duration - 1);
}

bool video_is_cut(const struct video *video, int64_t time) {
    return video->edit && (time < video->edit->from || time >= video->edit->to);
}
