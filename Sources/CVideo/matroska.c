#include "video.h"

#include <string.h>

// DESIGN: which edges of a video in Matroska are cut off before it is shown (RFC 9559), of which libavformat tells only
// from FFmpeg 7.1 on. Elements are walked in their order, and into those alone that lead to numbers, so that no end is
// remembered but that of the tracks.

enum {
    SEGMENT = 0x18538067, SEEK_HEAD = 0x114D9B74, SEEK = 0x4DBB, SEEK_ID = 0x53AB, SEEK_POSITION = 0x53AC,
    CLUSTER = 0x1F43B675, TRACKS = 0x1654AE6B, TRACK_ENTRY = 0xAE, VIDEO = 0xE0,
    VIDEO_TRACK = 1, UNKNOWN_UNIT = 4, MOST_ELEMENTS = 4096,
};
// The numbers of a track, and their elements. The crop is of each edge, the display of what is left.
enum { TYPE, WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM, DISPLAY_WIDTH, DISPLAY_HEIGHT, DISPLAY_UNIT, NUMBERS };
static const int elements[NUMBERS] = {0x83, 0xB0, 0xBA, 0x54CC, 0x54BB, 0x54DD, 0x54AA, 0x54B0, 0x54BA, 0x54B2};

// A number of as many bytes as its first byte says, which in a size is not part of it; -1 if there is none. What has no
// known size has all bits set (RFC 8794, 4 and 6.2).
static int64_t variable(AVIOContext *io, int most, bool is_size) {
    int first = avio_r8(io), bytes = 1;
    while (bytes <= most && !(first & 0x80 >> (bytes - 1))) bytes++;
    if (bytes > most || avio_feof(io)) return -1;
    int64_t value = is_size ? first & (0x7F >> (bytes - 1)) : first;
    for (int i = 1; i < bytes; i++) value = value << 8 | avio_r8(io);
    return is_size && value == (1ll << 7 * bytes) - 1 ? INT64_MAX : value;
}

// Finds the numbers of the video track of that place among them.
static bool find_track(AVIOContext *io, int place, int64_t numbers[NUMBERS]) {
    int64_t segment = 0, sought = 0, tracks = -1, end = INT64_MAX;
    for (int i = 0; i < MOST_ELEMENTS && avio_tell(io) < end; i++) {
        int64_t id = variable(io, 4, false), size = variable(io, 8, true), begin = avio_tell(io), value = 0;
        if (id < 0 || size < 0) break;
        if (id == SEGMENT) segment = begin;
        if (id == TRACKS && size < INT64_MAX - begin) end = begin + size;
        if (id == TRACK_ENTRY) {
            if (numbers[TYPE] == VIDEO_TRACK && place-- == 0) return true;
            memset(numbers, 0, NUMBERS * sizeof *numbers);
        }
        // The tracks may follow what they describe.
        if (id == CLUSTER && (tracks < 0 || avio_seek(io, tracks, SEEK_SET) < 0)) break;
        if (id == CLUSTER) tracks = -1;
        if (id == SEGMENT || id == SEEK_HEAD || id == SEEK || id == TRACKS || id == TRACK_ENTRY || id == VIDEO ||
            id == CLUSTER)
            continue;
        // What does not fit is beyond all limits.
        for (int64_t left = size <= 8 ? size : 0; left > 0; left--)
            value = FFMIN(value, INT64_MAX >> 8) << 8 | avio_r8(io);
        for (int number = 0; number < NUMBERS; number++)
            if (id == elements[number]) numbers[number] = value;
        if (id == SEEK_ID) sought = value;
        if (id == SEEK_POSITION && sought == TRACKS && value < INT64_MAX - segment) tracks = segment + value;
        if (size > INT64_MAX - begin || (size > 8 && avio_seek(io, begin + size, SEEK_SET) < 0)) break;
    }
    return numbers[TYPE] == VIDEO_TRACK && place == 0;
}

void video_read_matroska(struct video *video) {
    const AVCodecParameters *coded = video->stream->codecpar;
    int place = 0;
    for (int i = 0; i < video->stream->index; i++)
        place += video->format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
    int64_t position = video->position, n[NUMBERS] = {0};
    video->position = 0;
    AVIOContext *io = video_open_reader(video);
    bool is_found = io && find_track(io, place, n) && n[WIDTH] == coded->width && n[HEIGHT] == coded->height;
    video_close_reader(io);
    video->position = position;
    for (int i = LEFT; i <= DISPLAY_HEIGHT; i++) is_found = is_found && n[i] <= INT_MAX;
    int64_t width = n[WIDTH] - n[LEFT] - n[RIGHT], height = n[HEIGHT] - n[TOP] - n[BOTTOM];
    if (!is_found || width < 1 || height < 1 || (width == n[WIDTH] && height == n[HEIGHT])) return;
    video->aperture = (struct aperture){(int)n[LEFT], (int)n[TOP], (int)n[RIGHT], (int)n[BOTTOM]};
    // Where no shape is named, pixels are square.
    int64_t across = n[DISPLAY_WIDTH] ? n[DISPLAY_WIDTH] : width, down = n[DISPLAY_HEIGHT] ? n[DISPLAY_HEIGHT] : height;
    AVRational *ratio = &video->stream->sample_aspect_ratio;
    if (n[DISPLAY_UNIT] < UNKNOWN_UNIT) av_reduce(&ratio->num, &ratio->den, across * height, down * width, INT_MAX);
}
