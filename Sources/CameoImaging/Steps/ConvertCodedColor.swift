internal import CVips

/// Converts a picture from the colour space that its file names by code points, HDR included, to sRGB: decodes the transfer
/// function, converts to sRGB's primaries, compresses the highlights (``ToneCurve``) and clips what is outside sRGB.
/// Grey keeps one band; alpha is unchanged.
///
/// cICP outranks an embedded profile (PNG, third edition, 4.3), so ``ConvertToSRGB`` skips these pictures. With
/// `keepProfile` they become sRGB as well, because no profile describes their values.
enum ConvertCodedColor: PreparationStep {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture {
        guard let color = preparation.codedColor else { return picture }
        guard let converted = converted(picture, color) else {
            throw .processingFailed(step: "HDR", detail: VipsLibrary.takeErrorText())
        }
        return converted
    }

    private static func converted(_ picture: borrowing VipsPicture, _ color: CodedColor) -> VipsPicture? {
        guard let colors = picture.bands(from: 0, count: picture.colorBands),
            let shown = colors.bands < 3 ? grey(colors, color) : colored(colors, color)
        else { return nil }
        guard picture.hasAlpha else { return shown }
        let share = 255 / Double(picture.largestNumber)
        guard let alpha = picture.alphaBand()?.scaled(by: [share], adding: [0])?.roundedToBytes() else { return nil }
        return shown.joined(with: alpha)
    }

    private static func grey(_ colors: borrowing VipsPicture, _ color: CodedColor) -> VipsPicture? {
        let table = LightTable.bytes(of: colors.largestNumber, color.grey)
        return colors.mapped(throughBytes: table, space: VIPS_INTERPRETATION_B_W)
    }

    private static func colored(_ colors: borrowing VipsPicture, _ color: CodedColor) -> VipsPicture? {
        guard let light = colors.mapped(throughNumbers: LightTable.numbers(of: colors.largestNumber, color.light)),
            let displayed = displayed(light, color),
            let mixed = displayed.mixed(by: color.primaries.toBT709),
            let toned = toned(mixed, color)
        else { return nil }
        let encoded = LightTable.bytes(of: LightTable.finest, SRGB.encoded)
        return toned.indexed(upTo: 1)?.mapped(throughBytes: encoded, space: VIPS_INTERPRETATION_sRGB)
    }

    /// Applies HLG's display gain, which depends on the pixel's luminance.
    private static func displayed(_ light: consuming VipsPicture, _ color: CodedColor) -> VipsPicture? {
        guard color.transfer == .hlg else { return light }
        let shares = color.primaries.luminanceShares
        let gains = LightTable.numbers(of: LightTable.finest, color.displayGain)
        guard let luminance = light.mixed(by: shares + shares + shares)?.firstBands(1)?.indexed(upTo: 1),
            let gain = luminance.mapped(throughNumbers: gains)
        else { return nil }
        return light.multiplied(by: gain)
    }

    private static func toned(_ light: consuming VipsPicture, _ color: CodedColor) -> VipsPicture? {
        guard let curve = color.toneCurve else { return light }
        let brightest = curve.peak * color.primaries.largestGain
        let gains = LightTable.numbers(of: LightTable.finest) { share in
            let light = share * brightest
            return light > ToneCurve.knee ? curve.shown(light) / light : 1
        }
        guard let index = light.bandMaximum()?.indexed(upTo: brightest),
            let gain = index.mapped(throughNumbers: gains)
        else { return nil }
        return light.multiplied(by: gain)
    }
}
