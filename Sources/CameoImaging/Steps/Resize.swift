internal import CameoModel

/// Resizes from the shared size to the rendition's own.
enum Resize: RenditionStep {
    static let name = "resize"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        Resampling.resize(picture, from: .memory, to: plan.resized.size)
    }
}

/// Shrinks to the size from which every rendition is made.
enum ShrinkToShared: PreparationStep {
    static func apply(to picture: consuming VipsPicture, _ source: SourcePlan) throws(ImagingError) -> VipsPicture {
        guard let size = source.sharedSize else { return picture }
        return try .result(of: "resize", Resampling.resize(picture, from: .decoder, to: size))
    }
}

// DESIGN. libvips resizes vertically, then horizontally. Where it shrinks to a quarter or less, its horizontal half asks for
// one row at a time, and its vertical half reads all rows anew that each of them needs: nearly seven times as many as there
// are. So the vertical half is computed into memory first, from where the horizontal half makes the same pixels. A decoder
// delivers its rows in order, and libvips keeps the last ones.

/// Resizes to an exact size, with the box shrink and the Lanczos 3 kernel that libvips chooses.
enum Resampling {
    /// Where a picture's pixels come from.
    enum Origin {
        case decoder, memory
    }

    /// The factor down to which libvips' horizontal half takes many rows at once.
    private static let boxFactor = 0.25

    /// The resized picture, or nil if libvips failed.
    static func resize(_ picture: consuming VipsPicture, from origin: Origin, to size: PixelSize) -> VipsPicture? {
        guard picture.width != size.width || picture.height != size.height else { return picture }
        let resized = picture.changingVisible { scaled($0, from: origin, to: size) }
        guard picture.hasAlpha else { return resized }
        return resized?.rounded()?.cast(to: picture.format)
    }

    private static func scaled(
        _ picture: borrowing VipsPicture,
        from origin: Origin,
        to size: PixelSize
    ) -> VipsPicture? {
        let horizontal = Double(size.width) / Double(picture.width)
        let vertical = Double(size.height) / Double(picture.height)
        guard origin == .memory, horizontal <= boxFactor else {
            return picture.resized(horizontalScale: horizontal, verticalScale: vertical)
        }
        let low = picture.inRowOrder()?.resized(horizontalScale: 1, verticalScale: vertical)?.materialized()?
            .inAnyOrder()
        return low?.resized(horizontalScale: horizontal, verticalScale: 1)
    }
}

/// Applies `sharpen`: an unsharp mask on lightness that leaves flat areas alone.
enum Sharpen: RenditionStep {
    static let name = "sharpen"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard let sigma = plan.rendition.look.sharpen else { return picture }
        return sharpened(picture, sigma: plan.devicePixels(sigma))
    }

    private static func sharpened(_ picture: borrowing VipsPicture, sigma: Double) -> VipsPicture? {
        guard picture.hasAlpha else { return picture.sharpened(sigma: sigma) }
        guard let filled = filled(picture, reach: sigma), let sharp = filled.sharpened(sigma: sigma),
            let alpha = picture.alphaBand()
        else { return nil }
        return sharp.joined(with: alpha)
    }

    /// Continues the colours under transparent pixels. Otherwise the mask would treat the hidden pixels along a visible
    /// edge, which are usually black, as contrast to raise, and the edge would get a bright seam.
    private static func filled(_ picture: borrowing VipsPicture, reach: Double) -> VipsPicture? {
        let colors = picture.colorBands
        guard let premultiplied = picture.premultiplied(),
            let visible = premultiplied.bands(from: 0, count: colors),
            // A wider radius than the mask's, which ends at about twice its sigma.
            let blurred = premultiplied.gaussianBlurred(sigma: reach * 1.5),
            let continued = blurred.unpremultiplied(),
            let around = continued.bands(from: 0, count: colors),
            let alpha = picture.alphaBand(),
            let missing = alpha.scaled(by: [-1.0 / 255], adding: [1]),
            let hidden = around.multiplied(by: missing),
            let sum = visible.added(to: hidden)
        else { return nil }
        return sum.roundedToBytes()
    }
}

/// Applies `blur`, a Gaussian.
enum Blur: RenditionStep {
    /// The widest sigma, in pixels, that is computed at full size. A wider blur hides the pixels of a smaller picture
    /// anyway, so it is computed from one and its cost stays constant.
    private static let widestAtFullSize = 8.0
    /// The least sigma in pixels of the reduced picture; from there on, resampling changes less than one level.
    private static let narrowestWhenReduced = 4.0
    /// The least length in pixels of the reduced picture's shorter edge. Edge pixels are extended outwards, so too
    /// small a picture would distort the result.
    private static let shortestEdge = 16

    static let name = "blur"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard let sigma = plan.rendition.look.blur else { return picture }
        return picture.changingVisible { spread($0, sigma: plan.devicePixels(sigma)) }?.roundedToBytes()
    }

    private static func spread(_ picture: borrowing VipsPicture, sigma: Double) -> VipsPicture? {
        let shorter = min(picture.width, picture.height)
        let factor = min(sigma / narrowestWhenReduced, Double(shorter) / Double(shortestEdge)).rounded(.down)
        guard sigma > widestAtFullSize, factor > 1 else { return picture.gaussianBlurred(sigma: sigma) }
        let horizontal = (Double(picture.width) / factor).rounded(.up) / Double(picture.width)
        let vertical = (Double(picture.height) / factor).rounded(.up) / Double(picture.height)
        guard let reduced = picture.resized(horizontalScale: horizontal, verticalScale: vertical),
            let blurred = reduced.gaussianBlurred(sigma: sigma * (horizontal * vertical).squareRoot()),
            // Enlarging reads every pixel several times.
            let pixels = blurred.materialized()
        else { return nil }
        return pixels.resized(
            horizontalScale: Double(picture.width) / Double(pixels.width),
            verticalScale: Double(picture.height) / Double(pixels.height)
        )
    }
}
