internal import CVips
internal import CameoModel

/// One method per libvips operation. All return nil if the operation failed.
extension VipsPicture {
    /// Computes all pixels now; later steps may read them in any order. Damage in the file surfaces here.
    func materialized() -> VipsPicture? { VipsPicture(adopting: cameo_vips_computed(image)) }

    /// Whether another picture, in memory as this one, is the same.
    func hasPixels(of other: borrowing VipsPicture) -> Bool { cameo_vips_have_same_pixels(image, other.image) != 0 }

    func withoutMissingPixels(comparedWith other: borrowing VipsPicture, rows: Int?) -> VipsPicture? {
        VipsPicture { cameo_vips_without_missing(image, other.image, $0, Int32(rows ?? height)) }
    }

    var looksEmpty: Bool { cameo_vips_looks_empty(image) != 0 }

    func converted(to space: VipsInterpretation) -> VipsPicture? {
        VipsPicture { cameo_vips_colourspace(image, $0, space) }
    }

    /// Converts to 8-bit sRGB, or to grey for grey pixels, and labels the result so. libvips converts a TIFF's
    /// `multiband` pixels by guessing their meaning but keeps that label, which later operations refuse.
    ///
    /// - Throws: ``ImagingError/unsupportedPixels(_:)``
    func convertedToStandard() throws(ImagingError) -> VipsPicture {
        let space = colorBands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        if interpretation == space, format == VIPS_FORMAT_UCHAR { return sharingReference() }
        if vips_colourspace_issupported(image) != 0, let converted = converted(to: space) {
            guard converted.interpretation != space else { return converted }
            if let labelled = converted.reinterpreted(as: space) { return labelled }
        }
        throw .unsupportedPixels(pixelDescription)
    }

    /// Converts to 8-bit sRGB by the embedded profile, or by libvips' own CMYK profile if there is none for CMYK.
    func convertedByProfile() -> VipsPicture? {
        let fallback = isCMYK ? "cmyk" : nil
        // Converts 16 bits first and reduces them afterwards: vips_icc_transform of 8.14 clips a 16-bit alpha to 255.
        guard format == VIPS_FORMAT_USHORT else { return VipsPicture { cameo_vips_to_srgb(image, $0, fallback, 8) } }
        return VipsPicture { cameo_vips_to_srgb(image, $0, fallback, 16) }?.converted(to: VIPS_INTERPRETATION_sRGB)
    }

    func premultiplied() -> VipsPicture? { VipsPicture { cameo_vips_premultiply(image, $0) } }

    func unpremultiplied() -> VipsPicture? { VipsPicture { cameo_vips_unpremultiply(image, $0) } }

    func cast(to format: VipsBandFormat) -> VipsPicture? { VipsPicture { cameo_vips_cast(image, $0, format) } }

    /// The same bits, taken for numbers from 0 to 65,535.
    func unsigned() -> VipsPicture? { VipsPicture { cameo_vips_unsigned(image, $0) } }

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

    func cropped(to area: PixelArea) -> VipsPicture? {
        let (left, top, size) = (Int32(area.left), Int32(area.top), area.size)
        return VipsPicture { cameo_vips_extract_area(image, $0, left, top, Int32(size.width), Int32(size.height)) }
    }

    /// Crops to the most interesting part; reads pixels in any order.
    func smartCropped(to box: PixelSize, by interest: VipsInteresting) -> VipsPicture? {
        VipsPicture { cameo_vips_smartcrop(image, $0, Int32(box.width), Int32(box.height), interest) }
    }

    /// The same pixels without any removable header field.
    func withoutMetadata() -> VipsPicture? {
        guard let fields = vips_image_get_fields(image) else { return nil }
        defer { g_strfreev(fields) }
        return copied { copy in
            var index = 0
            while let field = fields[index] {
                vips_image_remove(copy, field)
                index += 1
            }
        }
    }

    /// The picture in colour, if it is grey and has to be.
    consuming func colored(if isNeeded: Bool = true) -> VipsPicture? {
        guard isNeeded, colorBands < 3 else { return self }
        return converted(to: VIPS_INTERPRETATION_sRGB)
    }

    /// The picture with an alpha band, if it has none and has to.
    consuming func withAlpha(if isNeeded: Bool = true) -> VipsPicture? {
        guard isNeeded, !hasAlpha else { return self }
        return VipsPicture { cameo_vips_add_alpha(image, $0) }
    }

    /// Places the picture on a plain background that has a value for every band.
    func embedded(at place: PixelArea, in size: PixelSize, background: [Double]) -> VipsPicture? {
        let (left, top, width, height) = (Int32(place.left), Int32(place.top), Int32(size.width), Int32(size.height))
        let count = Int32(background.count)
        return VipsPicture { cameo_vips_embed(image, $0, left, top, width, height, background, count) }
    }

    /// Blends the picture over a colour that has a value for every band but alpha, and removes the alpha.
    func flattened(background: [Double]) -> VipsPicture? {
        VipsPicture { cameo_vips_flatten(image, $0, background, Int32(background.count)) }
    }

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
            let whole = PixelArea.whole(PixelSize(width, height))
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

    /// Blurs with a standard deviation in pixels.
    func gaussianBlurred(sigma: Double) -> VipsPicture? { VipsPicture { cameo_vips_gaussblur(image, $0, sigma) } }

    /// Sharpens the lightness only; the picture must have no alpha. Sigma is the mask's standard deviation in pixels.
    func sharpened(sigma: Double) -> VipsPicture? { VipsPicture { cameo_vips_sharpen(image, $0, sigma) } }

    /// Multiplies every band by its factor and adds its offset; the results are no longer integers.
    func scaled(by factors: [Double], adding offsets: [Double]) -> VipsPicture? {
        VipsPicture { cameo_vips_linear(image, $0, factors, offsets, Int32(factors.count)) }
    }

    /// Mixes the bands by a square matrix, row by row, with as many rows as there are bands.
    func mixed(by matrix: [Double]) -> VipsPicture? {
        VipsPicture { cameo_vips_recomb(image, $0, matrix, Int32(bands)) }
    }

    /// The luminance of colours as one band, computed in linear light by the weights of Rec. 709 and sRGB. libvips' own
    /// weights are others up to 8.14, so its conversion is given colours that are grey already.
    func luminance() -> VipsPicture? {
        guard let light = converted(to: VIPS_INTERPRETATION_scRGB) else { return nil }
        let weights = [0.2126, 0.7152, 0.0722] + Array(repeating: 0, count: light.bands - 3)
        let rows = (0..<light.bands).map { band in
            band < 3 ? weights : (0..<light.bands).map { $0 == band ? 1 : 0 }
        }
        return light.mixed(by: rows.flatMap(\.self))?.reinterpreted(as: VIPS_INTERPRETATION_scRGB)?
            .converted(to: VIPS_INTERPRETATION_B_W)
    }

    /// Rounds to integers in floating point. A cast alone truncates: 254.9999 would become 254.
    func rounded() -> VipsPicture? { VipsPicture { cameo_vips_rint(image, $0) } }

    /// Rounds and clips to 8 bits.
    func roundedToBytes() -> VipsPicture? { rounded()?.cast(to: VIPS_FORMAT_UCHAR) }

    func added(to other: borrowing VipsPicture) -> VipsPicture? {
        VipsPicture { cameo_vips_add(image, other.image, $0) }
    }

    /// Multiplies pixel by pixel; if the other picture has a single band, it applies to all.
    func multiplied(by other: borrowing VipsPicture) -> VipsPicture? {
        VipsPicture { cameo_vips_multiply(image, other.image, $0) }
    }

    /// Replaces every value by the table entry at that index; the result has as many bands as the table.
    func mapped(through table: borrowing VipsPicture) -> VipsPicture? {
        VipsPicture { cameo_vips_maplut(image, $0, table.image) }
    }

    /// Appends another picture's bands.
    func joined(with other: borrowing VipsPicture) -> VipsPicture? {
        VipsPicture { cameo_vips_bandjoin(image, other.image, $0) }
    }

    func replacing(left: Int, top: Int, with part: borrowing VipsPicture) -> VipsPicture? {
        VipsPicture { cameo_vips_insert(image, part.image, $0, Int32(left), Int32(top)) }
    }

    /// Draws a picture of the same size over this one, which keeps its bands.
    func covered(by over: borrowing VipsPicture) -> VipsPicture? {
        // Floating point: with 8-bit values the compositor truncates fractions.
        cast(to: VIPS_FORMAT_FLOAT)?.composed(with: over)?.roundedToBytes()?.bands(from: 0, count: bands)
    }

    private func composed(with over: borrowing VipsPicture) -> VipsPicture? {
        VipsPicture { cameo_vips_composite2(image, over.image, $0) }
    }

    /// The last band of a picture that has alpha.
    func alphaBand() -> VipsPicture? { bands(from: bands - 1, count: 1) }

    /// Applies a change to colours multiplied by alpha, so that those of transparent pixels have no weight: they would bleed
    /// into visible ones. Without alpha the change is all.
    func changingVisible(_ change: (borrowing VipsPicture) -> VipsPicture?) -> VipsPicture? {
        guard hasAlpha else { return change(self) }
        guard let premultiplied = premultiplied(), let changed = change(premultiplied) else { return nil }
        return changed.unpremultiplied()
    }

    /// Applies a change to the colour bands and reattaches the alpha unchanged.
    func changingColors(_ change: (borrowing VipsPicture) -> VipsPicture?) -> VipsPicture? {
        guard hasAlpha else { return change(self) }
        guard let colors = bands(from: 0, count: bands - 1), let changed = change(colors), let alpha = alphaBand()
        else { return nil }
        return changed.joined(with: alpha)
    }
}
