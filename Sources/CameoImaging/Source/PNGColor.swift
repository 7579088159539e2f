/// The colour space that a PNG declares in its cICP chunk (PNG, third edition, 11.3.2.6), which libvips 8.14 ignores.
package enum PNGColor {
    /// The bytes of signature and IHDR.
    private static let firstChunk = 33
    /// The bytes of length, type and checksum.
    private static let frame = 12

    /// - Returns: nil if no cICP chunk precedes PLTE and IDAT, as it must; if it is damaged; or if it names something
    ///   unsupported (narrow range, YCbCr, other code points). The picture is then read as if the chunk were missing.
    package static func named(in bytes: UnsafeRawBufferPointer) -> CodedColor? {
        var offset = firstChunk
        while bytes.count - offset >= frame {
            let length = number(bytes, at: offset)
            guard length <= bytes.count - offset - frame else { return nil }
            let type = bytes[offset + 4..<offset + 8]
            if type.elementsEqual("IDAT".utf8) || type.elementsEqual("PLTE".utf8) { return nil }
            if type.elementsEqual("cICP".utf8) { return color(inChunk: bytes[offset..<offset + frame + length]) }
            offset += frame + length
        }
        return nil
    }

    private static func color(inChunk chunk: Slice<UnsafeRawBufferPointer>) -> CodedColor? {
        let reader = ByteReader(chunk)
        guard reader.count == frame + 4, let named = reader.slice(at: 4, count: 8),
            reader.number(at: 12, count: 4) == Int(checksum(named)),
            let primaries = reader.number(at: 8, count: 1).flatMap(CodedColor.Primaries.init),
            let transfer = reader.number(at: 9, count: 1).flatMap(CodedColor.Transfer.init),
            // RGB, full range.
            reader.number(at: 10, count: 2) == 0x0001
        else { return nil }
        return CodedColor(primaries, transfer)
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// The CRC of PNG chunks (ISO 3309).
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
    }
}
