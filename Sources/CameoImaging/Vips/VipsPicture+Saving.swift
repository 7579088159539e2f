internal import CVips
internal import CameoModel
internal import Foundation

/// Encoders. Metadata is never written, and qualities are 1…100; see also ``jpeg(quality:chroma:isProgressive:)`` and
/// ``losslessAVIF(effort:)``. All return nil if the encoder failed.
extension VipsPicture {
    /// `effort` is 1…9, zlib's level.
    func png(effort: Int) -> Data? { saved { cameo_vips_pngsave(image, $0, $1, Int32(effort)) } }

    /// `effort` is 1…9, for the quantiser and for zlib.
    func palettePNG(quality: Int, effort: Int) -> Data? {
        saved { cameo_vips_pngsave_palette(image, $0, $1, Int32(effort), Int32(quality), Int32(effort)) }
    }

    /// `effort` is 0…6, libwebp's method.
    func lossyWebP(quality: Int, alphaQuality: Int, effort: Int) -> Data? {
        if isPlainColor { return webP(quality: quality, alphaQuality: alphaQuality, effort: effort, isLossless: false) }
        return saved { cameo_vips_webpsave(image, $0, $1, Int32(quality), Int32(alphaQuality), Int32(effort)) }
    }

    func losslessWebP(effort: Int) -> Data? {
        // The quality is libvips' default for a lossless file.
        if isPlainColor { return webP(quality: 75, alphaQuality: 100, effort: effort, isLossless: true) }
        let colored = colorBands < 3 ? converted(to: VIPS_INTERPRETATION_sRGB) : nil
        if let colored, colored.isPlainColor { return colored.losslessWebP(effort: effort) }
        return saved { cameo_vips_webpsave_lossless(image, $0, $1, Int32(effort)) }
    }

    /// A quality of 100 changes no pixel.
    func nearLosslessWebP(quality: Int, effort: Int) -> Data? {
        saved { cameo_vips_webpsave_near_lossless(image, $0, $1, Int32(quality), Int32(effort)) }
    }

    /// `effort` is 0…9, libaom's.
    func avif(quality: Int, effort: Int, chroma: Rendition.Encoding.ChromaSubsampling) -> Data? {
        let subsampling = chroma == .quarter ? VIPS_FOREIGN_SUBSAMPLE_ON : VIPS_FOREIGN_SUBSAMPLE_OFF
        return saved { cameo_vips_avifsave(image, $0, $1, Int32(quality), Int32(effort), subsampling) }
    }

    /// `effort` is 1…9, the quantiser's.
    func gif(effort: Int) -> Data? { saved { cameo_vips_gifsave(image, $0, $1, Int32(effort)) } }

    /// The bytes in a buffer that `save` allocates.
    private func saved(
        by save: (UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutablePointer<Int>) -> Int32
    ) -> Data? {
        var buffer: UnsafeMutableRawPointer?
        var length = 0
        let result = save(&buffer, &length)
        guard let buffer else { return nil }
        guard result == 0 else {
            g_free(buffer)
            return nil
        }
        return Data(bytesNoCopy: buffer, count: length, deallocator: .custom { pointer, _ in g_free(pointer) })
    }

    /// Whether the alpha band is 255 everywhere; nil if that could not be computed.
    var isOpaque: Bool? {
        guard hasAlpha else { return true }
        var lowest = 0.0
        guard cameo_vips_lowest(image, &lowest, Int32(colorBands)) == 0 else { return nil }
        return lowest >= 255
    }

    /// The same stacked frames with the timing fields that the GIF and WebP savers read.
    ///
    /// The GIF saver rounds delays to hundredths of a second, the unit of that format.
    func timed(_ animation: Animation) -> VipsPicture? {
        let delays = animation.delays.map { Int32(clamping: $0) }
        return copied { copy in
            vips_image_set_int(copy, "page-height", Int32(height / animation.frames))
            vips_image_set_array_int(copy, "delay", delays, Int32(delays.count))
            vips_image_set_int(copy, "loop", Int32(clamping: animation.loop))
        }
    }
}
