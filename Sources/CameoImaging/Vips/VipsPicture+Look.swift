internal import CVips

/// The operations behind a rendition's look. All return nil if the operation failed.
extension VipsPicture {
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

    /// Draws a picture of the same size over this one; the result has alpha.
    func covered(by over: borrowing VipsPicture) -> VipsPicture? {
        VipsPicture { cameo_vips_composite2(image, over.image, $0) }
    }

    /// The last band of a picture that has alpha.
    func alphaBand() -> VipsPicture? { bands(from: bands - 1, count: 1) }

    /// Applies a change to the colour bands and reattaches the alpha unchanged.
    func changingColors(_ change: (borrowing VipsPicture) -> VipsPicture?) -> VipsPicture? {
        guard hasAlpha else { return change(self) }
        guard let colors = bands(from: 0, count: bands - 1), let changed = change(colors), let alpha = alphaBand()
        else { return nil }
        return changed.joined(with: alpha)
    }
}
