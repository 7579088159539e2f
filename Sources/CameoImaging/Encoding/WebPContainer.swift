internal import Foundation

/// The chunks of a WebP file (https://developers.google.com/speed/webp/docs/riff_container).
enum WebPContainer {
    private static let metadata: Set<String> = ["EXIF", "XMP ", "ICCP"]
    /// VP8X's flags for profile, EXIF and XMP.
    private static let metadataFlags: UInt8 = 0x20 | 0x08 | 0x04

    /// The same picture without metadata chunks.
    ///
    /// libvips 8.14.1 adds an EXIF chunk of its own to every WebP, also when it is told to strip: 220 bytes that say
    /// nothing, and a larger header to announce them.
    ///
    /// - Returns: the file unchanged if it has no such chunk or another structure than expected.
    static func withoutMetadata(_ file: Data) -> Data {
        guard let chunks = chunks(of: file), chunks.contains(where: { metadata.contains($0.name) }) else { return file }
        var kept = chunks.filter { !metadata.contains($0.name) }
        guard var header = kept.first, header.name == "VP8X", let flags = header.bytes.dropFirst(8).first else {
            return file
        }
        let flagsLeft = flags & ~metadataFlags
        header.bytes[header.bytes.startIndex + 8] = flagsLeft
        kept[0] = header
        // Nothing extended is left: a plain file of one chunk.
        if flagsLeft == 0, kept.count == 2 { kept.removeFirst() }

        let body = kept.reduce(Data("WEBP".utf8)) { $0 + $1.bytes }
        let length = withUnsafeBytes(of: UInt32(body.count).littleEndian) { Data($0) }
        return Data("RIFF".utf8) + length + body
    }

    /// Name and bytes (header and padding included) of each chunk; nil if they do not fill the file exactly.
    private static func chunks(of file: Data) -> [(name: String, bytes: Data)]? {
        var rest = file.dropFirst(12)
        var chunks: [(String, Data)] = []
        while rest.count >= 8 {
            let length = rest.dropFirst(4).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            let size = 8 + length + length % 2
            guard size <= rest.count else { return nil }
            chunks.append((String(decoding: rest.prefix(4), as: UTF8.self), Data(rest.prefix(size))))
            rest = rest.dropFirst(size)
        }
        return rest.isEmpty ? chunks : nil
    }
}
