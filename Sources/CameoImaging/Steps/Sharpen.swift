internal import CameoModel

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
