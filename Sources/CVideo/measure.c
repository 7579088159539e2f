#include "video.h"

// What headers do not tell of time: when the first picture is shown, and when all ends.

// The packets that are read in search of the first picture; and of sound behind it, which may begin before it is shown.
enum { MOST_UNSEEN = 20000, MOST_UNHEARD = 50 };

// Returns whether there is sound.
static bool hear(struct video *video, enum AVDiscard discard) {
    bool has_sound = false;
    for (unsigned i = 0; i < video->format->nb_streams; i++) {
        AVStream *stream = video->format->streams[i];
        if (stream->codecpar->codec_type != AVMEDIA_TYPE_AUDIO) continue;
        stream->discard = discard;
        has_sound = true;
    }
    return has_sound;
}

void video_measure(struct video *video, bool is_whole) {
    // Of what was read before, the beginning is known.
    int64_t begin = video->has_packets ? video->start : INT64_MAX, end = INT64_MIN;
    int64_t first = video->has_packets ? video->origin : INT64_MAX, last = INT64_MIN;
    bool is_heard = !hear(video, AVDISCARD_DEFAULT);
    for (int left = MOST_UNSEEN; is_whole || (left > 0 && (begin == INT64_MAX || !is_heard)); left--) {
        if (av_read_frame(video->format, video->packet) < 0) break;
        const AVPacket *packet = video->packet;
        const AVStream *stream = video->format->streams[packet->stream_index];
        int64_t time = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
        bool is_seen = stream == video->stream;
        if (time != AV_NOPTS_VALUE) {
            int64_t from = av_rescale_q(time, stream->time_base, video->stream->time_base);
            int64_t to = av_rescale_q(time + packet->duration, stream->time_base, video->stream->time_base);
            if (is_seen) begin = FFMIN(begin, from), end = FFMAX(end, to), left = FFMIN(left, MOST_UNHEARD);
            is_heard = is_heard || !is_seen;
            // Edits say when something is seen.
            if (!is_seen || video->edit_count == 0)
                first = FFMIN(first, is_seen ? from : FFMAX(from, 0)), last = FFMAX(last, to);
        }
        video->has_packets = video->has_packets || is_seen;
        av_packet_unref(video->packet);
    }
    hear(video, AVDISCARD_ALL);
    if (begin == INT64_MAX) return;
    video->first = begin;
    video->start = begin;
    if (video->edit_count > 0) {
        video_span_edits(video, is_whole ? end : begin + FFMAX(0, video->stream->duration));
        first = FFMIN(first, video->start), last = FFMAX(last, video->start + video->duration);
        video->whole = video->duration > 0 ? last - first : 0;
    }
    video->origin = first;
    if (!is_whole || end <= begin || video->edit_count > 0) return;
    video->duration = end - begin;
    video->whole = last - first;
}
