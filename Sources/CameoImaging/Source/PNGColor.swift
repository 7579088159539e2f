internal import CameoModel

/// What a PNG says of its colours besides a profile, which libvips 8.14 ignores, and of its orientation behind the pixels.
enum PNGColor {
    /// The bytes of signature and IHDR.
    private static let firstChunk = 33
    /// The bytes of length, type and checksum.
    private static let frame = 12

    /// The colour space of cICP or, if there is neither profile nor sRGB, of gAMA and cHRM (PNG, third edition, 4.3).
    ///
    /// - Returns: nil if no such chunk precedes PLTE and IDAT, as it must; if it is damaged; or if it names something
    ///   unsupported (narrow range, YCbCr, other code points). The picture is then read as if the chunk were missing.
    static func named(in bytes: UnsafeRawBufferPointer) -> CodedColor? {
        var (gamma, primaries, isNamed): (Int?, CodedColor.Primaries?, Bool) = (nil, nil, false)
        for chunk in chunks(of: bytes) where chunk.count >= frame {
            let type = chunk.dropFirst(4).prefix(4)
            if type.elementsEqual("IDAT".utf8) || type.elementsEqual("PLTE".utf8) { break }
            if type.elementsEqual("cICP".utf8) { return color(inChunk: chunk) }
            if type.elementsEqual("sRGB".utf8) || type.elementsEqual("iCCP".utf8) { isNamed = true }
            if type.elementsEqual("gAMA".utf8) { gamma = numbers(in: chunk, count: 1)?.first }
            if type.elementsEqual("cHRM".utf8), let points = numbers(in: chunk, count: 8)?.map({ Double($0) / 100_000 })
            {
                primaries = CodedColor.Primaries(white: Array(points[..<2]), Array(points[2...]))
            }
        }
        guard !isNamed else { return nil }
        // As libpng does, a twentieth is no difference: the usual 1 / 2.2 stands for sRGB.
        let exponent = gamma.flatMap { (1...10_000_000).contains($0) ? 100_000 / Double($0) : nil }
        let isUsual = exponent.map { ($0 / 2.2 - 1).magnitude < 0.05 } ?? true
        let isNear = primaries.map { primaries in
            zip(primaries.toBT709, CodedColor.Primaries.bt709.toBT709).allSatisfy { ($0 - $1).magnitude < 0.01 }
        }
        guard !isUsual || isNear == false else { return nil }
        let transfer = isUsual ? .sRGB : exponent.map(CodedColor.Transfer.gamma) ?? .sRGB
        return CodedColor(primaries: isNear == false ? primaries ?? .bt709 : .bt709, transfer: transfer)
    }

    /// The EXIF behind the pixels, which libvips does not read; nil if there is none.
    static func lateEXIF(in bytes: UnsafeRawBufferPointer) -> EXIFSegment? {
        let late = chunks(of: bytes).drop { !$0.dropFirst(4).starts(with: "IDAT".utf8) }
        return late.first { $0.dropFirst(4).starts(with: "eXIf".utf8) }
            .flatMap { EXIFSegment(payload: $0.startIndex + 8..<$0.endIndex - 4, of: bytes) }
    }

    /// Whether a PNG has frames (https://www.w3.org/TR/png-3/#11acTL).
    static func isAnimated(_ bytes: UnsafeRawBufferPointer) -> Bool {
        chunks(of: bytes).lazy.map { $0.dropFirst(4).prefix(4) }.prefix { !$0.elementsEqual("IDAT".utf8) }
            .contains { $0.elementsEqual("acTL".utf8) }
    }

    /// The chunks with length, type and checksum, up to the first that is cut off. Of other files, none.
    private static func chunks(of bytes: UnsafeRawBufferPointer) -> some Sequence<Slice<UnsafeRawBufferPointer>> {
        sequence(state: bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) ? firstChunk : bytes.count) { offset in
            guard bytes.count - offset >= frame else { return nil }
            let end = offset + frame + number(bytes, at: offset)
            guard end <= bytes.count else { return nil }
            defer { offset = end }
            return bytes[offset..<end]
        }
    }

    private static func numbers(in chunk: Slice<UnsafeRawBufferPointer>, count: Int) -> [Int]? {
        guard chunk.count == frame + 4 * count else { return nil }
        let reader = ByteReader(chunk)
        guard let body = reader.slice(at: 4, count: 4 + 4 * count),
            reader.number(at: 8 + 4 * count, count: 4) == Int(PNGFile.crc32(body))
        else { return nil }
        return (0..<count).compactMap { reader.number(at: 8 + 4 * $0, count: 4) }
    }

    private static func color(inChunk chunk: Slice<UnsafeRawBufferPointer>) -> CodedColor? {
        let reader = ByteReader(chunk)
        guard reader.count == frame + 4, let named = reader.slice(at: 4, count: 8),
            reader.number(at: 12, count: 4) == Int(PNGFile.crc32(named)),
            let primaries = reader.number(at: 8, count: 1).flatMap(CodedColor.Primaries.init(codePoint:)),
            let transfer = reader.number(at: 9, count: 1).flatMap(CodedColor.Transfer.init(codePoint:)),
            // RGB, full range.
            reader.number(at: 10, count: 2) == 0x0001
        else { return nil }
        return CodedColor(primaries: primaries, transfer: transfer)
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
