#include "video.h"

#include <libavcodec/codec_desc.h>
#include <libavutil/intreadwrite.h>
#include <stdlib.h>
#include <string.h>

// DESIGN: one key packet is sent and the decoder drained, so that nothing else is read or decoded. A frame between two
// keyframes is shown only if it is asked for: then the packets from its keyframe on are decoded. Where the file's index ends
// too early, or is missing, packets are read on, but not decoded, in search of a later keyframe.

enum {
    // The packets that are read in search of a keyframe, and the keyframes that may be damaged.
    MOST_PACKETS = 20000,
    MOST_KEYS = 4,
    // A program stream of fewer bytes is always read from its beginning: only there are the times of its packets sure.
    SMALL = 1 << 20,
    // The packets that are read where the index does not help.
    MOST_SCANNED = 1 << 22,
    // The bytes of the packets of an exact frame.
    MOST_BYTES = 64 << 20,
    // Where packets have no decoding time, the most that may be shown later than one behind them: what codecs reorder.
    REORDERED = 16,
};

bool video_is_damaged(const AVFrame *frame) {
    return frame->decode_error_flags != 0 || frame->flags & AV_FRAME_FLAG_CORRUPT;
}

// In units of the stream, of which one may be longer.
int64_t video_a_second(const struct video *video) {
    return FFMAX(1, (int64_t)(1 / av_q2d(video->stream->time_base)));
}

// Whether it is a program stream or ASF: a search for a time ends anywhere, not at a keyframe.
static bool is_searched(const struct video *video) {
    return strcmp(video->demuxer, "mpeg") == 0 || strcmp(video->demuxer, "asf") == 0;
}

// What libavformat calls the index of a transport, program or Ogg stream are places, not keyframes; that of ASF is late.
bool video_has_index(const struct video *video) {
    return !(video->format->iformat->flags & AVFMT_TS_DISCONT) && !is_searched(video);
}

static int64_t time_of(const AVPacket *packet) {
    return packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
}

// Of H.263 by the picture's header (ITU-T H.263, 5.1), because libavcodec's parser takes every picture for a keyframe.
static bool is_key(const struct video *video, const AVPacket *packet) {
    if (video->stream->codecpar->codec_id != AV_CODEC_ID_H263 || packet->size < 12)
        return packet->flags & AV_PKT_FLAG_KEY;
    uint64_t header = AV_RB64(packet->data + 4);
    if ((header >> 58 & 7) != 7) return !(header >> 57 & 1);
    return (header >> ((header >> 55 & 7) == 1 ? 34 : 52) & 7) == 0;
}

// The next packet of the stream.
int video_read_packet(struct video *video) {
    for (;;) {
        int error = av_read_frame(video->format, video->packet);
        if (error < 0) return error;
        if (video->packet->stream_index == video->stream->index) break;
        av_packet_unref(video->packet);
    }
    video_count_on(video, video->packet);
    if (av_packet_get_side_data(video->packet, AV_PKT_DATA_ENCRYPTION_INFO, NULL)) {
        av_packet_unref(video->packet);
        video->is_encrypted = true;
        return AVERROR_INVALIDDATA;
    }
    if (!is_key(video, video->packet)) video->packet->flags &= ~AV_PKT_FLAG_KEY;
    video->has_packets = true;
    return 0;
}

// Decodes a key packet alone. What decoders smooth between blocks is not seen in a much smaller picture.
int video_decode_alone(struct video *video, AVPacket *packet) {
    video->codec->skip_loop_filter = video->is_shrunk ? AVDISCARD_ALL : AVDISCARD_DEFAULT;
    bool is_cut = packet->flags & AV_PKT_FLAG_CORRUPT;
    int result = avcodec_send_packet(video->codec, packet);
    if (result >= 0) {
        avcodec_send_packet(video->codec, NULL);
        result = avcodec_receive_frame(video->codec, video->frame);
    }
    avcodec_flush_buffers(video->codec);
    if (result >= 0 && video->frame->best_effort_timestamp == AV_NOPTS_VALUE && is_searched(video))
        video->frame->best_effort_timestamp = time_of(packet);
    if (result >= 0 && !is_cut && !video_is_damaged(video->frame)) return 0;
    return result < 0 && result != AVERROR_EOF ? result : AVERROR_INVALIDDATA;
}

// Tells when the keyframe of a packet of AVI is shown: when the last one behind it is decoded that is shown before.
static void find_time(struct video *video) {
    AVCodecParserContext *parser = av_parser_init(video->codec->codec_id);
    AVPacket *packet = video->packet;
    bool is_before = parser != NULL;
    for (int i = 0, size; i < REORDERED && is_before; i++) {
        uint8_t *data;
        parser->flags |= PARSER_FLAG_COMPLETE_FRAMES;
        av_parser_parse2(parser, video->codec, &data, &size, packet->data, packet->size, packet->pts, packet->dts, 0);
        is_before = i == 0 || parser->pict_type == AV_PICTURE_TYPE_B;
        if (is_before) video->frame->best_effort_timestamp = packet->dts;
        av_packet_unref(packet);
        is_before = is_before && video_read_packet(video) >= 0;
    }
    av_parser_close(parser);
}

int video_decode_next_key(struct video *video) {
    int keys = 0, error = AVERROR_INVALIDDATA;
    for (int packets = 0; packets < MOST_PACKETS && keys < MOST_KEYS; packets++) {
        int read = video_read_packet(video);
        if (read < 0) return read == AVERROR_EOF && keys > 0 ? error : read;
        bool is_cut = video_is_cut(video, time_of(video->packet));
        bool is_key = video->packet->flags & AV_PKT_FLAG_KEY && !is_cut;
        bool is_behind = is_cut && video->packet->dts >= video->edit->to;
        if (is_key) error = video_decode_alone(video, video->packet);
        bool is_avi = is_key && strcmp(video->demuxer, "avi") == 0;
        if (is_avi && error >= 0 && video->frame->best_effort_timestamp == AV_NOPTS_VALUE) find_time(video);
        av_packet_unref(video->packet);
        if ((is_key && (error >= 0 || error == AVERROR(ENOMEM))) || is_behind) return error;
        keys += is_key;
    }
    return error;
}

// Decodes the keyframe that is nearest to a time, of those that follow where the file is read.
static int decode_nearest_key(struct video *video, int64_t time) {
    AVPacket *nearest = av_packet_alloc();
    if (!nearest) return AVERROR(ENOMEM);
    int64_t found = video->start;
    int error = 0;
    for (int packets = 0; packets < MOST_SCANNED; packets++) {
        error = video_read_packet(video);
        if (error < 0) break;
        if (time_of(video->packet) != AV_NOPTS_VALUE) found = time_of(video->packet);
        bool is_key = video->packet->flags & AV_PKT_FLAG_KEY, is_shown = is_key && !video_is_cut(video, found);
        if (is_shown && (!nearest->size || llabs(found - time) < llabs(time_of(nearest) - time))) {
            if (time_of(video->packet) == AV_NOPTS_VALUE) video->packet->dts = found;
            av_packet_unref(nearest);
            av_packet_move_ref(nearest, video->packet);
        }
        av_packet_unref(video->packet);
        if (is_key && found >= time) break;
    }
    if (nearest->size) error = video_decode_alone(video, nearest);
    else if (error >= 0) error = AVERROR_INVALIDDATA;
    av_packet_free(&nearest);
    return error;
}

int64_t video_index_delay(const struct video *video) {
    const AVIndexEntry *first = avformat_index_get_entry(video->stream, 0);
    return first && first->timestamp < video->first ? video->first - first->timestamp : 0;
}

// Whether the file's index says nothing of a time.
static bool index_ends_before(const struct video *video, int64_t time) {
    int count = video_has_index(video) ? avformat_index_get_entries_count(video->stream) : 0;
    const AVIndexEntry *last = avformat_index_get_entry(video->stream, count - 1);
    return video_has_index(video) && (!last || last->timestamp < time - video_index_delay(video));
}

// Goes to the last keyframe before a time, as far as the file's index tells.
int video_seek_before(struct video *video, int64_t time) {
    AVStream *stream = video->stream;
    bool is_small = is_searched(video) && video->size < SMALL;
    int error = video->format->iformat->flags & AVFMT_TS_DISCONT && (time <= video->first || is_small)
                    ? av_seek_frame(video->format, -1, 0, AVSEEK_FLAG_BYTE)
                : video->piece_count > 1
                    ? av_seek_frame(video->format, -1, video_place_of(video, time), AVSEEK_FLAG_BYTE)
                    : av_seek_frame(video->format, stream->index, time, AVSEEK_FLAG_BACKWARD);
    if (error < 0) error = av_seek_frame(video->format, stream->index, time, 0);
    // Files without an index are read from their beginning.
    if (error < 0) error = av_seek_frame(video->format, stream->index, video->first, AVSEEK_FLAG_ANY);
    if (error < 0 && !video->has_packets) error = 0;
    if (error < 0) error = video_rewind(video);
    avcodec_flush_buffers(video->codec);
    return error;
}

// Goes to the keyframe that is nearest to a time, as far as the file's index tells; else to the last one before.
static int seek_nearest(struct video *video, int64_t time) {
    int error = video_seek_before(video, time);
    if (error < 0 || !video_has_index(video)) return error;
    AVStream *stream = video->stream;
    int64_t delay = video_index_delay(video), place = time - delay;
    const AVIndexEntry *before = avformat_index_get_entry(
        stream, av_index_search_timestamp(stream, place, AVSEEK_FLAG_BACKWARD));
    const AVIndexEntry *after = avformat_index_get_entry(stream, av_index_search_timestamp(stream, place, 0));
    if (!before || !after || after->timestamp - place >= place - before->timestamp) return 0;
    return av_seek_frame(video->format, stream->index, after->timestamp + delay, AVSEEK_FLAG_BACKWARD);
}

// The search begins a while earlier, and once more if no keyframe is as near as that.
static int decode_key_around(struct video *video, int64_t time) {
    for (int64_t back = video_a_second(video);; back = FFMIN(back, INT64_MAX / 4) * 4) {
        bool is_first = time - back <= video->first;
        int error = video_seek_before(video, is_first ? video->first : time - back);
        if (error >= 0) error = decode_nearest_key(video, time);
        bool is_near = error >= 0 && llabs(video->frame->best_effort_timestamp - time) <= back;
        if (is_near || is_first || error == AVERROR(ENOMEM)) return error;
    }
}

int video_decode_key_at(struct video *video, int64_t time) {
    if (time < video->first) time = video->first;
    if (is_searched(video)) return decode_key_around(video, time);
    int error = seek_nearest(video, time);
    if (error < 0) return error;
    return index_ends_before(video, time) ? decode_nearest_key(video, time) : video_decode_next_key(video);
}

void video_empty_group(struct video_group *group) {
    while (group->count > 0) av_packet_free(&group->packets[--group->count]);
    group->bytes = 0;
}

// Whether packets tell when they are decoded, but not when they are shown: as libavformat does not know the reordering, it
// takes the one for the other.
static bool lacks_shown_times(const struct video *video) {
    return strcmp(video->demuxer, "avi") == 0 || strcmp(video->demuxer, "asf") == 0;
}

// When a packet is decoded, if that is known besides when it is shown. Matroska says nothing of it: libavformat makes it up
// as above.
static int64_t decoding_time(const struct video *video) {
    bool is_known = strcmp(video->demuxer, "matroska") != 0 && !lacks_shown_times(video);
    return is_known ? video->packet->dts : AV_NOPTS_VALUE;
}

// Reads them from where the file is read: from the last keyframe that is not later than a time, or else the first one, to
// what is needed for a later time. Packets beyond the budget are left out.
int video_read_group(struct video *video, int64_t latest, int64_t time, struct video_group *group) {
    const AVCodecDescriptor *codec = avcodec_descriptor_get(video->stream->codecpar->codec_id);
    group->begin = INT64_MIN;
    int most_frames = video->edit ? VIDEO_MOST_HIDDEN : VIDEO_MOST_FRAMES;
    int late = 0, most = !codec || codec->props & AV_CODEC_PROP_REORDER ? REORDERED : 0;
    // libavcodec does not say so of these.
    if (codec && (codec->id == AV_CODEC_ID_VC1 || codec->id == AV_CODEC_ID_WMV3)) most = REORDERED;
    for (int packets = 0; packets < MOST_SCANNED; packets++) {
        int error = video_read_packet(video);
        if (error < 0) return group->count > 0 ? 0 : error;
        AVPacket *packet = video->packet;
        int64_t shown = time_of(packet), decoded = decoding_time(video);
        // Where only the time of decoding is known, it is shown after the few that precede it.
        if (packet->pts == AV_NOPTS_VALUE && shown != AV_NOPTS_VALUE && is_searched(video)) shown += 4 * packet->duration;
        if (video->edit && shown <= video->edit->from) group->begin = FFMAX(group->begin, shown);
        if (packet->flags & AV_PKT_FLAG_KEY && shown <= latest) video_empty_group(group);
        bool is_wanted = (group->count > 0 || packet->flags & AV_PKT_FLAG_KEY) && group->count < most_frames &&
                         group->bytes < MOST_BYTES;
        if (is_wanted && (group->packets[group->count] = av_packet_clone(packet))) {
            group->count++;
            group->bytes += (size_t)packet->size;
        }
        av_packet_unref(packet);
        if (is_wanted && group->count == 0) return AVERROR(ENOMEM);
        // No frame is shown before it is decoded.
        if (decoded == AV_NOPTS_VALUE && shown > time) late++;
        if (group->count > 0 && ((decoded != AV_NOPTS_VALUE && decoded > time) || late > most)) return 0;
    }
    return 0;
}

static bool is_late(const struct video *video, int64_t time) {
    return video->frame->best_effort_timestamp != AV_NOPTS_VALUE && video->frame->best_effort_timestamp > time;
}

// Takes all frames that are decoded once so many packets have been sent, and keeps the one that is shown at a time. Returns
// whether a later one has come. In AVI, the frame that a packet brings out is shown as many packets earlier as the decoder
// holds back.
static bool keep_shown(struct video *video, int64_t time, const struct video_group *group, int sent, AVFrame *kept) {
    while (avcodec_receive_frame(video->codec, video->frame) >= 0) {
        int place = sent++ - 1 - video->codec->has_b_frames;
        if (lacks_shown_times(video) && place >= 0 && place < group->count)
            video->frame->best_effort_timestamp = group->packets[place]->dts;
        bool is_behind = is_late(video, time), is_first = !kept->buf[0];
        if (is_first || (!is_behind && !video_is_damaged(video->frame))) {
            av_frame_unref(kept);
            av_frame_move_ref(kept, video->frame);
        }
        av_frame_unref(video->frame);
        if (is_behind) return true;
    }
    return false;
}

// Decodes a group up to the frame that is shown at a time: of all frames until then the last, or else the first.
int video_decode_group(struct video *video, int64_t time, const struct video_group *group) {
    AVFrame *kept = av_frame_alloc();
    if (!kept) return AVERROR(ENOMEM);
    video->codec->skip_loop_filter = video->is_shrunk ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
    bool is_done = false;
    int error = AVERROR_INVALIDDATA;
    for (int i = 0; i < group->count && !is_done; i++) {
        AVPacket *packet = group->packets[i];
        // Frames that are neither shown at the time nor needed by others.
        bool is_early = packet->pts != AV_NOPTS_VALUE && packet->duration > 0 && !lacks_shown_times(video) &&
                        packet->pts + 2 * packet->duration < time && i + REORDERED < group->count;
        video->codec->skip_frame = is_early ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
        int sent = avcodec_send_packet(video->codec, packet);
        if (sent == AVERROR(ENOMEM)) error = sent;
        is_done = error == AVERROR(ENOMEM) || keep_shown(video, time, group, i + 1, kept);
    }
    if (!is_done) {
        avcodec_send_packet(video->codec, NULL);
        keep_shown(video, time, group, group->count + 1, kept);
    }
    avcodec_flush_buffers(video->codec);
    video->codec->skip_frame = AVDISCARD_DEFAULT;
    bool is_cut = video->edit && kept->best_effort_timestamp < group->begin;
    if (kept->buf[0] && error != AVERROR(ENOMEM) && !is_cut) {
        av_frame_unref(video->frame);
        av_frame_move_ref(video->frame, kept);
        error = 0;
    }
    av_frame_free(&kept);
    return error;
}

// Decodes the last frame that is shown at a time or earlier, of those that follow a place: the time, or the end that the
// file declares. Where no keyframe before the place is found, the search begins earlier; also in AVI, where a keyframe may
// be shown later than the file says.
int video_decode_shown_at(struct video *video, int64_t place, int64_t time) {
    struct video_group *group = calloc(1, sizeof *group);
    if (!group) return AVERROR(ENOMEM);
    int64_t step = video_a_second(video);
    int64_t latest = time;
    int error = 0;
    for (int64_t back = 0;; back = back > 0 ? back * 2 : step) {
        bool is_first = place - back <= video->first;
        error = video_seek_before(video, is_first ? video->first : place - back);
        if (error >= 0) error = video_read_group(video, latest, time, group);
        if (error >= 0) error = video_decode_group(video, time, group);
        int64_t first = group->count > 0 ? time_of(group->packets[0]) : AV_NOPTS_VALUE;
        if (first != AV_NOPTS_VALUE && first <= latest) latest = first - 1;
        video_empty_group(group);
        bool is_found = error >= 0 && !is_late(video, time);
        if (is_found || is_first || error == AVERROR(ENOMEM)) break;
    }
    free(group);
    return error;
}

static int decode_near_key(struct video *video, int64_t time) {
    int error = video_decode_key_at(video, time);
    // A transport stream has no index: a search ends between two keyframes, and there may be none behind it.
    int64_t step = video_a_second(video);
    for (int64_t back = step; error == AVERROR_EOF && !video_has_index(video) && back <= 32 * step; back *= 2)
        error = video_decode_key_at(video, time - back);
    return error;
}

// Where a key packet alone gives no picture, as before an edit or where a stream is refreshed bit by bit, the frames that
// follow it decide.
int video_decode_near(struct video *video, int64_t moment) {
    bool is_held;
    int64_t time = video_edited(video, moment, &is_held);
    int error = is_held ? AVERROR(EAGAIN) : decode_near_key(video, time);
    return error < 0 && error != AVERROR(ENOMEM) && !video->is_blocked ? video_decode_exact(video, moment) : error;
}

int video_decode_exact(struct video *video, int64_t moment) {
    bool is_held;
    int64_t time = video_edited(video, moment, &is_held);
    bool is_behind = video->edit && moment >= video->edit->start + video->edit->duration;
    return video_decode_shown_at(video, time, is_behind ? video->edit->to - 1 : time);
}
