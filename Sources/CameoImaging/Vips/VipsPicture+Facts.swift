internal import CVips

extension VipsPicture {
    /// Pixels.
    var width: Int { Int(vips_image_get_width(image)) }
    var height: Int { Int(vips_image_get_height(image)) }
    var bands: Int { Int(vips_image_get_bands(image)) }
    var hasAlpha: Bool { vips_image_hasalpha(image) != 0 }
    /// Bands that carry colour.
    var colorBands: Int { hasAlpha ? bands - 1 : bands }
    /// 1…8, as EXIF counts; 1 is upright.
    var orientation: Int { Int(vips_image_get_orientation(image)) }
    /// Whether upright pixels have width and height exchanged.
    var isTurnedSideways: Bool { vips_image_get_orientation_swap(image) != 0 }
    var pages: Int { Int(vips_image_get_n_pages(image)) }
    var hasProfile: Bool { vips_image_get_typeof(image, VIPS_META_ICC_NAME) != 0 }

    /// How far a cut-out's origin lies from its source's: what `cropped` and `smartCropped` took away at the left and at
    /// the top, negative.
    var offset: (x: Int, y: Int) { (Int(image.pointee.Xoffset), Int(image.pointee.Yoffset)) }

    var format: VipsBandFormat { vips_image_get_format(image) }
    var interpretation: VipsInterpretation { vips_image_get_interpretation(image) }
    var isCMYK: Bool { interpretation == VIPS_INTERPRETATION_CMYK }
    /// Whether a device profile can be applied: only to whole numbers, which is what a device has.
    var hasDeviceNumbers: Bool {
        (format == VIPS_FORMAT_UCHAR || format == VIPS_FORMAT_USHORT)
            && interpretation != VIPS_INTERPRETATION_LAB && interpretation != VIPS_INTERPRETATION_LABS
    }

    /// What a decoder may hold of the whole picture at once: its pixels, twice for formats that decode in several passes.
    var decodingBytes: Int { width * height * bands * Int(vips_format_sizeof(format)) * 2 }

    /// As in `4 bands of short, labs`, for messages.
    var pixelDescription: String {
        let format = vips_enum_nick(vips_band_format_get_type(), Int32(self.format.rawValue)).map(String.init(cString:))
        let space = vips_enum_nick(vips_interpretation_get_type(), Int32(interpretation.rawValue))
            .map(String.init(cString:))
        return "\(bands) bands of \(format ?? "?"), \(space ?? "?")"
    }
}
