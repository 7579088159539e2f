extension PictureFormat {
    /// The format that a file's first bytes announce.
    ///
    /// libvips is not asked: its sniffers run even for loaders that are blocked, and one of them never returns for
    /// a certain file of 185 bytes (https://github.com/libvips/libvips/pull/4693).
    /// It takes the first 64 bytes at least.
    package static func sniffed(from bytes: UnsafeRawBufferPointer) throws(ImagingError) -> PictureFormat {
        let start = Array(bytes.prefix(64))
        if start.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
        if start.starts(with: Array("GIF87a".utf8)) || start.starts(with: Array("GIF89a".utf8)) { return .gif }
        if start.starts(with: Array("RIFF".utf8)), start.dropFirst(8).starts(with: Array("WEBP".utf8)) { return .webp }
        // Classic and BigTIFF, either byte order.
        for signature in [
            [0x49, 0x49, 0x2A, 0], [0x4D, 0x4D, 0, 0x2A], [0x49, 0x49, 0x2B, 0], [0x4D, 0x4D, 0, 0x2B],
        ]
        where start.starts(with: signature.map(UInt8.init)) { return .tiff }
        if start.dropFirst(4).starts(with: Array("ftyp".utf8)), let format = sniffedFromBrands(start) { return format }
        throw .unsupportedFormat(looksLike: ForeignFormat.guess(from: bytes))
    }

    /// ISO 14496-12: after `ftyp` the major brand, a version, and the compatible brands up to the box's end.
    private static func sniffedFromBrands(_ start: [UInt8]) -> PictureFormat? {
        let length = start.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let box = start.prefix(max(12, min(length, start.count)))
        guard box.count >= 12 else { return nil }
        func brand(at offset: Int) -> String { String(decoding: box[offset..<offset + 4], as: UTF8.self) }
        let compatible = stride(from: 16, to: box.count - 3, by: 4).map(brand(at:))
        switch brand(at: 8) {
        case "avif", "avis": return .avif
        case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": return .heif
        case "mif1", "msf1", "miaf": return compatible.contains { $0 == "avif" || $0 == "avis" } ? .avif : .heif
        default: return nil
        }
    }
}
