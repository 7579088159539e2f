#include "video.h"

#include <errno.h>
#include <libavutil/avstring.h>
#include <libavutil/dovi_meta.h>
#include <libavutil/intreadwrite.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// The stream that is shown, its decoder, and what headers tell of it.

static int dolby_profile_of(const AVStream *stream);

// The decoder that is allowed for the stream. Of several the first, or the last one if the frames have alpha, which
// Matroska keeps in a second picture of each packet: libavcodec's own decoders of VP8 and VP9 leave it out.
static const AVCodec *decoder_of(const struct video *video, const AVStream *stream) {
    if (dolby_profile_of(stream)) return NULL;
    const AVDictionaryEntry *alpha = av_dict_get(stream->metadata, "alpha_mode", NULL, 0);
    const char *decoders = video->decoders[video_is_cover(stream)];
    const AVCodec *found = NULL;
    void *place = NULL;
    for (const AVCodec *codec; (codec = av_codec_iterate(&place));)
        if (codec->id == stream->codecpar->codec_id && av_codec_is_decoder(codec) &&
            av_match_list(codec->name, decoders, ',') && (!found || (alpha && strcmp(alpha->value, "1") == 0)))
            found = codec;
    return found;
}

// Whether a player shows this stream rather than another: the default one (in MP4, one that is enabled), or else the larger.
static bool is_preferred(const AVStream *stream, const AVStream *to) {
    int is_default = stream->disposition & AV_DISPOSITION_DEFAULT, other = to->disposition & AV_DISPOSITION_DEFAULT;
    if (is_default != other) return is_default;
    const AVCodecParameters *one = stream->codecpar, *two = to->codecpar;
    return (int64_t)one->width * one->height > (int64_t)two->width * two->height;
}

// The stream that is a video, can be decoded, and is shown by players, or the cover if it is wished for or all that there
// is. Others are skipped by the demuxer.
static enum cameo_video_result find_stream(struct video *video, const struct cameo_video_wish *wish,
                                           struct cameo_video_frame *out) {
    AVStream *refused = NULL, *cover = NULL, *moving = NULL;
    int stills = AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS;
    for (unsigned i = 0; i < video->format->nb_streams; i++) {
        AVStream *stream = video->format->streams[i];
        enum AVMediaType type = stream->codecpar->codec_type;
        stream->discard = AVDISCARD_ALL;
        if (type == AVMEDIA_TYPE_AUDIO) out->has_audio = true;
        if (type != AVMEDIA_TYPE_VIDEO || (stream->disposition & stills && !video_is_cover(stream))) continue;
        if (video_is_aside(video, stream)) continue;
        if (video_is_cover(stream)) video_name_cover(stream);
        AVStream **kind = !decoder_of(video, stream) ? &refused : video_is_cover(stream) ? &cover : &moving;
        // A refused cover is no reason to refuse a file.
        if (*kind ? (kind == &moving && is_preferred(stream, moving)) ||
                        (kind == &cover && video_is_better_cover(video, stream, cover))
                  : kind != &refused || !video_is_cover(stream) || wish->place == VIDEO_COVER)
            *kind = stream;
    }
    video->stream = wish->place == VIDEO_COVER || (!moving && !refused) ? cover : moving;
    if (video->stream) {
        if (video->stream == moving) moving->discard = AVDISCARD_DEFAULT;
        return VIDEO_FRAME;
    }
    if (!refused || (wish->place == VIDEO_COVER && !video_is_cover(refused))) return VIDEO_NO_PICTURE;
    snprintf(out->codec, sizeof out->codec, "%s", avcodec_get_name(refused->codecpar->codec_id));
    int dolby = dolby_profile_of(refused);
    if (dolby) snprintf(out->detail, sizeof out->detail, "Dolby Vision profile %d", dolby);
    return VIDEO_UNSUPPORTED_CODEC;
}

static int open_decoder(struct video *video, int64_t maximum_pixels) {
    const AVCodec *decoder = decoder_of(video, video->stream);
    video->codec = avcodec_alloc_context3(decoder);
    video->packet = av_packet_alloc();
    video->frame = av_frame_alloc();
    if (!video->codec || !video->packet || !video->frame) return AVERROR(ENOMEM);
    int error = avcodec_parameters_to_context(video->codec, video->stream->codecpar);
    if (error < 0) return error;
    video->codec->pkt_timebase = video->stream->time_base;
    video->codec->thread_count = 1;
    // The size of a cover is known when it is decoded; until then, memory is limited.
    if (!video_is_cover(video->stream)) video->codec->max_pixels = maximum_pixels;
    return avcodec_open2(video->codec, decoder, NULL);
}

// NULL if there is none. From FFmpeg 6.1 on, where Debian 13's 7.1 has nothing in the stream, it is a codec parameter.
static const void *side_data_of(const AVStream *stream, enum AVPacketSideDataType type, size_t least) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 100)
    const AVCodecParameters *codec = stream->codecpar;
    const AVPacketSideData *found = av_packet_side_data_get(codec->coded_side_data, codec->nb_coded_side_data, type);
    return found && found->size >= least ? found->data : NULL;
#else
    size_t size = 0;
    const void *found = av_stream_get_side_data(stream, type, &size);
    return size >= least ? found : NULL;
#endif
}

// The profile of Dolby Vision whose colours no other decoder knows: 5, and from 10 on if it is compatible with nothing; 0
// for others. Those below 10 name no compatibility in old files, and have it.
static int dolby_profile_of(const AVStream *stream) {
    const AVDOVIDecoderConfigurationRecord *dolby =
        side_data_of(stream, AV_PKT_DATA_DOVI_CONF, sizeof(AVDOVIDecoderConfigurationRecord));
    bool is_alone = dolby && dolby->dv_profile >= 10 && dolby->dv_bl_signal_compatibility_id == 0;
    return dolby && (dolby->dv_profile == 5 || is_alone) ? dolby->dv_profile : 0;
}

// The display matrix takes (x, y) to (ax + cy, bx + dy); the nearest of the eight orientations is used.
static struct orientation orientation_of(const AVStream *stream) {
    struct orientation orientation = {0};
    const int32_t *m = side_data_of(stream, AV_PKT_DATA_DISPLAYMATRIX, 9 * sizeof(int32_t));
    if (!m) return orientation;
    int64_t a = m[0], b = m[1], c = m[3], d = m[4];
    orientation.is_transposed = llabs(b) + llabs(c) > llabs(a) + llabs(d);
    orientation.flips_x = (orientation.is_transposed ? c : a) < 0;
    orientation.flips_y = (orientation.is_transposed ? b : d) < 0;
    return orientation;
}

// Where the left edge of the coded frame is shown; of a mirrored video, that of its mirror image.
static int rotation_of(struct orientation orientation) {
    if (orientation.is_transposed) return orientation.flips_y ? 270 : 90;
    return orientation.flips_x ? 180 : 0;
}

// In units of the stream; 0 if it is unknown. A cover lasts as long as the file.
static int64_t duration_of(const AVFormatContext *format, const AVStream *stream) {
    if (stream->duration != AV_NOPTS_VALUE && stream->duration > 0) return stream->duration;
    if (format->duration != AV_NOPTS_VALUE && format->duration > 0)
        return av_rescale_q(format->duration, AV_TIME_BASE_Q, stream->time_base);
    int64_t longest = 0;
    for (unsigned i = 0; i < format->nb_streams && video_is_cover(stream); i++) {
        const AVStream *other = format->streams[i];
        if (other->duration == AV_NOPTS_VALUE || other->duration <= 0) continue;
        int64_t duration = av_rescale_q(other->duration, other->time_base, stream->time_base);
        if (duration > longest) longest = duration;
    }
    return longest;
}

// Where the file begins and how long it is, as far as headers tell: what comes before zero is not played.
static void find_span(struct video *video) {
    AVRational units = video->stream->time_base;
    int64_t end = video->start + video->duration;
    video->origin = video->start;
    for (unsigned i = 0; i < video->format->nb_streams && !video_is_cover(video->stream); i++) {
        const AVStream *stream = video->format->streams[i];
        if (stream->codecpar->codec_type != AVMEDIA_TYPE_AUDIO || stream->start_time == AV_NOPTS_VALUE) continue;
        int64_t begin = av_rescale_q(FFMAX(stream->start_time, 0), stream->time_base, units);
        if (begin < video->origin) video->origin = begin;
        if (stream->duration == AV_NOPTS_VALUE || video->duration <= 0) continue;
        int64_t last = av_rescale_q(stream->start_time + stream->duration, stream->time_base, units);
        // The clock of sound may jump, too.
        if (video->piece_count > 0 && last > end + units.den * 10) last = video_count_time(video, stream);
        if (last > end) end = last;
    }
    video->whole = video->duration > 0 ? end - video->origin : 0;
}

// Whether the video in a transport stream is scrambled (ISO/IEC 13818-1, 2.4.3.3) wherever the file is looked at:
// recordings may begin with what could not be opened yet. The beginnings of frames may be clear.
static bool is_scrambled(struct video *video) {
    uint8_t bytes[1 << 15];
    bool is_scrambled = true;
    int64_t position = video->position;
    for (int part = 0; part < 3 && is_scrambled; part++) {
        video->position = video->size / 3 * part;
        AVIOContext *io = video_open_reader(video);
        int count = io ? avio_read(io, bytes, sizeof bytes) : 0, packets = 0, scrambled = 0;
        video_close_reader(io);
        for (int at = 0; at + 204 < count;) {
            const uint8_t *packet = bytes + at;
            bool is_packet = *packet == 0x47 && (packet[188] == 0x47 || packet[192] == 0x47 || packet[204] == 0x47);
            bool is_ours = is_packet && (AV_RB16(packet + 1) & 0x1FFF) == video->stream->id;
            packets += is_ours;
            scrambled += is_ours && packet[3] & 0xC0;
            at += is_packet ? 188 : 1;
        }
        is_scrambled = scrambled * 8 > packets;
    }
    video->position = position;
    return is_scrambled;
}

enum cameo_video_result video_open(struct video *video, const struct cameo_video_wish *wish,
                                   struct cameo_video_frame *out) {
    struct stat status;
    if (fstat(video->fd, &status) != 0) return video_failure(AVERROR(errno), out);
    video->size = status.st_size;
    video->demuxer = wish->demuxer;
    video->decoders[false] = wish->decoders, video->decoders[true] = wish->cover_decoders;
    int error = video_open_format(video);
    if (error < 0) return video_failure(error, out);
    // Some have no headers that tell streams, duration and shape. To find them, frames are decoded.
    if (video->format->ctx_flags & AVFMTCTX_NOHEADER && (error = avformat_find_stream_info(video->format, NULL)) < 0)
        return video_failure(error, out);
    if (strcmp(wish->demuxer, "mov") == 0 && (error = video_read_movie(video)) < 0) return video_failure(error, out);
    enum cameo_video_result result = find_stream(video, wish, out);
    if (result != VIDEO_FRAME) return result;
    if (!video_is_cover(video->stream) && (error = video_take_track(video)) < 0) return video_failure(error, out);
    AVStream *stream = video->stream;
    snprintf(out->codec, sizeof out->codec, "%s", decoder_of(video, stream)->name);
    if (video_is_cover(stream)) out->cover = video_cover_kind(video, stream);
    // As WebM names the key; MP4 says so of its packets.
    video->is_encrypted = av_dict_get(stream->metadata, "enc_key_id", NULL, 0) != NULL;
    if (strcmp(wish->demuxer, "mpegts") == 0 && is_scrambled(video)) return VIDEO_ENCRYPTED;
    if (strcmp(wish->demuxer, "matroska") == 0 && !video_is_cover(stream)) video_read_matroska(video);
    video->orientation = orientation_of(stream);
    out->rotation = rotation_of(video->orientation);
    if (stream->start_time != AV_NOPTS_VALUE) video->first = video->start = stream->start_time;
    video->duration = duration_of(video->format, stream);
    // Thirty years are a forged number.
    if (!((double)video->duration * av_q2d(stream->time_base) < 1e9)) video->duration = 0;
    if (strcmp(wish->demuxer, "mpegts") == 0 && !video->has_holes) {
        int64_t end = video_count_time(video, stream);
        if (video->piece_count > 1) video->duration = end - video->start;
    }
    if (video->edit_count > 0) video_span_edits(video, 0);
    find_span(video);
    if (video->edit_count > 0) {
        if ((error = video_rewind(video)) < 0) return video_failure(error, out);
        stream = video->stream;
        video->first = stream->start_time != AV_NOPTS_VALUE ? stream->start_time : 0;
    }
    out->duration = (double)video->whole * av_q2d(stream->time_base);
    if (!(out->duration < 1e9)) out->duration = 0, video->whole = video->duration;
    int64_t pixels = (int64_t)stream->codecpar->width * stream->codecpar->height;
    if (pixels > wish->maximum_pixels) {
        out->width = stream->codecpar->width;
        out->height = stream->codecpar->height;
        return VIDEO_TOO_LARGE;
    }
    video->is_shrunk = video_shrinks(video, wish);
    error = open_decoder(video, wish->maximum_pixels);
    return error < 0 ? video_failure(error, out) : VIDEO_FRAME;
}

void video_close(struct video *video) {
    av_frame_free(&video->frame);
    av_packet_free(&video->packet);
    video_close_movie(video);
    avcodec_free_context(&video->codec);
    video_close_format(video->format);
}
