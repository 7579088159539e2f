internal import CVips
internal import CWebP
internal import CameoModel
internal import Foundation

extension VipsPicture {
    /// Whether ``webP(quality:alphaQuality:effort:isLossless:)`` can encode the picture: it is in colour, and no animation.
    var isPlainColor: Bool { colorBands == 3 && vips_image_get_typeof(image, VIPS_META_PAGE_HEIGHT) == 0 }

    /// The picture as a WebP file without metadata: the same pixels as libvips' saver, which has two threads hand each other
    /// every few rows and adds EXIF that nobody asked for. That took a sixth of the encoding of a thumbnail of 256 pixels.
    /// `quality` is 0…100, of a lossless file how hard libwebp tries; `effort` is 0…6, libwebp's method.
    ///
    /// - Returns: nil if it could not be computed, or if libwebp refused it.
    func webP(quality: Int, alphaQuality: Int, effort: Int, isLossless: Bool) -> Data? {
        var settings = WebPConfig()
        var picture = WebPPicture()
        guard let pixels = materialized(), let start = vips_image_get_data(pixels.image),
            WebPConfigPreset(&settings, WEBP_PRESET_DEFAULT, Float(quality)) != 0, WebPPictureInit(&picture) != 0
        else { return nil }
        settings.method = Int32(effort)
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
