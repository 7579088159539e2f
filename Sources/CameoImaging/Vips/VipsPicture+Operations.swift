internal import CVips

/// One method an operation of libvips. All return nil when the operation failed.
extension VipsPicture {
    /// All pixels computed, here and now; what follows may read them in any order. This is where a damaged file shows.
    func materialized() -> VipsPicture? { VipsPicture(adopting: vips_image_copy_memory(image)) }

    func converted(to space: VipsInterpretation) -> VipsPicture? {
        VipsPicture { cameo_vips_colourspace(image, $0, space) }
    }

    /// To 8-bit sRGB, or grey for grey pixels, and said to be so. A TIFF's pixels may be `multiband`: libvips converts
    /// those by guessing what they are, and then still calls them that, which later operations refuse.
    func converted(toStandardOf colorBands: Int) -> VipsPicture? {
        let space = colorBands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        guard canBeConverted, let converted = converted(to: space) else { return nil }
        guard converted.interpretation != space else { return converted }
        return converted.reinterpreted(as: space)
    }

    private var canBeConverted: Bool { vips_colourspace_issupported(image) != 0 }

    /// To 8-bit sRGB by the embedded profile.
    func convertedByProfile() -> VipsPicture? { convertedToSRGB(fallback: nil) }

    /// To 8-bit sRGB by the embedded profile, else by libvips' own CMYK profile.
    func convertedFromCMYK() -> VipsPicture? { convertedToSRGB(fallback: "cmyk") }

    /// 16 bits become 8 afterwards: vips_icc_transform of 8.14 clips a 16-bit alpha to 255 instead of scaling it.
    private func convertedToSRGB(fallback: String?) -> VipsPicture? {
        guard format == VIPS_FORMAT_USHORT else { return VipsPicture { cameo_vips_to_srgb(image, $0, fallback, 8) } }
        guard let deep = VipsPicture({ cameo_vips_to_srgb(image, $0, fallback, 16) }) else { return nil }
        return deep.converted(to: VIPS_INTERPRETATION_sRGB)
    }

    func premultiplied() -> VipsPicture? { VipsPicture { cameo_vips_premultiply(image, $0) } }

    func unpremultiplied() -> VipsPicture? { VipsPicture { cameo_vips_unpremultiply(image, $0) } }

    func cast(to format: VipsBandFormat) -> VipsPicture? { VipsPicture { cameo_vips_cast(image, $0, format) } }

    /// The same numbers, said to mean something else.
    func reinterpreted(as space: VipsInterpretation) -> VipsPicture? {
        VipsPicture { cameo_vips_reinterpreted(image, $0, space) }
    }

    /// A scale over 1 enlarges.
    func resized(horizontalScale: Double, verticalScale: Double) -> VipsPicture? {
        VipsPicture { cameo_vips_resize(image, $0, horizontalScale, verticalScale) }
    }

    /// Turned and mirrored by its EXIF orientation; reads pixels in any order.
    func upright() -> VipsPicture? { VipsPicture { cameo_vips_autorot(image, $0) } }

    /// Clockwise; reads pixels in any order.
    func rotated(by angle: VipsAngle) -> VipsPicture? { VipsPicture { cameo_vips_rot(image, $0, angle) } }

    /// Reads pixels in any order.
    func flipped(_ direction: VipsDirection) -> VipsPicture? { VipsPicture { cameo_vips_flip(image, $0, direction) } }

    func cropped(left: Int, top: Int, width: Int, height: Int) -> VipsPicture? {
        VipsPicture {
            cameo_vips_extract_area(image, $0, Int32(left), Int32(top), Int32(width), Int32(height))
        }
    }

    /// Cut to the part that interests most; reads pixels in any order.
    func smartCropped(width: Int, height: Int, by interest: VipsInteresting) -> VipsPicture? {
        VipsPicture { cameo_vips_smartcrop(image, $0, Int32(width), Int32(height), interest) }
    }

    /// The same pixels without any header field that can be removed.
    func withoutMetadata() -> VipsPicture? {
        guard let copy = VipsPicture({ cameo_vips_copy(image, $0) }) else { return nil }
        guard let fields = vips_image_get_fields(copy.image) else { return nil }
        defer { g_strfreev(fields) }
        var index = 0
        while let field = fields[index] {
            vips_image_remove(copy.image, field)
            index += 1
        }
        return copy
    }

    func addingAlpha() -> VipsPicture? { VipsPicture { cameo_vips_add_alpha(image, $0) } }

    /// Shown on a plain background, which has a number for every band.
    func embedded(left: Int, top: Int, width: Int, height: Int, background: [Double]) -> VipsPicture? {
        VipsPicture {
            cameo_vips_embed(
                image,
                $0,
                Int32(left),
                Int32(top),
                Int32(width),
                Int32(height),
                background,
                Int32(background.count)
            )
        }
    }

    /// Alpha removed, shown over a colour, which has a number for every band but alpha.
    func flattened(background: [Double]) -> VipsPicture? {
        VipsPicture { cameo_vips_flatten(image, $0, background, Int32(background.count)) }
    }

    func firstBands(_ count: Int) -> VipsPicture? { bands(from: 0, count: count) }

    func bands(from first: Int, count: Int) -> VipsPicture? {
        VipsPicture { cameo_vips_bands(image, $0, Int32(first), Int32(count)) }
    }

    /// Left, top, width and height of everything that differs from `background` (a number for every band) by more than
    /// the threshold; a width of 0 if nothing does. Nil if the search failed.
    func trimBox(threshold: Double, background: [Double]) -> (left: Int, top: Int, width: Int, height: Int)? {
        var (left, top, width, height): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        let result = cameo_vips_find_trim(
            image,
            &left,
            &top,
            &width,
            &height,
            threshold,
            background,
            Int32(background.count)
        )
        return result == 0 ? (Int(left), Int(top), Int(width), Int(height)) : nil
    }

    /// The numbers of one pixel.
    func pixel(x: Int, y: Int) -> [Double]? {
        var numbers: UnsafeMutablePointer<Double>?
        var count: Int32 = 0
        guard cameo_vips_getpoint(image, &numbers, &count, Int32(x), Int32(y)) == 0, let numbers else { return nil }
        defer { g_free(numbers) }
        return Array(UnsafeBufferPointer(start: numbers, count: Int(count)))
    }

    /// Shown over a colour that is transparent itself: red, green, blue, alpha, 0…255. The picture must have these
    /// four bands.
    func composited(over background: [Double]) -> VipsPicture? {
        VipsPicture { cameo_vips_composite_over(image, $0, background) }
    }
}
