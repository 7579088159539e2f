/// The EXIF of a JPEG file, which libvips does not get to see.
///
/// DESIGN: libvips parses EXIF whenever it reads the header, two or three times a picture, prints every field and every
/// missing one into strings, and copies them all from each operation to the next. Of this Cameo needs the orientation,
/// and the block as it is. So the segment's marker is overwritten in the process's private copy of its page, by one that
/// decoders skip.
struct EXIFSegment {
    /// The segment's payload, with its `Exif` prefix.
    let payload: Range<Int>
    /// The EXIF orientation, 1…8; 1 if the block names none.
    let orientation: Int

    /// The offset of the second byte of the segment's marker.
    var marker: Int { payload.lowerBound - 3 }

    /// The marker of segments that decoders skip: APP15.
    static let skipped: UInt8 = 0xEF

    private static let orientationTag = 0x0112
    private static let prefix = Array("Exif\0\0".utf8)

    /// Nil if the file has none, or if anything about it is unusual; libvips then reads it.
    init?(in jpeg: UnsafeRawBufferPointer) {
        guard jpeg.starts(with: [0xFF, 0xD8, 0xFF]), let payload = Self.onlyPayload(in: jpeg) else { return nil }
        self.init(payload: payload, of: jpeg)
    }

    /// Nil if anything about it is unusual.
    init?(payload: Range<Int>, of bytes: UnsafeRawBufferPointer) {
        guard let file = TIFFFile(Array(bytes[payload])) else { return nil }
        self.payload = payload
        guard let entry = file.firstDirectory.first(where: { $0.tag == Self.orientationTag }) else {
            orientation = 1
            return
        }
        guard entry.type == 3, entry.value.count == 2 else { return nil }
        let number = Int(entry.value[file.order == .big ? 1 : 0])
        guard (1...8).contains(number), entry.value[file.order == .big ? 0 : 1] == 0 else { return nil }
        orientation = number
    }

    /// The payload of the only EXIF segment before the first scan (ITU T.81, annex B).
    private static func onlyPayload(in jpeg: UnsafeRawBufferPointer) -> Range<Int>? {
        var (found, offset): (Range<Int>?, Int) = (nil, 2)
        while offset + 4 <= jpeg.count, jpeg[offset] == 0xFF {
            let marker = jpeg[offset + 1]
            let end = offset + 2 + Int(jpeg[offset + 2]) << 8 + Int(jpeg[offset + 3])
            let payload = offset + 4..<max(offset + 4, end)
            switch marker {
            case 0xDA: return found
            case 0xC0...0xCF, 0xDB...0xFE: guard end >= offset + 4, end <= jpeg.count else { return nil }
            // No length follows.
            default: return nil
            }
            if marker == 0xE1, jpeg[payload].starts(with: prefix) {
                guard found == nil else { return nil }
                found = payload
            }
            offset = end
        }
        return nil
    }
}
