// https://developers.google.com/speed/webp/docs/riff_container
extension EncodedPicture {
    /// One plain chunk, or a VP8X header and any chunks. Every picture has the canvas size or, in an animation, its
    /// frame's.
    static func webp(_ bytes: EncodedBytes) -> EncodedPicture? {
        guard bytes.littleEndian(4, 4) == bytes.count - 8 else { return nil }
        guard bytes.has("VP8X", 12) else {
            guard let length = bytes.littleEndian(16, 4), 20 + length + length % 2 == bytes.count else { return nil }
            return bitstream(bytes, 12)
        }
        guard let canvas = EncodedPicture(more(bytes, 24), more(bytes, 27)) else { return nil }
        var frames = 0
        let isSound = isEach(bytes, 12..<bytes.count) { name, start, length in
            switch name {
            case "VP8 ", "VP8L":
                frames += 1
                return bitstream(bytes, start - 8) == canvas
            case "ANMF":
                frames += 1
                guard let left = bytes.littleEndian(start, 3), let top = bytes.littleEndian(start + 3, 3),
                    let frame = EncodedPicture(more(bytes, start + 6), more(bytes, start + 9)), length >= 16,
                    canvas.holds(left: 2 * left, top: 2 * top, width: frame.width, height: frame.height)
                else { return false }
                return isEach(bytes, start + 16..<start + length) { name, start, _ in
                    !["VP8 ", "VP8L"].contains(name) || bitstream(bytes, start - 8) == frame
                }
            default: return true
            }
        }
        return isSound ? EncodedPicture(canvas.width, canvas.height, frames: frames) : nil
    }

    /// Whether chunks fill a range exactly and each satisfies a condition.
    private static func isEach(
        _ bytes: EncodedBytes,
        _ range: Range<Int>,
        _ isGood: (_ name: String, _ start: Int, _ length: Int) -> Bool
    ) -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard let name = bytes.name(offset), let length = bytes.littleEndian(offset + 4, 4),
                length <= range.upperBound - offset - 8, isGood(name, offset + 8, length)
            else { return false }
            offset += 8 + length + length % 2
        }
        return offset == range.upperBound
    }

    /// The size in the header of the bitstream chunk at an offset.
    private static func bitstream(_ bytes: EncodedBytes, _ offset: Int) -> EncodedPicture? {
        if bytes.has("VP8L", offset), let bits = bytes.littleEndian(offset + 9, 4) {
            return EncodedPicture(bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        }
        guard bytes.has("VP8 ", offset) else { return nil }
        return EncodedPicture(
            bytes.littleEndian(offset + 14, 2).map { $0 & 0x3FFF },
            bytes.littleEndian(offset + 16, 2).map { $0 & 0x3FFF }
        )
    }

    /// A three-byte number that is stored less 1.
    private static func more(_ bytes: EncodedBytes, _ offset: Int) -> Int? {
        bytes.littleEndian(offset, 3).map { $0 + 1 }
    }
}
