internal import CameoModel

/// Applies `sharpen`: an unsharp mask on lightness that leaves flat areas alone.
enum Sharpen: RenditionStep {
    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard let asked = plan.rendition.look.sharpen else { return picture }
        let sigma = plan.devicePixels(asked)
        guard picture.hasAlpha else { return picture.sharpened(sigma: sigma) }
        guard let alpha = picture.alphaBand() else { return nil }
        return filled(picture, reach: sigma)?.sharpened(sigma: sigma)?.joined(with: alpha)
    }

    /// Continues the colours under transparent pixels. Otherwise the mask would treat the hidden pixels along a visible
    /// edge, which are usually black, as contrast to raise, and the edge would get a bright seam.
    private static func filled(_ picture: borrowing VipsPicture, reach: Double) -> VipsPicture? {
        let colors = picture.colorBands
        guard let premultiplied = picture.premultiplied(),
            let missing = picture.alphaBand()?.scaled(by: [-1.0 / 255], adding: [1]),
            // A wider radius than the mask's, which ends at about twice its sigma.
            let hidden = premultiplied.gaussianBlurred(sigma: reach * 1.5)?.unpremultiplied()?
                .bands(from: 0, count: colors)?.multiplied(by: missing)
        else { return nil }
        return premultiplied.bands(from: 0, count: colors)?.added(to: hidden)?.roundedToBytes()
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
        let (across, down) = picture.size.factors(from: pixels.size)
        return pixels.resized(horizontalScale: across, verticalScale: down)
    }
}
