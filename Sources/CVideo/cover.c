#include "video.h"

#include <libavutil/avstring.h>
#include <libavutil/intreadwrite.h>
#include <string.h>

// Which pictures of a file are covers, and which of several is shown.

bool video_is_cover(const AVStream *stream) {
    return stream->disposition & AV_DISPOSITION_ATTACHED_PIC && stream->attached_pic.size > 0;
}

enum cameo_video_cover video_cover_kind(const struct video *video, const AVStream *stream) {
    // The types of ID3v2 (4.14), which FLAC, Vorbis comments and ASF share, as libavformat names them; and the names of files
    // in Matroska (RFC 9559, section 21.2).
    static const struct {
        const char *start;
        enum cameo_video_cover kind;
    } kinds[] = {
        {"Cover (front)", COVER_FRONT},  {"Cover.", COVER_FRONT}, {"32x32 pixels", COVER_ICON},
        {"Other file icon", COVER_ICON}, {"Other", COVER_OTHER},  {"Small_cover.", COVER_OTHER},
    };
    const AVDictionaryEntry *name = av_dict_get(stream->metadata, "filename", NULL, 0);
    if (!name) name = av_dict_get(stream->metadata, "comment", NULL, 0);
    // Those of MP4 have neither.
    if (strcmp(video->demuxer, "mov") == 0) return COVER_FRONT;
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (av_stristart(name->value, kinds[i].start, NULL)) return kinds[i].kind;
    return name ? COVER_ADDITIONAL : COVER_OTHER;
}

// The pixels, as the picture's header tells them; 0 if they are not known.
static double area_of(const AVStream *stream) {
    const uint8_t *bytes = stream->attached_pic.data;
    int count = stream->attached_pic.size;
    if (stream->codecpar->codec_id == AV_CODEC_ID_PNG && count >= 24)
        return (double)AV_RB32(bytes + 16) * AV_RB32(bytes + 20);
    for (int at = 2; stream->codecpar->codec_id == AV_CODEC_ID_MJPEG && at + 9 <= count && bytes[at] == 0xFF;) {
        int marker = bytes[at + 1];
        // SOF0 to SOF15, without DHT, JPG and DAC, which lie between. A marker may be filled up.
        if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC)
            return (double)AV_RB16(bytes + at + 5) * AV_RB16(bytes + at + 7);
        at += marker == 0xFF ? 1 : 2 + AV_RB16(bytes + at + 2);
    }
    return (double)stream->codecpar->width * stream->codecpar->height;
}

bool video_is_better_cover(const struct video *video, const AVStream *stream, const AVStream *than) {
    enum cameo_video_cover kind = video_cover_kind(video, stream), other = video_cover_kind(video, than);
    // Of several front covers, the first is meant.
    return kind < other || (kind == other && kind != COVER_FRONT && area_of(stream) > area_of(than));
}

void video_name_cover(AVStream *stream) {
    static const struct {
        const char *start;
        enum AVCodecID codec;
    } pictures[] = {{"\xFF\xD8\xFF", AV_CODEC_ID_MJPEG}, {"\x89PNG", AV_CODEC_ID_PNG}, {"GIF8", AV_CODEC_ID_GIF},
                    {"RIFF", AV_CODEC_ID_WEBP},          {"BM", AV_CODEC_ID_BMP}};
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        // Behind its end are the zeros of AV_INPUT_BUFFER_PADDING_SIZE.
        if (strncmp((char *)stream->attached_pic.data, pictures[i].start, strlen(pictures[i].start)) == 0)
            stream->codecpar->codec_id = pictures[i].codec;
}
