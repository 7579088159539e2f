/// Recognises files that are not supported pictures, so that the error message can name them.
enum ForeignFormat {
    /// The format with its article, such as `a PDF document`; nil if it is not recognised.
    static func guess(from bytes: UnsafeRawBufferPointer) -> String? {
        guard !bytes.isEmpty else { return "empty" }
        let start = Array(bytes.prefix(512))
        for (signature, name) in signatures where start.starts(with: signature) { return name }
        if start.dropFirst(4).starts(with: Array("ftyp".utf8)) { return "a video or audio file (ISO media)" }
        if start.starts(with: Array("RIFF".utf8)) { return "a RIFF file (audio or video)" }
        if let text = guessFromText(start) { return text }
        return start.starts(with: Array("BM".utf8)) ? "a BMP picture" : nil
    }

    private static let signatures: [([UInt8], String)] = [
        (Array("%PDF".utf8), "a PDF document"),
        (Array("8BPS".utf8), "a Photoshop document"),
        ([0, 0, 1, 0], "an ICO icon"),
        ([0xFF, 0x0A], "a JPEG XL picture"),
        ([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20], "a JPEG XL picture"),
        ([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20], "a JPEG 2000 picture"),
        ([0xFF, 0x4F, 0xFF, 0x51], "a JPEG 2000 picture"),
        ([0x76, 0x2F, 0x31, 0x01], "an OpenEXR picture"),
        ([0x1F, 0x8B], "gzip-compressed data"),
        (Array("PK\u{3}\u{4}".utf8), "a ZIP archive or office document"),
        ([0x1A, 0x45, 0xDF, 0xA3], "a WebM or Matroska video"),
        (Array("ID3".utf8), "an MP3 file"),
        (Array("SIMPLE  =".utf8), "a FITS picture"),
        (Array("#?RADIANCE".utf8), "a Radiance picture"),
        ([0x7F, 0x45, 0x4C, 0x46], "a program"),
        (Array("%!PS".utf8), "a PostScript document"),
    ]

    private static func guessFromText(_ start: [UInt8]) -> String? {
        guard start.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }) else {
            return nil
        }
        let text = String(decoding: start, as: UTF8.self).lowercased()
        if text.contains("<svg") { return "an SVG drawing" }
        if text.contains("<!doctype html") || text.contains("<html") { return "an HTML page" }
        if text.drop(while: \.isWhitespace).hasPrefix("<?xml") { return "an XML document" }
        if text.drop(while: \.isWhitespace).hasPrefix("{") { return "a JSON document" }
        if start.starts(with: Array("P".utf8)), let digit = start.dropFirst().first, (0x31...0x37).contains(digit) {
            return "a PNM picture"
        }
        return "plain text"
    }
}
