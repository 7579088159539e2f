internal import CVips
internal import CameoModel

/// Draws the `overlay` over the picture. Grey thumbnails become sRGB; a picture without alpha stays opaque.
enum DrawOverlay: RenditionStep {
    static let name = "overlay"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard let request = plan.rendition.look.overlay, let overlay = plan.overlay else { return picture }
        let place = OverlayPlace(
            of: overlay.namedSize,
            on: PixelSize(picture.width, picture.height),
            request,
            margin: Int(plan.devicePixels(Double(request.margin)).rounded())
        )
        guard let resized = overlay.resized(to: place.size) else { return nil }
        return drawn(resized, opacity: request.opacity, at: place, on: picture)
    }

    /// Blends the overlay. Only the part under it is recomputed; every other pixel stays as it is.
    private static func drawn(
        _ overlay: borrowing VipsPicture,
        opacity: Double,
        at place: OverlayPlace,
        on picture: consuming VipsPicture
    ) -> VipsPicture? {
        var base = picture
        if base.colorBands < 3 {
            guard let colored = base.converted(to: VIPS_INTERPRETATION_sRGB) else { return nil }
            base = colored
        }
        // Floating point: with 8-bit values the compositor truncates fractions.
        guard
            let part = base.cropped(
                left: place.left,
                top: place.top,
                width: place.size.width,
                height: place.size.height
            ),
            let under = part.cast(to: VIPS_FORMAT_FLOAT),
            let over = overlay.scaled(by: [1, 1, 1, opacity], adding: [0, 0, 0, 0]),
            let composed = under.covered(by: over),
            let blended = composed.roundedToBytes(),
            let result = blended.bands(from: 0, count: base.bands)
        else { return nil }
        return base.replacing(left: place.left, top: place.top, with: result)
    }
}
