internal import Foundation

/// The segments at the start of a JPEG file (ITU T.81, annex B), which hold its metadata.
enum JPEGContainer {
    private static let startOfImage: [UInt8] = [0xFF, 0xD8]
    private static let jfif: [UInt8] = [0xFF, 0xE0]
    /// The longest payload behind a segment's length.
    private static let longestPayload = 65_533
    private static let profileName = Array("ICC_PROFILE\0".utf8)

    /// - Returns: nil if this is not a JPEG file, or if the profile is too long for one.
    static func adding(_ metadata: KeptMetadata, to file: Data) -> Data? {
        let reader = ByteReader(file)
        guard reader.bytes.starts(with: startOfImage) else { return nil }
        // JFIF has to come first, and readers of EXIF expect that.
        var start = 2
        if reader.bytes.dropFirst(2).starts(with: jfif), let length = reader.number(at: 4, count: 2) {
            start += 2 + length
        }
        guard let head = reader.slice(at: 0, count: start) else { return nil }
        var added: [UInt8] = []
        if let exif = metadata.exif { added += segment(0xE1, Array("Exif\0\0".utf8) + exif) }
        if let xmp = metadata.xmp { added += segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + xmp) }
        if let profile = metadata.profile {
            // Numbered pieces (ICC.1:2010, B.4).
            let most = longestPayload - profileName.count - 2
            let pieces = stride(from: 0, to: profile.count, by: most).map { profile[$0...].prefix(most) }
            guard pieces.count <= 255 else { return nil }
            for (index, piece) in pieces.enumerated() {
                added += segment(0xE2, profileName + [UInt8(index + 1), UInt8(pieces.count)] + piece)
            }
        }
        return Data(head + added + reader.bytes[start...])
    }

    private static func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var segment: [UInt8] = [0xFF, marker]
        segment.append(payload.count + 2, count: 2)
        return segment + payload
    }
}
