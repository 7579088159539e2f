#!/usr/bin/env bash
# OpenCV 5.0.0 and PyAV 18.1.0 show the edges of a Matroska video that its PixelCrop elements hide.
#
# RFC 9559 (5.1.4.1.28.14 to .17): so many rows and columns are to be removed before a frame is displayed; letterbox bars
# are hidden so without encoding anything again (mkvpropedit sets them). The file, written here element by element, has
# uncompressed frames of 320x240 of which 30 rows above and below are black and cropped. FFmpeg 9's program, which both
# libraries are built with the libraries of, gives 320x180 without bars; OpenCV and PyAV give all 240 rows, bars included,
# and PyAV's stream says nothing of a crop. A thumbnail made by either has bars that no player shows.
#
# Prints a line a reader, and fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q install opencv-python-headless==5.0.0.93 av==18.1.0 imageio-ffmpeg==0.8.1 numpy==2.4.6
cat >case.py <<'PYTHON'
import struct
import subprocess

import av
import cv2
import imageio_ffmpeg
import numpy

WIDTH, HEIGHT, BAR = 320, 240, 30


def element(name, content):
    if isinstance(content, int):
        content = content.to_bytes(4, "big")
    return bytes.fromhex(name) + b"\x01" + len(content).to_bytes(7, "big") + content


light = numpy.full((HEIGHT, WIDTH), 16, "u1")
light[BAR:-BAR] = 235
frame = light.tobytes() + bytes([128]) * (WIDTH * HEIGHT // 2)
video = b"".join([
    element("B0", WIDTH), element("BA", HEIGHT), element("9A", 2), element("54BB", BAR), element("54AA", BAR),
    element("2EB524", b"I420")])
track = b"".join([
    element("D7", 1), element("73C5", 1), element("83", 1), element("86", b"V_UNCOMPRESSED"), element("E0", video)])
info = b"".join([
    element("2AD7B1", 1_000_000), element("4489", struct.pack(">d", 1000.0)), element("4D80", b"case"),
    element("5741", b"case")])
clusters = [element("E7", time) + element("A3", b"\x81\0\0\x80" + frame) for time in (0, 500)]
head = b"".join([
    element("4286", 1), element("42F7", 1), element("42F2", 4), element("42F3", 8), element("4282", b"matroska"),
    element("4287", 4), element("4285", 2)])
segment = element("1549A966", info) + element("1654AE6B", element("AE", track))
segment += b"".join(element("1F43B675", cluster) for cluster in clusters)
with open("crop.mkv", "wb") as file:
    file.write(element("1A45DFA3", head) + element("18538067", segment))

subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", "crop.mkv", "-frames:v", "1", "-update", "1", "shown.png"],
               check=True)
pictures = {"ffmpeg": cv2.imread("shown.png")}
_, pictures["OpenCV"] = cv2.VideoCapture("crop.mkv").read()
with av.open("crop.mkv") as container:
    pictures["PyAV"] = next(container.decode(video=0)).to_ndarray(format="bgr24")
seen = {}
for name, picture in pictures.items():
    bars = int((picture.mean(axis=(1, 2)) < 128).sum())
    seen[name] = (picture.shape[1], picture.shape[0], bars)
    print(f"{name}: {picture.shape[1]}x{picture.shape[0]}, {bars} black rows; RFC 9559: 320x180, 0")
assert seen == {"ffmpeg": (320, 180, 0), "OpenCV": (320, 240, 60), "PyAV": (320, 240, 60)}, "this has changed"
PYTHON
venv/bin/python case.py
