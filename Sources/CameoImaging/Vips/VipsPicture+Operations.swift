internal import CVips
internal import CameoModel

/// One method per libvips operation. All return nil if the operation failed.
extension VipsPicture {
    /// Computes all pixels now; later steps may read them in any order. Damage in the file surfaces here.
    func materialized() -> VipsPicture? { VipsPicture(adopting: cameo_vips_computed(image)) }

    func converted(to space: VipsInterpretation) -> VipsPicture? {
        VipsPicture { cameo_vips_colourspace(image, $0, space) }
    }

    /// Converts to 8-bit sRGB, or to grey for grey pixels, and labels the result so. libvips converts a TIFF's
    /// `multiband` pixels by guessing their meaning but keeps that label, which later operations refuse.
    func converted(toStandardOf colorBands: Int) -> VipsPicture? {
        let space = colorBands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        guard canBeConverted, let converted = converted(to: space) else { return nil }
        guard converted.interpretation != space else { return converted }
        return converted.reinterpreted(as: space)
    }

    private var canBeConverted: Bool { vips_colourspace_issupported(image) != 0 }

    /// Converts to 8-bit sRGB by the embedded profile.
    func convertedByProfile() -> VipsPicture? { convertedToSRGB(fallback: nil) }

    /// Converts to 8-bit sRGB by the embedded profile, or by libvips' own CMYK profile if there is none.
    func convertedFromCMYK() -> VipsPicture? { convertedToSRGB(fallback: "cmyk") }

    /// Converts 16 bits first and reduces them afterwards: vips_icc_transform of 8.14 clips a 16-bit alpha to 255.
    private func convertedToSRGB(fallback: String?) -> VipsPicture? {
        guard format == VIPS_FORMAT_USHORT else { return VipsPicture { cameo_vips_to_srgb(image, $0, fallback, 8) } }
        guard let deep = VipsPicture({ cameo_vips_to_srgb(image, $0, fallback, 16) }) else { return nil }
        return deep.converted(to: VIPS_INTERPRETATION_sRGB)
    }

    func premultiplied() -> VipsPicture? { VipsPicture { cameo_vips_premultiply(image, $0) } }

    func unpremultiplied() -> VipsPicture? { VipsPicture { cameo_vips_unpremultiply(image, $0) } }

    func cast(to format: VipsBandFormat) -> VipsPicture? { VipsPicture { cameo_vips_cast(image, $0, format) } }

    /// The same values, labelled with another colour space.
    func reinterpreted(as space: VipsInterpretation) -> VipsPicture? {
        VipsPicture { cameo_vips_reinterpreted(image, $0, space) }
    }

    /// Resizes; a scale over 1 enlarges.
    func resized(horizontalScale: Double, verticalScale: Double) -> VipsPicture? {
        VipsPicture { cameo_vips_resize(image, $0, horizontalScale, verticalScale) }
    }

    /// Rotates and mirrors by the EXIF orientation; reads pixels in any order.
    func upright() -> VipsPicture? { VipsPicture { cameo_vips_autorot(image, $0) } }

    /// Rotates clockwise; reads pixels in any order.
    func rotated(by angle: VipsAngle) -> VipsPicture? { VipsPicture { cameo_vips_rot(image, $0, angle) } }

    /// Mirrors; reads pixels in any order.
    func flipped(_ direction: VipsDirection) -> VipsPicture? { VipsPicture { cameo_vips_flip(image, $0, direction) } }

    func cropped(left: Int, top: Int, width: Int, height: Int) -> VipsPicture? {
        VipsPicture {
            cameo_vips_extract_area(image, $0, Int32(left), Int32(top), Int32(width), Int32(height))
        }
    }

    /// Crops to the most interesting part; reads pixels in any order.
    func smartCropped(width: Int, height: Int, by interest: VipsInteresting) -> VipsPicture? {
        VipsPicture { cameo_vips_smartcrop(image, $0, Int32(width), Int32(height), interest) }
    }

    /// The same pixels without any removable header field.
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

    /// Places the picture on a plain background that has a value for every band.
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

    /// Blends the picture over a colour that has a value for every band but alpha, and removes the alpha.
    func flattened(background: [Double]) -> VipsPicture? {
        VipsPicture { cameo_vips_flatten(image, $0, background, Int32(background.count)) }
    }

    func firstBands(_ count: Int) -> VipsPicture? { bands(from: 0, count: count) }

    func bands(from first: Int, count: Int) -> VipsPicture? {
        VipsPicture { cameo_vips_bands(image, $0, Int32(first), Int32(count)) }
    }

    /// The area of all 8-bit pixels of which a band differs from that of a colour by more than a threshold: lines of one pixel
    /// too, which vips_find_trim takes for noise. The whole picture if there are none; nil if the search failed.
    func differing(from color: [Double], by threshold: Int) -> PixelArea? {
        let color = color.map { Int($0) }
        let (width, height, bands) = (width, height, bands)
        return withPixels { pixels in
            func differs(_ x: Int, _ y: Int) -> Bool {
                let start = (y * width + x) * bands
                for band in 0..<bands where abs(Int(pixels[start + band]) - color[band]) > threshold { return true }
                return false
            }
            func rowDiffers(_ y: Int) -> Bool { (0..<width).contains { differs($0, y) } }
            let whole = PixelArea(whole: PixelSize(width, height))
            guard let top = (0..<height).first(where: rowDiffers), let bottom = (top..<height).last(where: rowDiffers)
            else { return whole }
            func columnDiffers(_ x: Int) -> Bool { (top...bottom).contains { differs(x, $0) } }
            guard let left = (0..<width).first(where: columnDiffers),
                let right = (left..<width).last(where: columnDiffers)
            else { return whole }
            return PixelArea(left: left, top: top, size: PixelSize(right - left + 1, bottom - top + 1))
        }
    }

    func pixel(x: Int, y: Int) -> [Double]? {
        var numbers: UnsafeMutablePointer<Double>?
        var count: Int32 = 0
        guard cameo_vips_getpoint(image, &numbers, &count, Int32(x), Int32(y)) == 0, let numbers else { return nil }
        defer { g_free(numbers) }
        return Array(UnsafeBufferPointer(start: numbers, count: Int(count)))
    }

    /// Blends over a translucent colour: red, green, blue, alpha, 0…255. The picture must have these four bands.
    func composited(over background: [Double]) -> VipsPicture? {
        VipsPicture { cameo_vips_composite_over(image, $0, background) }
    }
}
