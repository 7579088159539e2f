internal import CVips

extension VipsPicture {
    /// The width in pixels.
    var width: Int { Int(vips_image_get_width(image)) }
    /// The height in pixels.
    var height: Int { Int(vips_image_get_height(image)) }
    var bands: Int { Int(vips_image_get_bands(image)) }
    var hasAlpha: Bool { vips_image_hasalpha(image) != 0 }
    var colorBands: Int { hasAlpha ? bands - 1 : bands }
    /// The EXIF orientation, 1…8; 1 is upright.
    var orientation: Int { Int(vips_image_get_orientation(image)) }
    /// Whether the upright picture has width and height exchanged.
    var isTurnedSideways: Bool { vips_image_get_orientation_swap(image) != 0 }
    var pages: Int { Int(vips_image_get_n_pages(image)) }
    var hasProfile: Bool { vips_image_get_typeof(image, VIPS_META_ICC_NAME) != 0 }

    /// The offset of a crop's origin from its source's, as `cropped` and `smartCropped` leave it: the negated number of
    /// pixels removed at the left and at the top.
    var offset: (x: Int, y: Int) { (Int(image.pointee.Xoffset), Int(image.pointee.Yoffset)) }

    var format: VipsBandFormat { vips_image_get_format(image) }
    var interpretation: VipsInterpretation { vips_image_get_interpretation(image) }
    var isCMYK: Bool { interpretation == VIPS_INTERPRETATION_CMYK }
    /// Whether a device profile can be applied, which needs integer device values.
    var hasDeviceNumbers: Bool {
        (format == VIPS_FORMAT_UCHAR || format == VIPS_FORMAT_USHORT)
            && interpretation != VIPS_INTERPRETATION_LAB && interpretation != VIPS_INTERPRETATION_LABS
    }

    /// The most memory that a decoder may use for the whole picture: its pixels, twice for decoding in several passes.
    var decodingBytes: Int { width * height * bands * Int(vips_format_sizeof(format)) * 2 }

    /// The pixels' type in messages, such as `4 bands of short, labs`.
    var pixelDescription: String {
        let format = cameo_vips_format_name(format).map(String.init(cString:)) ?? "?"
        let space = cameo_vips_interpretation_name(interpretation).map(String.init(cString:)) ?? "?"
        return "\(bands) bands of \(format), \(space)"
    }
}
