internal import CVips
internal import CameoModel

/// Applies `tint`: maps luminance to shades of one colour (``TintTable``). A translucent colour tints in proportion to
/// its opacity. The result is sRGB.
enum Tint: RenditionStep {
    static let name = "tint"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard let tint = plan.rendition.look.tint else { return picture }
        return picture.changingColors { tinted($0, tint) }
    }

    private static func tinted(_ colors: borrowing VipsPicture, _ tint: Color) -> VipsPicture? {
        let bytes = TintTable.colors(of: tint).flatMap { [$0.red, $0.green, $0.blue] }
        let isGrey = colors.colorBands < 3
        guard let luminance = isGrey ? colors.converted(to: VIPS_INTERPRETATION_B_W) : colors.luminance(),
            let table = VipsPicture(bytes: bytes, size: PixelSize(256, 1), bands: 3, space: VIPS_INTERPRETATION_sRGB),
            let mapped = luminance.mapped(through: table),
            let tinted = mapped.reinterpreted(as: VIPS_INTERPRETATION_sRGB)
        else { return nil }
        let strength = Double(tint.alpha) / 255
        guard strength < 1 else { return tinted }
        guard let original = colors.converted(to: VIPS_INTERPRETATION_sRGB),
            let kept = original.scaled(by: [1 - strength], adding: [0]),
            let added = tinted.scaled(by: [strength], adding: [0]),
            let sum = kept.added(to: added)
        else { return nil }
        return sum.roundedToBytes()
    }
}
