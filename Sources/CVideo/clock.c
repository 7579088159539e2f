#include "video.h"

#include <libavutil/intreadwrite.h>
#include <libavutil/mathematics.h>
#include <stdlib.h>
#include <string.h>

// DESIGN: the clock of a transport stream may jump, as where one recording follows another; time is then counted from
// jump to jump. A jump is looked for between two places of the file where it says that more or less time passes than
// elsewhere, then between their middle and each, down to two packets that follow each other. So a stream that has none
// costs the reading of a few places.

enum { PLACES = 16, PACKET = 188, SUM = 16, SECOND = 90000, MOST_STEPS = 1 << 19, MOST_STEPS_AT_ONCE = 1 << 12 };

// Where a packet of the stream begins, and when it is decoded, in 33 bits (ISO/IEC 13818-1, 2.4.3.7).
struct mark {
    int64_t place, clock;
};

struct scan {
    AVIOContext *io;
    int id, steps;
    // How long a packet is shown; the time that usually passes between two places, and how far these are apart.
    int64_t packet, usual, step;
    struct piece pieces[VIDEO_MOST_PIECES];
    int count;
};

static int64_t between(int64_t from, int64_t to) {
    return (int64_t)((uint64_t)(to - from) << 31) >> 31;
}

// The clock that a packet has of the stream; -1 if it has none.
static int64_t clock_of(const struct scan *scan, const uint8_t *packet) {
    int begin = 4 + (packet[3] & 0x20 ? 1 + packet[4] : 0);
    bool is_start = packet[1] & 0x40 && packet[3] & 0x10 && (AV_RB16(packet + 1) & 0x1FFF) == scan->id;
    if (!is_start || begin + 19 > PACKET || AV_RB24(packet + begin) != 1 || !(packet[begin + 7] & 0x80)) return -1;
    const uint8_t *at = packet + begin + (packet[begin + 7] & 0x40 ? 14 : 9);
    return (int64_t)(at[0] & 0x0E) << 29 | at[1] << 22 | (at[2] & 0xFE) << 14 | at[3] << 7 | at[4] >> 1;
}

// Finds the first mark at a place or behind it, and before an end. What is between packets is stepped over.
static bool find_mark(struct scan *scan, int64_t from, int64_t end, struct mark *mark) {
    uint8_t packet[PACKET];
    for (int steps = 0; steps < MOST_STEPS_AT_ONCE && scan->steps < MOST_STEPS && from < end; steps++, scan->steps++) {
        if (avio_seek(scan->io, from, SEEK_SET) < 0 || avio_read(scan->io, packet, PACKET) < PACKET) return false;
        *mark = (struct mark){from, packet[0] == 0x47 ? clock_of(scan, packet) : -1};
        if (mark->clock >= 0) return true;
        from += packet[0] == 0x47 ? PACKET : 1;
    }
    return false;
}

static void find_jumps(struct scan *scan, struct mark from, struct mark to) {
    int64_t distance = to.place - from.place, passed = between(from.clock, to.clock);
    int64_t usual = av_rescale(distance, scan->usual, scan->step);
    if (passed >= FFMAX(-SECOND, usual / 4 - 10 * SECOND) && passed <= usual * 3 + 5 * SECOND) return;
    struct mark middle;
    for (int64_t ahead = distance / 2; ahead > 0; ahead /= 2) {
        if (!find_mark(scan, from.place + ahead, to.place, &middle)) continue;
        find_jumps(scan, from, middle);
        return find_jumps(scan, middle, to);
    }
    if (scan->steps >= MOST_STEPS || scan->count == VIDEO_MOST_PIECES) return;
    const struct piece *last = &scan->pieces[scan->count - 1];
    int64_t begin = last->begin + between(last->clock, from.clock) + scan->packet;
    scan->pieces[scan->count++] = (struct piece){to.place, to.clock, begin};
}

static int compare(const void *one, const void *other) {
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

// Finds places that are equally far apart, and the last packet.
static int find_marks(struct scan *scan, int64_t size, struct mark marks[PLACES + 1]) {
    int count = 0;
    for (int i = 0; i < PLACES; i++) {
        int64_t place = FFMAX(size / PLACES * i, count > 0 ? marks[count - 1].place + 1 : 0);
        count += find_mark(scan, place, size, &marks[count]);
    }
    for (int64_t back = 1 << 15; count > 0 && back <= 1 << 19; back *= 2) {
        struct mark next = marks[count - 1];
        if (!find_mark(scan, FFMAX(size - back, next.place + 1), size, &next)) continue;
        do marks[count] = next;
        while (find_mark(scan, next.place + 1, size, &next));
        return count + 1;
    }
    return count;
}

int64_t video_count_time(struct video *video, const AVStream *stream) {
    int64_t position = video->position, gaps[PLACES], end = AV_NOPTS_VALUE;
    video->position = 0;
    struct scan scan = {.io = video_open_reader(video), .id = stream->id};
    struct mark marks[PLACES + 1];
    int last = scan.io ? find_marks(&scan, video->size, marks) - 1 : 0;
    if (last > 0 && stream->start_time != AV_NOPTS_VALUE) {
        for (int i = 0; i < last; i++) gaps[i] = between(marks[i].clock, marks[i + 1].clock);
        qsort(gaps, (size_t)last, sizeof *gaps, compare);
        scan.usual = FFMAX(0, gaps[last / 2]);
        scan.step = (marks[last].place - marks[0].place) / last;
        AVRational rate = stream->avg_frame_rate;
        if (rate.num > 0 && rate.den > 0) scan.packet = av_rescale(SECOND, rate.den, rate.num);
        int64_t ahead = between(marks[0].clock, stream->start_time);
        scan.pieces[scan.count++] = (struct piece){0, marks[0].clock, stream->start_time - ahead};
        for (int i = 0; i < last; i++) find_jumps(&scan, marks[i], marks[i + 1]);
        const struct piece *piece = &scan.pieces[scan.count - 1];
        end = piece->begin + between(piece->clock, marks[last].clock) + scan.packet + ahead;
    }
    if (stream == video->stream && (video->piece_count = scan.count) > 1)
        memcpy(video->pieces, scan.pieces, sizeof scan.pieces);
    video_close_reader(scan.io);
    video->position = position;
    return end;
}

int64_t video_place_of(struct video *video, int64_t time) {
    const struct piece *piece = video->pieces, *behind = piece + video->piece_count;
    while (piece + 1 < behind && piece[1].begin <= time) piece++;
    int64_t position = video->position, place = piece->place, end = piece + 1 < behind ? piece[1].place : video->size;
    video->position = 0;
    struct scan scan = {.io = video_open_reader(video), .id = video->stream->id};
    struct mark mark;
    while (scan.io && end - place > PACKET) {
        int64_t middle = place + (end - place) / 2;
        bool is_found = find_mark(&scan, middle, end, &mark);
        if (is_found && piece->begin + between(piece->clock, mark.clock) <= time) place = mark.place;
        else end = middle;
    }
    video_close_reader(scan.io);
    video->position = position;
    return place;
}

void video_count_on(struct video *video, AVPacket *packet) {
    if (video->piece_count < 2) return;
    // libavformat counts the checksum behind a packet to the next.
    const struct piece *piece = video->pieces, *behind = piece + video->piece_count;
    while (piece + 1 < behind && piece[1].place - SUM <= packet->pos) piece++;
    if (packet->pos < 0 && video->piece) piece = video->piece;
    video->piece = piece;
    if (packet->pts != AV_NOPTS_VALUE) packet->pts = piece->begin + between(piece->clock, packet->pts);
    if (packet->dts != AV_NOPTS_VALUE) packet->dts = piece->begin + between(piece->clock, packet->dts);
}
