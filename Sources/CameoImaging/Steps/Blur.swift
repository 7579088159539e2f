internal import CameoModel

/// Applies `blur`, a Gaussian. Transparent pixels have no weight, so their hidden colours do not bleed into visible
/// ones.
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
        return blurred(picture, sigma: plan.devicePixels(sigma))
    }

    private static func blurred(_ picture: borrowing VipsPicture, sigma: Double) -> VipsPicture? {
        guard picture.hasAlpha else { return spread(picture, sigma: sigma)?.roundedToBytes() }
        guard let premultiplied = picture.premultiplied(), let spread = spread(premultiplied, sigma: sigma),
            let unpremultiplied = spread.unpremultiplied()
        else { return nil }
        return unpremultiplied.roundedToBytes()
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
