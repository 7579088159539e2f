internal import CVips

/// What the look of a rendition is made with. All return nil when the operation failed.
extension VipsPicture {
    /// Sigma is the standard deviation, pixels.
    func gaussianBlurred(sigma: Double) -> VipsPicture? { VipsPicture { cameo_vips_gaussblur(image, $0, sigma) } }

    /// Lightness only; the picture must have no alpha. Sigma is the mask's standard deviation, pixels.
    func sharpened(sigma: Double) -> VipsPicture? { VipsPicture { cameo_vips_sharpen(image, $0, sigma) } }

    /// Every band times its factor, plus its offset; no longer whole numbers.
    func scaled(by factors: [Double], adding offsets: [Double]) -> VipsPicture? {
        VipsPicture { cameo_vips_linear(image, $0, factors, offsets, Int32(factors.count)) }
    }

    /// Bands mixed by a matrix, row by row, with as many rows and columns as there are bands.
    func mixed(by matrix: [Double]) -> VipsPicture? {
        VipsPicture { cameo_vips_recomb(image, $0, matrix, Int32(bands)) }
    }

    /// Whole numbers, in floating point still. A cast alone cuts fractions off: 254.9999 would become 254.
    func rounded() -> VipsPicture? { VipsPicture { cameo_vips_rint(image, $0) } }

    /// 8 bits again, rounded and clipped.
    func roundedToBytes() -> VipsPicture? { rounded()?.cast(to: VIPS_FORMAT_UCHAR) }

    func added(to other: borrowing VipsPicture) -> VipsPicture? {
        VipsPicture { cameo_vips_add(image, other.image, $0) }
    }

    /// Pixel by pixel; one band of the other's goes for all.
    func multiplied(by other: borrowing VipsPicture) -> VipsPicture? {
        VipsPicture { cameo_vips_multiply(image, other.image, $0) }
    }

    /// Every number replaced by the table's entry of that index, which has as many bands as come out.
    func mapped(through table: borrowing VipsPicture) -> VipsPicture? {
        VipsPicture { cameo_vips_maplut(image, $0, table.image) }
    }

    /// Another picture's bands behind its own.
    func joined(with other: borrowing VipsPicture) -> VipsPicture? {
        VipsPicture { cameo_vips_bandjoin(image, other.image, $0) }
    }

    /// A part replaced.
    func replacing(left: Int, top: Int, with part: borrowing VipsPicture) -> VipsPicture? {
        VipsPicture { cameo_vips_insert(image, part.image, $0, Int32(left), Int32(top)) }
    }

    /// A picture of the same size over it; what comes out has alpha.
    func covered(by over: borrowing VipsPicture) -> VipsPicture? {
        VipsPicture { cameo_vips_composite2(image, over.image, $0) }
    }

    /// The last band of a picture that has alpha.
    func alphaBand() -> VipsPicture? { bands(from: bands - 1, count: 1) }

    /// A change that knows nothing of alpha, which goes round it.
    func changingColors(_ change: (borrowing VipsPicture) -> VipsPicture?) -> VipsPicture? {
        guard hasAlpha else { return change(self) }
        guard let colors = bands(from: 0, count: bands - 1), let changed = change(colors), let alpha = alphaBand()
        else { return nil }
        return changed.joined(with: alpha)
    }
}
