"""Videos: small intact ones of every container and codec, and forged structures in them."""

import collections
import concurrent.futures
import os
import pathlib
import struct
import subprocess
import sys

from fuzzing.boxes import boxes
from fuzzing.generic import UNSIGNED, flip_bits, put, rearrange

VIDEO_WEIGHTS = {"mp4": 40, "matroska": 30, "mpegts": 15, "avi": 15}

# Format, file, and the options of ffmpeg. Those with sound have a second stream.
CLIPS = """
    mp4       h264.mp4        -c:v libx264
    mp4       sound.mp4       -c:v libx264 -bf 2 -movflags faststart -c:a aac
    mp4       fragments.mp4   -c:v libx264 -movflags frag_keyframe+empty_moov
    mp4       interlaced.mp4  -c:v libx264 -flags +ilme+ildct -x264opts tff=1
    mp4       turned.mp4      -c:v libx264 -aspect 2:1 -metadata:s:v:0 rotate=90
    mp4       deep.mov        -c:v libx264 -pix_fmt yuv422p10le
    mp4       hevc.mp4        -c:v libx265 -x265-params log-level=none:keyint=5
    mp4       pq.mp4          -c:v libx265 -pix_fmt yuv420p10le -x265-params log-level=none:transfer=smpte2084
    mp4       vp9.mp4         -c:v libvpx-vp9 -deadline realtime
    mp4       av1.mp4         -c:v libaom-av1 -usage realtime -cpu-used 8
    mp4       mpeg4.mp4       -c:v mpeg4 -bf 2
    mp4       mjpeg.mov       -c:v mjpeg -pix_fmt yuvj420p
    mp4       prores.mov      -c:v prores_ks
    matroska  h264.mkv        -c:v libx264 -c:a libopus
    matroska  hevc.mkv        -c:v libx265 -x265-params log-level=none:keyint=5
    matroska  vp8.webm        -c:v libvpx -deadline realtime
    matroska  vp9.webm        -c:v libvpx-vp9 -deadline realtime -c:a libopus
    matroska  av1.webm        -c:v libaom-av1 -usage realtime -cpu-used 8
    matroska  mpeg2.mkv       -c:v mpeg2video -r 25
    matroska  live.webm       -c:v libvpx -deadline realtime -live 1
    mpegts    h264.ts         -c:v libx264 -c:a aac
    mpegts    hevc.ts         -c:v libx265 -x265-params log-level=none:keyint=5
    mpegts    mpeg2.ts        -c:v mpeg2video -r 25
    mpegts    stamped.m2ts    -c:v libx264 -mpegts_m2ts_mode 1
    avi       mpeg4.avi       -c:v mpeg4 -bf 2 -c:a libmp3lame
    avi       mjpeg.avi       -c:v mjpeg -pix_fmt yuvj420p
    avi       h264.avi        -c:v libx264 -bf 0
    mp4       large.mp4       -c:v libx264 -vf scale=7680:4320 -frames:v 2
"""


def make_videos(work, formats):
    """The videos as {format: {file: bytes}}; those that this ffmpeg cannot write are reported and skipped."""

    def make(line):
        format, name, *options = line.split()
        sound = ["-f", "lavfi", "-i", "sine=d=2"] if "-c:a" in options else []
        command = ["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=10:d=2", *sound]
        if "-pix_fmt" not in options and "prores_ks" not in options:
            options += ["-pix_fmt", "yuv420p"]
        # The same bytes at every run.
        command += ["-g", "5", "-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact", *options]
        done = subprocess.run([*command, f"{work}/{name}"], capture_output=True, text=True)
        return format, name, done.stderr.strip() if done.returncode else None

    videos = collections.defaultdict(dict)
    lines = [line for line in CLIPS.strip().splitlines() if line.split()[0] in formats]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for format, name, problem in pool.map(make, lines):
            if problem is None:
                videos[format][name] = pathlib.Path(work, name).read_bytes()
            else:
                print(f"skipping {name}: {problem}", file=sys.stderr)
    return dict(videos)


def forge(rng, data, start, end):
    """Puts an extreme number at a random place within a range."""
    size = rng.choice([1, 2, 4, 4, 8])
    number = rng.choice(UNSIGNED) * (0x1_0000_0001 if size == 8 else 1)
    new = (number & (1 << 8 * size) - 1).to_bytes(size, rng.choice(["little", "big"]))
    return put(data, rng.randrange(start, max(start + 1, end - size + 1)), new)[: len(data)]


def damage_within(rng, data, start, end):
    """Flips bits within a range."""
    return data[:start] + flip_bits(rng, data[start:end] or b"\0", []) + data[end:]


# MP4 and QuickTime

TABLES = {
    b"stts", b"stsc", b"stsz", b"stco", b"co64", b"ctts", b"stss", b"elst", b"tkhd", b"mdhd", b"mvhd", b"stsd", b"trun",
    b"tfhd", b"tfdt", b"trex", b"avc1", b"hvc1", b"hev1", b"av01", b"vp09", b"mp4v", b"avcC", b"hvcC", b"av1C", b"vpcC",
    b"esds", b"dref", b"hdlr", b"colr", b"pasp", b"sidx", b"mfra",
}


def movie_table(rng, data, others):
    """Forges a count, size, offset or time, most often near the beginning of a table."""
    at, header, length, _ = rng.choice([box for box in boxes(data) if box[3] in TABLES])
    return forge(rng, data, at + header, at + (min(length, 28) if rng.random() < 0.7 else length))


def movie_data(rng, data, others):
    at, header, length, _ = rng.choice([box for box in boxes(data) if box[3] == b"mdat"])
    return damage_within(rng, data, at + header, at + length)


# WebM and Matroska

MASTERS = {
    0x18538067, 0x1549A966, 0x1654AE6B, 0xAE, 0xE0, 0x1F43B675, 0x1C53BB6B, 0xBB, 0xB7, 0x114D9B74, 0x4DBB, 0xA0,
}


def elements(data, start=0, end=None, found=None):
    """(offset, bytes of the id, bytes of the length, end, id) of every element, masters before their content."""
    found = [] if found is None else found
    end = len(data) if end is None else end
    while start + 2 <= end and data[start]:
        name = 9 - data[start].bit_length()
        at = start + name
        if at >= end or not data[at]:
            break
        size = 9 - data[at].bit_length()
        content = at + size
        length = int.from_bytes(data[at:content], "big") & (1 << 7 * size) - 1
        stop = end if length == (1 << 7 * size) - 1 else min(end, content + length)
        number = int.from_bytes(data[start:at], "big")
        found.append((start, name, size, stop, number))
        if number in MASTERS:
            elements(data, content, stop, found)
        start = max(stop, content)
    return found


def element_lie(rng, data, others):
    """Forges a length, an id or a number."""
    found = elements(data)[1:]  # the first is what gets it past our own look
    at, name, size, stop, _ = rng.choice(found)
    how = rng.randrange(3)
    if how == 0:
        limit = (1 << 7 * size) - 1
        length = rng.choice([0, 1, limit, limit - 1, stop - at, stop - at + 1]) & limit
        return put(data, at + name, (length | 1 << 7 * size).to_bytes(size, "big"))
    if how == 1:
        other = rng.choice(found)
        return data[:at] + data[other[0] : other[0] + other[1]] + data[at + name :]
    return forge(rng, data, at + name + size, min(stop, at + name + size + 8))


def element_move(rng, data, others):
    found = elements(data)[1:]
    (at, _, _, stop, _), (to, _, _, _, _) = rng.choice(found), rng.choice(found)
    if rng.random() < 0.5:
        return data[:to] + data[at:stop] * rng.choice([1, 5]) + data[to:]
    return data[:at] + data[stop:]


def element_data(rng, data, others):
    """Flips bits in a block."""
    at, name, size, stop, _ = rng.choice([element for element in elements(data) if element[4] in (0xA1, 0xA3)])
    return damage_within(rng, data, at + name + size, stop)


# Transport streams


def packets(data):
    """The packets of 188 bytes, or of 192 with a time stamp."""
    size = 188 if data[0] == data[188] == 0x47 else 192
    return [data[at : at + size] for at in range(0, len(data), size)]


def stream_rearrange(rng, data, others):
    return b"".join(rearrange(rng, packets(data), 4))


def stream_packet(rng, data, others):
    """Forges the header or the first bytes of one packet: its stream, flags, table or times."""
    all = packets(data)
    index = rng.randrange(min(4, len(all)) if rng.random() < 0.4 else len(all))
    sync = 1 if len(all[0]) == 188 else 5
    all[index] = forge(rng, all[index], sync, sync + rng.choice([3, 24, 60]))
    return b"".join(all)


# AVI


def lists(data, start=12, end=None, found=None):
    """(offset, length, kind) of every chunk, lists before their content."""
    found = [] if found is None else found
    end = len(data) if end is None else end
    while start + 8 <= end:
        kind, length = struct.unpack_from("<4sI", data, start)
        length = min(length, end - start - 8)
        found.append((start, length, kind))
        if kind == b"LIST":
            lists(data, start + 12, start + 8 + length, found)
        start += 8 + length + length % 2
    return found


def chunk_lie(rng, data, others):
    """Forges a length, a name, or a number in a header."""
    found = lists(data)
    at, length, _ = rng.choice(found)
    how = rng.randrange(3)
    if how == 0:
        return put(data, at + 4, struct.pack("<I", rng.choice(UNSIGNED + [length - 1 & 0xFFFF, length + 1])))
    if how == 1:
        return put(data, at, rng.choice([b"JUNK", b"idx1", b"LIST", b"00dc", rng.choice(found)[2]]))
    headers = [chunk for chunk in found if chunk[2] in (b"avih", b"strh", b"strf", b"idx1", b"indx", b"vprp")]
    at, length, _ = rng.choice(headers)
    return forge(rng, data, at + 8, at + 8 + min(length, 80))


def chunk_move(rng, data, others):
    found = lists(data)
    (at, length, _), (to, _, _) = rng.choice(found), rng.choice(found)
    if rng.random() < 0.5:
        return data[:to] + data[at : at + 8 + length] * rng.choice([1, 5]) + data[to:]
    return data[:at] + data[at + 8 + length :]


def chunk_data(rng, data, others):
    at, length, _ = rng.choice([chunk for chunk in lists(data) if chunk[2][2:] in (b"dc", b"db")])
    return damage_within(rng, data, at + 8, at + 8 + length)
