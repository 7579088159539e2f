#include "video.h"

// DESIGN: what libavformat does not tell of a video in Matroska (RFC 9559), or only from FFmpeg 7.1 on: which edges are cut
// off before it is shown. Elements are walked in the order of the file, and into those alone that lead to a track's
// numbers, so that no end has to be remembered but that of the tracks.

enum {
    SEGMENT = 0x18538067, SEEK_HEAD = 0x114D9B74, SEEK = 0x4DBB, SEEK_ID = 0x53AB, SEEK_POSITION = 0x53AC,
    CLUSTER = 0x1F43B675, TRACKS = 0x1654AE6B, TRACK_ENTRY = 0xAE, TRACK_TYPE = 0x83, VIDEO = 0xE0,
    PIXEL_WIDTH = 0xB0, PIXEL_HEIGHT = 0xBA, CROP_BOTTOM = 0x54AA, CROP_TOP = 0x54BB, CROP_LEFT = 0x54CC,
    CROP_RIGHT = 0x54DD, DISPLAY_WIDTH = 0x54B0, DISPLAY_HEIGHT = 0x54BA, DISPLAY_UNIT = 0x54B2,
    VIDEO_TRACK = 1, UNKNOWN_UNIT = 4,
    MOST_ELEMENTS = 4096,
};

struct track {
    uint64_t type, width, height, left, top, right, bottom, display_width, display_height, display_unit;
};

// A number of as many bytes as its first byte says, which in a size is not part of it; -1 if there is none. What is of no
// known size has all its bits set (RFC 8794, 4 and 6.2).
static int64_t variable(AVIOContext *io, int most, bool is_size) {
    int first = avio_r8(io), bytes = 1;
    while (bytes <= most && !(first & 0x80 >> (bytes - 1))) bytes++;
    if (bytes > most || avio_feof(io)) return -1;
    uint64_t value = (uint64_t)(is_size ? first & (0x7F >> (bytes - 1)) : first);
    for (int i = 1; i < bytes; i++) value = value << 8 | (uint64_t)avio_r8(io);
    return is_size && value == (1ull << 7 * bytes) - 1 ? INT64_MAX : (int64_t)value;
}

static uint64_t *number_of(struct track *track, int64_t id) {
    switch (id) {
    case TRACK_TYPE: return &track->type;
    case PIXEL_WIDTH: return &track->width;
    case PIXEL_HEIGHT: return &track->height;
    case CROP_LEFT: return &track->left;
    case CROP_TOP: return &track->top;
    case CROP_RIGHT: return &track->right;
    case CROP_BOTTOM: return &track->bottom;
    case DISPLAY_WIDTH: return &track->display_width;
    case DISPLAY_HEIGHT: return &track->display_height;
    case DISPLAY_UNIT: return &track->display_unit;
    default: return NULL;
    }
}

// Finds the video track of that place among them.
static bool find_track(AVIOContext *io, int place, struct track *track) {
    int64_t segment = 0, tracks = -1, end = INT64_MAX;
    uint64_t sought = 0;
    *track = (struct track){0};
    for (int i = 0; i < MOST_ELEMENTS && avio_tell(io) < end; i++) {
        int64_t id = variable(io, 4, false), size = variable(io, 8, true), begin = avio_tell(io);
        if (id < 0 || size < 0) break;
        if (id == SEGMENT) segment = begin;
        if (id == TRACKS && size < INT64_MAX - begin) end = begin + size;
        if (id == TRACK_ENTRY) {
            if (track->type == VIDEO_TRACK && place-- == 0) return true;
            *track = (struct track){0};
        }
        if (id == SEGMENT || id == SEEK_HEAD || id == SEEK || id == TRACKS || id == TRACK_ENTRY || id == VIDEO) continue;
        if (id == CLUSTER) {
            // The tracks may follow what they describe.
            if (tracks < 0 || end < INT64_MAX || avio_seek(io, tracks, SEEK_SET) < 0) break;
            tracks = -1;
            continue;
        }
        uint64_t value = 0, *number = number_of(track, id);
        for (int64_t left = size <= 8 ? size : 0; left > 0; left--) value = value << 8 | (uint64_t)avio_r8(io);
        if (number) *number = value;
        if (id == SEEK_ID) sought = value;
        if (id == SEEK_POSITION && sought == TRACKS && value < INT64_MAX / 2) tracks = segment + (int64_t)value;
        if (size > INT64_MAX - begin || (size > 8 && avio_seek(io, begin + size, SEEK_SET) < 0)) break;
    }
    return track->type == VIDEO_TRACK && place == 0;
}

// What is shown is what is left, in the shape that is named; without a name, its pixels are square (5.1.4.1.28).
static void apply(struct video *video, const struct track *track) {
    const AVCodecParameters *coded = video->stream->codecpar;
    uint64_t across = track->left + track->right, down = track->top + track->bottom;
    if (track->left > INT_MAX || track->right > INT_MAX || track->top > INT_MAX || track->bottom > INT_MAX) return;
    if (across + down == 0 || across >= track->width || down >= track->height) return;
    if (track->width != (uint64_t)coded->width || track->height != (uint64_t)coded->height) return;
    video->aperture = (struct aperture){(int)track->left, (int)track->top, (int)track->right, (int)track->bottom};
    int64_t width = (int64_t)(track->width - across), height = (int64_t)(track->height - down);
    uint64_t shown_width = track->display_width ? track->display_width : (uint64_t)width;
    uint64_t shown_height = track->display_height ? track->display_height : (uint64_t)height;
    if (track->display_unit >= UNKNOWN_UNIT || shown_width > INT_MAX || shown_height > INT_MAX) return;
    AVRational *ratio = &video->stream->sample_aspect_ratio;
    av_reduce(&ratio->num, &ratio->den, (int64_t)shown_width * height, (int64_t)shown_height * width, INT_MAX);
}

void video_read_matroska(struct video *video) {
    int place = 0;
    for (int i = 0; i < video->stream->index; i++) {
        const AVStream *stream = video->format->streams[i];
        place += stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !video_is_cover(stream);
    }
    int64_t position = video->position;
    video->position = 0;
    AVIOContext *io = video_open_reader(video);
    struct track track;
    if (io && find_track(io, place, &track)) apply(video, &track);
    video_close_reader(io);
    video->position = position;
}
