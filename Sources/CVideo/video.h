#pragma once
#include "CVideo.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

/// How coded frames are turned to be shown: whether rows become columns; then, what is reversed in the result.
struct orientation {
    bool is_transposed, flips_x, flips_y;
};

/// What is cut from each edge of a coded frame, in its pixels, before pixels become square and the frame is turned.
struct aperture {
    int left, top, right, bottom;
};

/// A part of the media in a presentation, in units of the stream: when it is shown and how long, and what of the media.
struct edit {
    int64_t start, duration, from, to;
    double rate;
};

/// A part of a transport stream whose clock does not jump: where it begins, by the clock and as time is counted.
struct piece {
    int64_t place, clock, begin;
};

enum { VIDEO_MOST_PIECES = 64 };

struct video {
    int fd;
    const char *demuxer;
    /// Those of moving pictures; and of covers too, which are all.
    const char *decoders[2];
    int64_t position, size;
    AVFormatContext *format;
    AVStream *stream;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    struct orientation orientation;
    /// As the file says: perhaps more than there is.
    struct aperture aperture;
    /// In units of the stream; a duration of 0 is unknown.
    int64_t start, duration;
    /// When the first frame of the media is shown: the start, if there are no edits.
    int64_t first;
    /// The same of all that is seen and heard, which is what moments are counted in.
    int64_t origin, whole;
    /// What the boxes of an MP4 say; its edits, if they are not left to libavformat; the one that was last looked into.
    struct movie *movie;
    struct edit *edits;
    int edit_count;
    const struct edit *edit;
    /// If there are several; and the one of the last packet.
    struct piece pieces[VIDEO_MOST_PIECES];
    int piece_count;
    const struct piece *piece;
    /// Whether the file names colours, which go before those of the stream.
    bool has_own_colors;
    /// Whether a packet was ever read of the stream.
    bool has_packets;
    /// Whether a packet was encrypted (ISO/IEC 23001-7), which no key here opens.
    bool is_encrypted;
    /// Whether frames are made at most half as large, so that the edges of blocks need not be smoothed.
    bool is_shrunk;
    /// Whether holes are bytes that are missing; those that were needed; and whether to fail every reading, because what
    /// follows from a failed one is no need.
    bool has_holes, is_blocked;
    int64_t missing[VIDEO_MOST_MISSING];
    int missing_count;
};

/// Opens file, stream and decoder. Whatever it returns, `video_close` must follow.
enum cameo_video_result video_open(struct video *video, const struct cameo_video_wish *wish,
                                   struct cameo_video_frame *out);
void video_close(struct video *video);

/// Opens the container at the beginning of the file, and closes one.
int video_open_format(struct video *video);
void video_close_format(AVFormatContext *format);

/// Opens what reads the file from `video->position` on, as a demuxer does; closes it, or nothing. Whoever reads beside the
/// demuxer sets the position back.
AVIOContext *video_open_reader(struct video *video);
void video_close_reader(AVIOContext *io);

/// Reads what libavformat does not tell of the video in a Matroska file.
void video_read_matroska(struct video *video);

/// Opens the file anew, at its beginning, for demuxers that cannot go back.
int video_rewind(struct video *video);

/// Whether the stream is a picture that belongs to the file: cover art.
bool video_is_cover(const AVStream *stream);
/// Names the codec of a cover by the picture's first bytes, because what files say of it is often wrong.
void video_name_cover(AVStream *stream);
enum cameo_video_cover video_cover_kind(const struct video *video, const AVStream *stream);
bool video_is_better_cover(const struct video *video, const AVStream *stream, const AVStream *than);

/// Decodes the frame that is wished for into `video->frame`.
enum cameo_video_result video_choose(struct video *video, const struct cameo_video_wish *wish,
                                     struct cameo_video_frame *out);

/// Whether the file's index tells where keyframes are.
bool video_has_index(const struct video *video);

/// Reads what libavformat does not tell of the tracks of an MP4; frees it.
int video_read_movie(struct video *video);
void video_close_movie(struct video *video);
/// Whether an MP4's track is no picture of its film.
bool video_is_aside(const struct video *video, const AVStream *stream);
/// Takes over what the boxes say of the stream.
int video_take_track(struct video *video);
/// Finds when edits begin and end, given the end of the media, or 0.
void video_span_edits(struct video *video, int64_t end);
/// The time of the media that is shown at a moment, and whether its frame is held. Of the edit that was looked into:
/// the moment of a time, and whether it leaves one out. Without edits, all is one.
int64_t video_edited(struct video *video, int64_t moment, bool *is_held);
int64_t video_presented(const struct video *video, int64_t time);
bool video_is_cut(const struct video *video, int64_t time);

/// Finds the pieces of a transport stream, and the end of its time as it is counted; AV_NOPTS_VALUE if it is unknown.
int64_t video_count_time(struct video *video, const AVStream *stream);
/// Where to read from for a time; counts the times of a packet.
int64_t video_place_of(struct video *video, int64_t time);
void video_count_on(struct video *video, AVPacket *packet);

// The frames that are decoded one after the other: for an exact frame, and if no keyframe shows anything. The same where
// those before an edit are not shown.
enum { VIDEO_MOST_FRAMES = 300, VIDEO_MOST_HIDDEN = 3000 };

/// The packets from the last keyframe before a time on.
struct video_group {
    AVPacket *packets[VIDEO_MOST_HIDDEN];
    int count;
    size_t bytes;
    /// When the frame is shown that an edit begins with or in.
    int64_t begin;
};

/// In units of the stream, of which one may be longer.
int64_t video_a_second(const struct video *video);
bool video_is_damaged(const AVFrame *frame);
/// Reads the next packet of the stream.
int video_read_packet(struct video *video);
/// Goes to the last keyframe before a time, as far as the file's index tells.
int video_seek_before(struct video *video, int64_t time);
/// Reads a group from where the file is read: from the last keyframe that is not later than a time, or else the first one, to
/// what is needed for a later time; decodes one up to the frame that is shown at a time; frees its packets.
int video_read_group(struct video *video, int64_t latest, int64_t time, struct video_group *group);
int video_decode_group(struct video *video, int64_t time, const struct video_group *group);
void video_empty_group(struct video_group *group);

/// Decodes into `video->frame`: a key packet alone; the keyframe at a time of the media; the last frame that is shown at a
/// time or earlier, of those that follow a place; the keyframe that is nearest to a moment; the frame that is shown at it;
/// the next keyframe from where the file is read.
int video_decode_alone(struct video *video, AVPacket *packet);
int video_decode_key_at(struct video *video, int64_t time);
int video_decode_shown_at(struct video *video, int64_t place, int64_t time);
int video_decode_near(struct video *video, int64_t moment);
int video_decode_exact(struct video *video, int64_t moment);
int video_decode_next_key(struct video *video);
/// How much later frames are shown than the index says, which may have the times when they are decoded.
int64_t video_index_delay(const struct video *video);

// The points of a frame that are looked at, a side; what shows enough.
enum { VIDEO_GRID = 96, VIDEO_GOOD_CONTRAST = 80 };

/// How much a frame shows, 0 to 255; `points` gets the lightness of points. Whether the keyframe in `video->frame` is part of
/// a fade.
int video_contrast(const AVFrame *frame, uint8_t points[VIDEO_GRID][VIDEO_GRID]);
bool video_is_fading(struct video *video, const uint8_t *points);

/// Reads what the headers do not tell: up to the first picture when that is shown, and what is heard before; or the whole
/// file also for its end.
void video_measure(struct video *video, bool is_whole);

/// Decodes frames of several moments, and makes the picture of all.
enum cameo_video_result video_roll(struct video *video, const struct cameo_video_wish *wish,
                                   struct cameo_video_frame *out);

struct layout {
    // Of the picture as it is coded: not yet turned.
    int width, height;
    struct orientation orientation;
    // Of a frame as it is shown.
    int shown_width, shown_height;
    bool is_deep, has_alpha;
    // As in ITU-T H.273.
    int primaries, transfer;
};
// The longest edge of a picture; what libswscale may write beyond the last pixel.
enum { VIDEO_EDGE = 16383, VIDEO_MARGIN = 64 };

/// Finds the layout of `video->frame`, which must be within the limits: as small as is enough, in `out->frames` frames.
enum cameo_video_result video_layout(struct video *video, const struct cameo_video_wish *wish,
                                     struct cameo_video_frame *out, struct layout *layout);
/// The bytes of the rows of a frame.
size_t video_row_bytes(const struct layout *layout);
/// Writes the rows of `video->frame`, and up to VIDEO_MARGIN bytes more.
int video_rows(const struct video *video, const struct layout *layout, uint8_t *rows);
/// Makes `out->png` of the rows of `out->frames` frames.
int video_png(const struct layout *layout, const uint8_t *rows, struct cameo_video_frame *out);

/// Whether pictures of the stream, as far as its headers tell its size, have at most half of its width and height.
bool video_shrinks(const struct video *video, const struct cameo_video_wish *wish);

/// Makes the picture of `video->frame`.
enum cameo_video_result video_picture(struct video *video, const struct cameo_video_wish *wish,
                                      struct cameo_video_frame *out);

/// The result that stands for an error of the libraries, whose text goes to `out->detail`.
enum cameo_video_result video_failure(int error, struct cameo_video_frame *out);
