internal import CVips
internal import CameoModel
internal import Foundation

/// A libvips saver and its options; metadata is never written. Qualities are 1…100.
enum VipsSaver: Hashable {
    case jpeg(quality: Int, chroma: Rendition.Encoding.ChromaSubsampling, isProgressive: Bool)
    /// - Parameter effort: 1…9, zlib's level.
    case png(effort: Int)
    /// - Parameter effort: 1…9, for the quantiser and for zlib.
    case palettePNG(quality: Int, effort: Int)
    /// - Parameter effort: 0…6, libwebp's method.
    case webp(quality: Int, alphaQuality: Int, effort: Int)
    case losslessWebP(effort: Int)
    /// - Parameter quality: 100 changes no pixel.
    case nearLosslessWebP(quality: Int, effort: Int)
    /// - Parameter effort: 0…9, libaom's.
    case avif(quality: Int, effort: Int, chroma: Rendition.Encoding.ChromaSubsampling)
    case losslessAVIF(effort: Int)
    /// - Parameter effort: 1…9, the quantiser's.
    case gif(effort: Int)
}

extension VipsPicture {
    /// The encoded picture; nil if the encoder failed.
    func encoded(by saver: VipsSaver) -> Data? {
        let image = image
        switch saver {
        case .jpeg(let quality, let chroma, let isProgressive):
            return jpeg(quality: quality, chroma: chroma, isProgressive: isProgressive)
        case .png(let effort):
            return saved { cameo_vips_pngsave(image, $0, $1, Int32(effort)) }
        case .palettePNG(let quality, let effort):
            return saved { cameo_vips_pngsave_palette(image, $0, $1, Int32(effort), Int32(quality), Int32(effort)) }
        case .webp(let quality, let alphaQuality, let effort) where isPlainColor:
            return webP(quality: quality, alphaQuality: alphaQuality, effort: effort, isLossless: false)
        case .webp(let quality, let alphaQuality, let effort):
            return saved { cameo_vips_webpsave(image, $0, $1, Int32(quality), Int32(alphaQuality), Int32(effort)) }
        case .losslessWebP(let effort):
            if isPlainColor {
                return webP(quality: Self.losslessQuality, alphaQuality: 100, effort: effort, isLossless: true)
            }
            let colored = colorBands < 3 ? converted(to: VIPS_INTERPRETATION_sRGB) : nil
            if let colored, colored.isPlainColor { return colored.encoded(by: saver) }
            return saved { cameo_vips_webpsave_lossless(image, $0, $1, Int32(effort)) }
        case .nearLosslessWebP(let quality, let effort):
            return saved { cameo_vips_webpsave_near_lossless(image, $0, $1, Int32(quality), Int32(effort)) }
        case .avif(let quality, let effort, let chroma):
            let subsampling = chroma == .quarter ? VIPS_FOREIGN_SUBSAMPLE_ON : VIPS_FOREIGN_SUBSAMPLE_OFF
            return saved { cameo_vips_avifsave(image, $0, $1, Int32(quality), Int32(effort), subsampling) }
        case .losslessAVIF(let effort):
            return losslessAVIF(effort: effort)
        case .gif(let effort):
            return saved { cameo_vips_gifsave(image, $0, $1, Int32(effort)) }
        }
    }

    /// libvips' default for a lossless file.
    private static let losslessQuality = 75

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
