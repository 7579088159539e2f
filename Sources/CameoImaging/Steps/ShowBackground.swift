internal import CVips
internal import CameoModel

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
        guard !plan.format.hasAlpha else { return result }
        return flattened(result, on: .white)
    }

    private static func flattened(_ picture: borrowing VipsPicture, on color: Color) -> VipsPicture? {
        if color.isNeutral || picture.colorBands >= 3 {
            return picture.flattened(background: color.numbers(bands: picture.colorBands))
        }
        guard let colored = picture.converted(to: VIPS_INTERPRETATION_sRGB) else { return nil }
        return colored.flattened(background: color.numbers(bands: 3))
    }

    private static func composited(_ picture: borrowing VipsPicture, over color: Color) -> VipsPicture? {
        guard let colored = picture.converted(to: VIPS_INTERPRETATION_sRGB),
            // Floating point: with 8-bit values the compositor truncates fractions.
            let precise = colored.cast(to: VIPS_FORMAT_FLOAT),
            let blended = precise.composited(over: color.numbers(bands: 3) + [Double(color.alpha)])
        else { return nil }
        return blended.roundedToBytes()
    }
}
