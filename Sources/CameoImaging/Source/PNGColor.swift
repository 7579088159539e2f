internal import CameoModel
internal import CameoSystem

/// What a PNG says of its colours besides a profile, which libvips 8.14 ignores, and of its orientation behind the pixels.
enum PNGColor {
    /// The colour space of cICP or, if there is neither profile nor sRGB, of gAMA and cHRM (PNG, third edition, 4.3).
    ///
    /// - Returns: nil if no such chunk precedes PLTE and IDAT, as it must; if it is damaged; or if it names something
    ///   unsupported (narrow range, YCbCr, other code points). The picture is then read as if the chunk were missing.
    static func named(in bytes: UnsafeRawBufferPointer) -> CodedColor? {
        var (gamma, primaries, isNamed): (Int?, CodedColor.Primaries?, Bool) = (nil, nil, false)
        search: for (name, payload) in chunks(of: bytes) {
            func numbers(_ count: Int) -> [Int]? { Self.numbers(at: payload, of: bytes, count: count) }
            switch name {
            case "IDAT", "PLTE": break search
            case "cICP": return numbers(1)?.first.flatMap(color)
            case "sRGB", "iCCP": isNamed = true
            case "gAMA": gamma = numbers(1)?.first
            case "cHRM":
                guard let points = numbers(8)?.map({ Double($0) / 100_000 }) else { continue }
                primaries = CodedColor.Primaries(white: Array(points[..<2]), Array(points[2...]))
            default: continue
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
        chunks(of: bytes).drop { $0.name != "IDAT" }.first { $0.name == "eXIf" }
            .flatMap { EXIFSegment(payload: $0.payload, of: bytes) }
    }

    /// Whether a PNG has frames (https://www.w3.org/TR/png-3/#11acTL).
    static func isAnimated(_ bytes: UnsafeRawBufferPointer) -> Bool {
        chunks(of: bytes).lazy.map(\.name).prefix { $0 != "IDAT" }.contains("acTL")
    }

    /// The chunks of a PNG behind IHDR; of other files, none.
    private static func chunks(of bytes: UnsafeRawBufferPointer) -> FileParts {
        FileParts(.pngChunk, of: bytes, from: bytes.starts(with: PNGFile.signature.prefix(4)) ? 33 : bytes.count)
    }

    /// The numbers of four bytes of which a chunk consists; nil if it does not, or is damaged.
    private static func numbers(at payload: Range<Int>, of bytes: UnsafeRawBufferPointer, count: Int) -> [Int]? {
        let named = bytes[payload.lowerBound - 4..<payload.upperBound]
        guard payload.count == 4 * count,
            bytes.number(at: payload.upperBound, count: 4) == Int(PNGFile.crc32(named))
        else { return nil }
        return (0..<count).compactMap { bytes.number(at: payload.lowerBound + 4 * $0, count: 4) }
    }

    /// By the four bytes of cICP, of which the last two have to say RGB and full range.
    private static func color(_ number: Int) -> CodedColor? {
        guard let primaries = CodedColor.Primaries(codePoint: number >> 24), number & 0xFFFF == 0x0001,
            let transfer = CodedColor.Transfer(codePoint: number >> 16 & 0xFF)
        else { return nil }
        return CodedColor(primaries: primaries, transfer: transfer)
    }
}
