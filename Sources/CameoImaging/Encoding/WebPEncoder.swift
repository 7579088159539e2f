internal import CVips
internal import CWebP
internal import CameoModel
internal import Foundation

/// WebP (https://developers.google.com/speed/webp/docs/riff_container) by libwebp or, for an animation, by libvips.
enum WebPEncoder: FormatEncoder {
    static func file(of picture: borrowing VipsPicture, _ encoding: Rendition.Encoding, quality: Int?) -> Data? {
        let method = encoding.effort.map(method) ?? 4
        guard let quality else { return lossless(picture, method: method) }
        // A quality of 100 changes no pixel.
        if encoding.nearLossless {
            return picture.saved { cameo_vips_webpsave_near_lossless($0, $1, $2, Int32(quality), Int32(method)) }
        }
        // Damaged edges are noticed sooner than blurred colours: alpha stays lossless down to the default quality.
        let alpha = min(100, quality + 20)
        if picture.isPlainColor {
            return picture.webP(quality: quality, alphaQuality: alpha, method: method, isLossless: false)
        }
        return picture.saved { cameo_vips_webpsave($0, $1, $2, Int32(quality), Int32(alpha), Int32(method)) }
    }

    static func lossless(_ picture: borrowing VipsPicture, method: Int) -> Data? {
        // The quality is libvips' default for a lossless file.
        if picture.isPlainColor {
            return picture.webP(quality: 75, alphaQuality: 100, method: method, isLossless: true)
        }
        let colored = picture.colorBands < 3 ? picture.converted(to: VIPS_INTERPRETATION_sRGB) : nil
        if let colored, colored.isPlainColor { return lossless(colored, method: method) }
        return picture.saved { cameo_vips_webpsave_lossless($0, $1, $2, Int32(method)) }
    }

    /// Maps an effort of 1…9 to libwebp's 0…6.
    static func method(effort: Int) -> Int { ((effort - 1) * 6 + 4) / 8 }

    private struct Chunk {
        let name: String
        let payload: [UInt8]

        /// The chunk's bytes, padded to an even length.
        var bytes: [UInt8] {
            var bytes = Array(name.utf8)
            bytes.append(payload.count, count: 4, .little)
            return bytes + payload + (payload.count % 2 == 1 ? [0] : [])
        }
    }

    /// The flags in the first byte of VP8X.
    private enum Flag {
        static let profile: UInt8 = 0x20
        static let alpha: UInt8 = 0x10
        static let exif: UInt8 = 0x08
        static let xmp: UInt8 = 0x04
        static let metadata = profile | exif | xmp
    }

    private static let metadataNames: Set<String> = ["EXIF", "XMP ", "ICCP"]

    /// libvips 8.14.1 adds an EXIF chunk of its own, 220 bytes, to every WebP, even if told to strip.
    static func adding(_ metadata: KeptMetadata, to file: Data, size: PixelSize, hasAlpha: Bool) -> Data? {
        guard let chunks = chunks(of: file) else { return nil }
        var body = chunks.filter { !metadataNames.contains($0.name) }
        guard body.count < chunks.count || !metadata.isEmpty else { return file }
        // Flags, three reserved bytes, and width and height less 1.
        var header: [UInt8] = [hasAlpha ? Flag.alpha : 0, 0, 0, 0]
        header.append(size.width - 1, count: 3, .little)
        header.append(size.height - 1, count: 3, .little)
        if let first = body.first, first.name == "VP8X" {
            guard first.payload.count == header.count else { return nil }
            header = first.payload
            body.removeFirst()
        }
        header[0] &= ~Flag.metadata
        if metadata.profile != nil { header[0] |= Flag.profile }
        if metadata.exif != nil { header[0] |= Flag.exif }
        if metadata.xmp != nil { header[0] |= Flag.xmp }
        if let profile = metadata.profile { body.insert(Chunk(name: "ICCP", payload: profile), at: 0) }
        if let exif = metadata.exif { body.append(Chunk(name: "EXIF", payload: exif)) }
        if let xmp = metadata.xmp { body.append(Chunk(name: "XMP ", payload: xmp)) }
        // Nothing extended is left, so a plain file of one chunk is enough. VP8L itself declares its alpha.
        let isPlain = body.count == 1 && header[0] & ~Flag.alpha == 0 && (header[0] == 0 || body[0].name == "VP8L")
        if !isPlain { body.insert(Chunk(name: "VP8X", payload: header), at: 0) }

        let content = body.reduce(into: Array("WEBP".utf8)) { $0 += $1.bytes }
        var bytes = Array("RIFF".utf8)
        bytes.append(content.count, count: 4, .little)
        return Data(bytes + content)
    }

    /// The chunks, or nil if they do not fill the file exactly.
    private static func chunks(of file: Data) -> [Chunk]? {
        guard file.name(at: 0) == "RIFF", file.name(at: 8) == "WEBP" else { return nil }
        return file.withUnsafeBytes { file in
            var (parts, chunks): (FileParts, [Chunk]) = (FileParts(.riffChunk, of: file, from: 12), [])
            while let (name, payload) = parts.next() { chunks.append(Chunk(name: name, payload: Array(file[payload]))) }
            return parts.isAtEnd ? chunks : nil
        }
    }
}

extension VipsPicture {
    /// Whether ``webP(quality:alphaQuality:method:isLossless:)`` can encode the picture: it is in colour, and no animation.
    fileprivate var isPlainColor: Bool { colorBands == 3 && vips_image_get_typeof(image, VIPS_META_PAGE_HEIGHT) == 0 }

    /// The picture as a WebP file without metadata, with the same pixels as from libvips' saver, which takes a fifth longer for
    /// a thumbnail of 256 pixels: two threads hand each other every few rows.
    /// `quality` is 0…100, of a lossless file how hard libwebp tries. Nil if the picture could not be computed, or if libwebp
    /// refused it.
    fileprivate func webP(quality: Int, alphaQuality: Int, method: Int, isLossless: Bool) -> Data? {
        var settings = WebPConfig()
        var picture = WebPPicture()
        guard let pixels = materialized(), let start = vips_image_get_data(pixels.image),
            WebPConfigPreset(&settings, WEBP_PRESET_DEFAULT, Float(quality)) != 0, WebPPictureInit(&picture) != 0
        else { return nil }
        settings.method = Int32(method)
        settings.alpha_quality = Int32(alphaQuality)
        settings.lossless = isLossless ? 1 : 0
        // Also the colours of transparent pixels.
        settings.exact = settings.lossless
        picture.use_argb = settings.lossless
        (picture.width, picture.height) = (Int32(width), Int32(height))
        defer { WebPPictureFree(&picture) }
        let bytes = start.assumingMemoryBound(to: UInt8.self)
        let hasPixels =
            hasAlpha
            ? WebPPictureImportRGBA(&picture, bytes, picture.width * 4)
            : WebPPictureImportRGB(&picture, bytes, picture.width * 3)
        var file = WebPMemoryWriter()
        WebPMemoryWriterInit(&file)
        picture.writer = WebPMemoryWrite
        let isEncoded = withUnsafeMutablePointer(to: &file) { file in
            picture.custom_ptr = UnsafeMutableRawPointer(file)
            return hasPixels != 0 && WebPEncode(&settings, &picture) != 0
        }
        guard isEncoded, let memory = file.mem else {
            cameo_vips_note_error("webpsave", "libwebp's error \(cameo_webp_error(&picture))")
            WebPMemoryWriterClear(&file)
            return nil
        }
        return Data(bytesNoCopy: memory, count: file.size, deallocator: .custom { pointer, _ in WebPFree(pointer) })
    }
}
