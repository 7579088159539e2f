internal import CVips
internal import CameoModel

/// The operations behind the conversion of HDR light. All return nil if the operation failed.
extension VipsPicture {
    /// The largest integer value, for 8 or 16 bits.
    var largestNumber: Int { format == VIPS_FORMAT_USHORT ? 65_535 : 255 }

    /// Replaces every value by the table entry at that index, of its own band if the table has several.
    func mapped(throughNumbers table: [Float], bands: Int = 1) -> VipsPicture? {
        let copy = table.withUnsafeBytes {
            vips_image_new_from_memory_copy(
                $0.baseAddress,
                $0.count,
                Int32(table.count / bands),
                1,
                Int32(bands),
                VIPS_FORMAT_FLOAT
            )
        }
        guard let table = VipsPicture(adopting: copy) else { return nil }
        return mapped(through: table)
    }

    /// Replaces every value by the table entry at that index, and labels the result with this space.
    func mapped(throughBytes table: [UInt8], space: VipsInterpretation) -> VipsPicture? {
        guard let table = VipsPicture(bytes: table, size: PixelSize(table.count, 1), bands: 1, space: space) else {
            return nil
        }
        return mapped(through: table)?.reinterpreted(as: space)
    }

    /// Maps 0…`highest` to clipped 16-bit integers, as table indices.
    func indexed(upTo highest: Double) -> VipsPicture? {
        scaled(by: [65_535 / highest], adding: [0])?.rounded()?.cast(to: VIPS_FORMAT_USHORT)
    }

    /// The largest of each pixel's three bands.
    func bandMaximum() -> VipsPicture? { VipsPicture { cameo_vips_band_maximum(image, $0) } }
}
