internal import CVips

/// To sRGB from what a PNG's cICP chunk names, HDR among it: light by the transfer function, to sRGB's primaries, the
/// highlights brought down (``ToneCurve``), what is outside sRGB clipped. Grey stays one band, alpha what it is.
///
/// cICP outranks an embedded profile (PNG, third edition, 4.3), so ``ConvertToSRGB`` leaves these pictures alone; and
/// `keepProfile` finds no profile here that says what the numbers are, so it gets sRGB as well.
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

    /// HLG says how bright a pixel is shown by its luminance.
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
        let gains = LightTable.numbers(of: LightTable.finest) { share in
            let light = share * curve.peak
            return light > ToneCurve.knee ? curve.shown(light) / light : 1
        }
        guard let index = light.bandMaximum()?.indexed(upTo: curve.peak),
            let gain = index.mapped(throughNumbers: gains)
        else { return nil }
        return light.multiplied(by: gain)
    }
}
