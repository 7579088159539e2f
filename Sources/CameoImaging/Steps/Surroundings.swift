internal import CVips
internal import CameoModel

/// Pads a picture to the size of its box.
enum Pad: RenditionStep {
    static let name = "padding"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard plan.geometry.isPadded else { return picture }
        let box = plan.geometry.final
        let place = PixelArea(placing: plan.geometry.resized, in: box, gravity: plan.rendition.gravity)
        // A translucent background is drawn later, behind padding and picture alike (``ShowBackground``).
        let background = plan.background.alpha < 255 ? Color.transparent : plan.background
        guard let colored = picture.colored(if: !background.isNeutral),
            let ready = colored.withAlpha(if: background.alpha < 255)
        else { return nil }
        let alpha = ready.hasAlpha ? [Double(background.alpha)] : []
        return ready.embedded(at: place, in: box, background: background.numbers(bands: ready.colorBands) + alpha)
    }
}

/// Draws the `border` over the edges of the picture, along its rounded corners. Grey thumbnails become sRGB.
enum DrawBorder: RenditionStep {
    static let name = "border"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        let look = plan.rendition.look
        guard let border = look.border else { return picture }
        let color = look.borderColor
        let size = picture.size
        let width = max(1, Int(plan.devicePixels(Double(border)).rounded()))
        let opacity = Double(color.alpha) / 255
        guard let base = picture.colored(), let inside = RoundCorners.mask(of: size, inset: width, plan),
            let ring = inside.scaled(by: [-opacity], adding: [255 * opacity]),
            let sheet = sheet(of: color, size), let over = sheet.joined(with: ring)
        else { return nil }
        return base.covered(by: over)
    }

    private static func sheet(of color: Color, _ size: PixelSize) -> VipsPicture? {
        let bytes = [color.red, color.green, color.blue]
        return VipsPicture(bytes: bytes, size: PixelSize(1, 1), bands: 3, space: VIPS_INTERPRETATION_sRGB)?
            .embedded(at: .whole(PixelSize(1, 1)), in: size, background: color.numbers(bands: 3))
    }
}

/// Blends transparent pixels with the background. Formats without alpha fall back to white.
enum ShowBackground: RenditionStep {
    static let name = "background"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard picture.hasAlpha else { return picture }
        let background = plan.background
        if background.alpha == 255 { return flattened(picture, on: background) }
        var result = picture
        if background.alpha > 0 {
            guard let blended = composited(result, over: background) else { return nil }
            result = blended
        }
        guard !plan.format.traits.hasAlpha else { return result }
        return flattened(result, on: .white)
    }

    private static func flattened(_ picture: borrowing VipsPicture, on color: Color) -> VipsPicture? {
        guard let ready = picture.sharingReference().colored(if: !color.isNeutral) else { return nil }
        return ready.flattened(background: color.numbers(bands: ready.colorBands))
    }

    private static func composited(_ picture: borrowing VipsPicture, over color: Color) -> VipsPicture? {
        // Floating point: with 8-bit values the compositor truncates fractions.
        picture.converted(to: VIPS_INTERPRETATION_sRGB)?.cast(to: VIPS_FORMAT_FLOAT)?
            .composited(over: color.numbers(bands: 3) + [Double(color.alpha)])?.roundedToBytes()
    }
}

/// Draws the `overlay` over the picture. Grey thumbnails become sRGB; a picture without alpha stays opaque.
enum DrawOverlay: RenditionStep {
    static let name = "overlay"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard let request = plan.rendition.look.overlay, let overlay = plan.overlay else { return picture }
        let place = PixelArea(
            of: overlay.namedSize,
            on: picture.size,
            request,
            margin: Int(plan.devicePixels(Double(request.margin)).rounded())
        )
        // Only the part under the overlay is recomputed; every other pixel stays as it is.
        guard let resized = overlay.resized(to: place.size), let base = picture.colored(),
            let over = resized.scaled(by: [1, 1, 1, request.opacity], adding: [0, 0, 0, 0]),
            let result = base.cropped(to: place)?.covered(by: over)
        else { return nil }
        return base.replacing(left: place.left, top: place.top, with: result)
    }
}

/// Removes everything but pixels: EXIF, XMP, IPTC, profile, comments and the loader's own fields.
///
/// The savers are told to strip as well, but libvips 8.14.1 still writes EXIF and profile into WebP, and the privacy of
/// a photograph's location must not depend on a saver's option.
enum StripMetadata: PreparationStep {
    static func apply(to picture: consuming VipsPicture, _ source: SourcePlan) throws(ImagingError) -> VipsPicture {
        try .result(of: "metadata", picture.withoutMetadata())
    }
}
