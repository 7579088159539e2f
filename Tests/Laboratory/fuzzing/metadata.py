"""EXIF and XMP for fixtures."""

import struct


def exif(orientation):
    """A TIFF structure with an orientation, a copyright and a location."""
    text = b"(c) nobody\0"
    entries, at = 3, 8 + 2 + 3 * 12 + 4
    ifd = struct.pack("<H", entries)
    ifd += struct.pack("<HHIHH", 0x0112, 3, 1, orientation, 0)
    ifd += struct.pack("<HHII", 0x8298, 2, len(text), at)
    ifd += struct.pack("<HHII", 0x8825, 4, 1, at + len(text) + 1)
    gps = struct.pack("<H", 1) + struct.pack("<HHI4s", 1, 2, 2, b"N\0\0\0") + struct.pack("<I", 0)
    return b"II*\0" + struct.pack("<I", 8) + ifd + struct.pack("<I", 0) + text + b"\0" + gps


XMP = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b'<rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="52,31N"/>'
    b"</rdf:RDF></x:xmpmeta>"
)
