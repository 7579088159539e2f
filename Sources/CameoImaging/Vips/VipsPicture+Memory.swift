internal import CVips
internal import CameoModel

extension VipsPicture {
    /// A picture copied from 8-bit values, row by row, pixel by pixel, band by band.
    init?(bytes: [UInt8], size: PixelSize, bands: Int, space: VipsInterpretation) {
        let copy = bytes.withUnsafeBytes {
            vips_image_new_from_memory_copy(
                $0.baseAddress,
                $0.count,
                Int32(size.width),
                Int32(size.height),
                Int32(bands),
                VIPS_FORMAT_UCHAR
            )
        }
        guard let plain = VipsPicture(adopting: copy), let picture = plain.reinterpreted(as: space) else { return nil }
        self = picture
    }

    /// One band of zeros; it takes no memory.
    init?(zeros size: PixelSize) {
        self.init { cameo_vips_black($0, Int32(size.width), Int32(size.height)) }
    }

    /// Calls `body` with all pixels, computed if necessary: row by row, pixel by pixel, band by band. The picture must
    /// have 8-bit values.
    ///
    /// - Returns: nil if a pixel could not be computed.
    func withPixels<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
        guard let pixels = materialized(), let start = vips_image_get_data(pixels.image) else { return nil }
        let bytes = UnsafeRawBufferPointer(start: start, count: width * height * bands)
        return bytes.withMemoryRebound(to: UInt8.self) { body($0.span) }
    }

    /// The same pixels for operations that are to read them from top to bottom, once: they keep rows that they need again.
    func inRowOrder() -> VipsPicture? {
        guard let copy = VipsPicture({ cameo_vips_copy(image, $0) }) else { return nil }
        vips_image_set_int(copy.image, VIPS_META_SEQUENTIAL, 1)
        return copy
    }

    /// The same pixels for operations that may read them in any order: they must be in memory.
    func inAnyOrder() -> VipsPicture? {
        guard let copy = VipsPicture({ cameo_vips_copy(image, $0) }) else { return nil }
        vips_image_remove(copy.image, VIPS_META_SEQUENTIAL)
        return copy
    }
}
