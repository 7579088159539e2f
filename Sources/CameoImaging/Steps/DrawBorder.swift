internal import CVips
internal import CameoModel

/// Draws the `border` over the edges of the picture, along its rounded corners. Grey thumbnails become sRGB.
enum DrawBorder: RenditionStep {
    static let name = "border"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        let look = plan.rendition.look
        guard let border = look.border else { return picture }
        let color = look.borderColor
        let size = PixelSize(picture.width, picture.height)
        let width = max(1, Int(plan.devicePixels(Double(border)).rounded()))
        var base = picture
        if base.colorBands < 3 {
            guard let colored = base.converted(to: VIPS_INTERPRETATION_sRGB) else { return nil }
            base = colored
        }
        let opacity = Double(color.alpha) / 255
        guard let inside = RoundCorners.mask(of: size, inset: width, plan),
            let ring = inside.scaled(by: [-opacity], adding: [255 * opacity]),
            let sheet = sheet(of: color, size), let over = sheet.joined(with: ring),
            // Floating point: with 8-bit values the compositor truncates fractions.
            let under = base.cast(to: VIPS_FORMAT_FLOAT),
            let blended = under.covered(by: over)?.roundedToBytes()
        else { return nil }
        return blended.bands(from: 0, count: base.bands)
    }

    private static func sheet(of color: Color, _ size: PixelSize) -> VipsPicture? {
        VipsPicture(
            bytes: [color.red, color.green, color.blue],
            size: PixelSize(1, 1),
            bands: 3,
            space: VIPS_INTERPRETATION_sRGB
        )?
        .embedded(left: 0, top: 0, width: size.width, height: size.height, background: color.numbers(bands: 3))
    }
}
