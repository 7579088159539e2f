internal import CJPEG
internal import CVips
internal import CameoModel
internal import Foundation

/// JPEG by libjpeg; metadata goes into segments at the start (ITU T.81, annex B).
enum JPEGEncoder: FormatEncoder {
    static let hasGreyProfiles = true

    private static let startOfImage: [UInt8] = [0xFF, 0xD8]
    private static let jfif: [UInt8] = [0xFF, 0xE0]
    /// The longest payload behind a segment's length.
    private static let longestPayload = 65_533
    private static let profileName = Array("ICC_PROFILE\0".utf8)

    static func file(of picture: borrowing VipsPicture, _ encoding: Rendition.Encoding, quality: Int?) -> Data? {
        let quality = quality ?? 80
        guard let pixels = picture.materialized(), let start = vips_image_get_data(pixels.image) else { return nil }
        var bytes: UnsafeMutablePointer<UInt8>?
        var length = 0
        let failure = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(cameo_jpeg_message_size)) { message in
            let result = cameo_jpeg_encode(
                start.assumingMemoryBound(to: UInt8.self),
                Int32(picture.width),
                Int32(picture.height),
                Int32(picture.bands),
                Int32(quality),
                encoding.progressive ? 1 : 0,
                encoding.chroma(at: quality) == .quarter ? 1 : 0,
                &bytes,
                &length,
                message.baseAddress
            )
            return result == 0 ? nil : message.baseAddress.map { String(cString: $0) }
        }
        if let failure { cameo_vips_note_error("jpegsave", failure) }
        guard failure == nil, let bytes else { return nil }
        return Data(bytesNoCopy: bytes, count: length, deallocator: .free)
    }

    static func adding(_ metadata: KeptMetadata, to file: Data, size: PixelSize, hasAlpha: Bool) -> Data? {
        if metadata.isEmpty { return file }
        guard file.starts(with: startOfImage) else { return nil }
        // JFIF has to come first, and readers of EXIF expect that.
        var start = 2
        if file.dropFirst(2).starts(with: jfif), let length = file.number(at: 4, count: 2) {
            start += 2 + length
        }
        guard let head = file.slice(at: 0, count: start) else { return nil }
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
        return head + added + file[head.endIndex...]
    }

    private static func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var segment: [UInt8] = [0xFF, marker]
        segment.append(payload.count + 2, count: 2)
        return segment + payload
    }
}

extension Rendition.Encoding {
    /// The default is libvips' own.
    func chroma(at quality: Int) -> ChromaSubsampling { chromaSubsampling ?? (quality >= 90 ? .full : .quarter) }
}
