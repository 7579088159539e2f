internal import CameoModel
internal import Foundation

/// The edges in pixels that the first bytes of an encoded picture announce.
///
/// Reads a few fixed places and, in a JPEG, the lengths of its first segments; decodes nothing.
struct EncodedSize: Hashable {
    let width: Int
    let height: Int

    /// The format is what the bytes' magic says already. Nil for bytes that end too early or are not like it, and for
    /// AVIF.
    init?(of bytes: Data, _ format: Rendition.Format) {
        let edges: (Int, Int)? =
            switch format {
            case .png: Self.png(bytes)
            case .gif:
                Self.littleEndian(bytes, 6, 2).flatMap { width in Self.pair(width, Self.littleEndian(bytes, 8, 2)) }
            case .jpeg: Self.jpeg(bytes)
            case .webp: Self.webp(bytes)
            case .avif, .auto, .source: nil
            }
        guard let edges else { return nil }
        (width, height) = edges
    }

    /// The chunk IHDR is the first (https://www.w3.org/TR/png-3/#11IHDR).
    private static func png(_ bytes: Data) -> (Int, Int)? {
        guard has("IHDR", bytes, at: 12) else { return nil }
        return pair(bigEndian(bytes, 16, 4), bigEndian(bytes, 20, 4))
    }

    /// The first frame header, SOF0…SOF15, behind segments that each tell their length (ITU T.81, annex B).
    private static func jpeg(_ bytes: Data) -> (Int, Int)? {
        var offset = 2
        while let marker = bigEndian(bytes, offset, 2), let length = bigEndian(bytes, offset + 2, 2), length >= 2 {
            switch marker {
            case 0xFFC4, 0xFFC8, 0xFFCC: break  // tables and a reserved code within the range
            case 0xFFC0...0xFFCF: return pair(bigEndian(bytes, offset + 7, 2), bigEndian(bytes, offset + 5, 2))
            case 0xFFE0...0xFFFE, 0xFFDB, 0xFFDD: break
            default: return nil
            }
            offset += 2 + length
        }
        return nil
    }

    /// The first chunk (https://developers.google.com/speed/webp/docs/riff_container).
    private static func webp(_ bytes: Data) -> (Int, Int)? {
        if has("VP8X", bytes, at: 12) {
            return pair(littleEndian(bytes, 24, 3).map { $0 + 1 }, littleEndian(bytes, 27, 3).map { $0 + 1 })
        }
        if has("VP8L", bytes, at: 12), let bits = littleEndian(bytes, 21, 4) {
            return (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        }
        guard has("VP8 ", bytes, at: 12) else { return nil }
        return pair(littleEndian(bytes, 26, 2).map { $0 & 0x3FFF }, littleEndian(bytes, 28, 2).map { $0 & 0x3FFF })
    }

    private static func pair(_ width: Int?, _ height: Int?) -> (Int, Int)? {
        guard let width, let height else { return nil }
        return (width, height)
    }

    private static func has(_ word: String, _ bytes: Data, at offset: Int) -> Bool {
        bytes.dropFirst(offset).starts(with: word.utf8)
    }

    private static func bigEndian(_ bytes: Data, _ offset: Int, _ count: Int) -> Int? {
        let part = bytes.dropFirst(offset).prefix(count)
        return part.count == count ? part.reduce(0) { $0 << 8 | Int($1) } : nil
    }

    private static func littleEndian(_ bytes: Data, _ offset: Int, _ count: Int) -> Int? {
        let part = bytes.dropFirst(offset).prefix(count)
        return part.count == count ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : nil
    }
}
