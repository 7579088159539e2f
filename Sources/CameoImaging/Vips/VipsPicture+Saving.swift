internal import CVips
internal import CameoModel
internal import Foundation

/// What encoders need of a picture.
extension VipsPicture {
    /// The bytes in a buffer that `save`, one of libvips' savers, allocates; nil if it failed.
    func saved(
        by save: (
            UnsafeMutablePointer<VipsImage>, UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutablePointer<Int>
        ) -> Int32
    ) -> Data? {
        var buffer: UnsafeMutableRawPointer?
        var length = 0
        let result = save(image, &buffer, &length)
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
