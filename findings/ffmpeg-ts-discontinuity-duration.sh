#!/usr/bin/env bash
# FFmpeg 9.0.2, PyAV 18.1.0 and OpenCV 5.0.0 say that a transport stream of 20 seconds lasts more than 22 hours.
#
# ISO/IEC 13818-1 (2.4.3.5): where discontinuity_indicator is set in a packet that carries the clock, a new time base begins,
# as when a receiver changes the programme it records, or two recordings are joined. The file is made of two clips of ten
# seconds, red and blue, of which the second has its clock 80,000 seconds later and the indicator in its first such
# packet. libavformat takes the difference of the last and the first time stamp for the duration, so OpenCV counts two
# million frames of 500, and whoever wants the frame in the middle looks for it at 11 hours.
#
# Prints a line a reader, and fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q install opencv-python-headless==5.0.0.93 av==18.1.0 imageio-ffmpeg==0.8.1 numpy==2.4.6
cat >case.py <<'PYTHON'
import re
import subprocess

import av
import cv2
import imageio_ffmpeg

ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()


def clip(color, clock):
    name = f"{color}.ts"
    subprocess.run([ffmpeg, "-v", "error", "-f", "lavfi", "-i", f"color={color}:s=320x240:r=25:d=10", "-c:v",
                    "mpeg2video", "-output_ts_offset", str(clock), "-f", "mpegts", name], check=True)
    with open(name, "rb") as file:
        return bytearray(file.read())


first, second = clip("red", 0), clip("blue", 80_000)
for at in range(0, len(second), 188):
    has_clock = second[at + 3] & 0x20 and second[at + 4] > 0 and second[at + 5] & 0x10
    if has_clock:
        second[at + 5] |= 0x80
        break
else:
    raise SystemExit("the stream has no clock")
with open("joined.ts", "wb") as file:
    file.write(first + second)

words = subprocess.run([ffmpeg, "-i", "joined.ts"], capture_output=True, text=True).stderr
hours, minutes, seconds = re.search(r"Duration: (\d+):(\d+):([\d.]+)", words).groups()
decoded = subprocess.run([ffmpeg, "-v", "error", "-i", "joined.ts", "-f", "null", "-", "-progress", "-"],
                         capture_output=True, text=True).stdout
frames = int(re.findall(r"frame=(\d+)", decoded)[-1])
with av.open("joined.ts") as container:
    pyav = container.duration / 1e6
counted = cv2.VideoCapture("joined.ts").get(cv2.CAP_PROP_FRAME_COUNT)
ffmpeg_says = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
print(f"frames that are decoded: {frames}, {frames / 25:.0f} s")
print(f"FFmpeg: {ffmpeg_says:,.0f} s; PyAV: {pyav:,.0f} s; OpenCV: {counted:,.0f} frames")
assert 495 <= frames <= 505 and ffmpeg_says > 80_000 and pyav > 80_000 and counted > 2_000_000, "this has changed"
PYTHON
venv/bin/python case.py
