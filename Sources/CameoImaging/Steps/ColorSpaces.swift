internal import CVips

/// Applies the embedded profile, unless it is sRGB's or ``ConvertCodedColor`` has converted the picture. Grey keeps one
/// band.
enum ConvertToSRGB: PreparationStep {
    static func apply(to picture: consuming VipsPicture, _ source: SourcePlan) throws(ImagingError) -> VipsPicture {
        guard source.codedColor == nil else { return picture }
        let isGrey = picture.colorBands < 3
        let hasOtherProfile = picture.hasProfile && source.profile?.isSRGB != true
        guard picture.hasDeviceNumbers, hasOtherProfile || picture.isCMYK else { return picture }
        if let profile = source.profile, let converted = converted(picture, by: profile) { return converted }
        if let converted = picture.convertedByProfile() {
            guard isGrey else { return converted }
            if let grey = converted.converted(to: VIPS_INTERPRETATION_B_W) { return grey }
        }
        // The profile is damaged or belongs to another kind of pixels. It is ignored, as in sharp.
        _ = VipsLibrary.takeErrorText()
        return try picture.convertedToStandard()
    }

    /// Nil for pixels other than 8-bit RGB.
    private static func converted(_ picture: borrowing VipsPicture, by profile: MatrixProfile) -> VipsPicture? {
        guard picture.colorBands == 3, !picture.isCMYK, picture.format == VIPS_FORMAT_UCHAR else { return nil }
        return picture.changingColors { colors in
            colors.mapped(throughNumbers: profile.light.map(Float.init), bands: 3)?
                .mixed(by: profile.toSRGB)?
                .indexed(upTo: 1)?
                .mapped(throughBytes: LightTable.encoded, space: VIPS_INTERPRETATION_sRGB)
        }
    }
}

/// Converts a picture from the colour space that its file names by code points, HDR included, to sRGB: decodes the transfer
/// function, converts to sRGB's primaries, compresses the highlights (``ToneCurve``) and clips what is outside sRGB.
/// Grey keeps one band; alpha is unchanged.
///
/// cICP outranks an embedded profile (PNG, third edition, 4.3), so ``ConvertToSRGB`` skips these pictures. With
/// `keepProfile` they become sRGB as well, because no profile describes their values.
enum ConvertCodedColor: PreparationStep {
    static func apply(to picture: consuming VipsPicture, _ source: SourcePlan) throws(ImagingError) -> VipsPicture {
        guard let color = source.codedColor else { return picture }
        return try .result(of: "HDR", converted(picture, color))
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
            let mixed = displayed(light, color)?.mixed(by: color.primaries.toBT709)
        else { return nil }
        return toned(mixed, color)?.indexed(upTo: 1)?
            .mapped(throughBytes: LightTable.encoded, space: VIPS_INTERPRETATION_sRGB)
    }

    /// Applies HLG's display gain, which depends on the pixel's luminance.
    private static func displayed(_ light: consuming VipsPicture, _ color: CodedColor) -> VipsPicture? {
        guard color.transfer == .hlg else { return light }
        let shares = color.primaries.luminanceShares
        let gains = LightTable.numbers(of: LightTable.finest, color.displayGain)
        guard let luminance = light.mixed(by: shares + shares + shares)?.bands(from: 0, count: 1)?.indexed(upTo: 1),
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
        guard let gain = light.bandMaximum()?.indexed(upTo: brightest)?.mapped(throughNumbers: gains)
        else { return nil }
        return light.multiplied(by: gain)
    }
}

/// Converts pixels without a profile, or with sRGB's, to 8-bit sRGB or grey. Pixels with another profile, and CMYK, are left to
/// ``ConvertToSRGB``, which needs the device values; pixels with code points are left to ``ConvertCodedColor``.
enum EnterWorkingSpace: PreparationStep {
    static func apply(to picture: consuming VipsPicture, _ source: SourcePlan) throws(ImagingError) -> VipsPicture {
        guard source.codedColor == nil else { return picture }
        let hasOtherProfile = picture.hasProfile && source.profile?.isSRGB != true
        if picture.hasDeviceNumbers, hasOtherProfile || picture.isCMYK { return picture }
        return try picture.convertedToStandard()
    }
}

/// Reduces the source's own values to 8 bits, for renditions that keep its profile. From here on they are labelled sRGB
/// or grey; the profile stored with the thumbnail gives their actual meaning.
enum ReduceToEightBits: PreparationStep {
    static func apply(to picture: consuming VipsPicture, _ source: SourcePlan) throws(ImagingError) -> VipsPicture {
        let space = picture.colorBands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        guard picture.format == VIPS_FORMAT_USHORT else {
            return try .result(of: "profile", picture.reinterpreted(as: space))
        }
        let upper = picture.scaled(by: [255.0 / 65_535], adding: [0])?.roundedToBytes()
        return try .result(of: "profile", upper?.reinterpreted(as: space))
    }
}

/// Drops all samples after colour and one more. Some TIFFs carry extra samples (a mask, a spot colour); by convention
/// the first of them is alpha.
enum DropExtraBands: PreparationStep {
    static func apply(to picture: consuming VipsPicture, _ source: SourcePlan) throws(ImagingError) -> VipsPicture {
        let wanted = colors(of: picture.interpretation) + 1
        guard picture.bands > wanted else { return picture }
        if let reduced = picture.bands(from: 0, count: wanted) { return reduced }
        throw .unsupportedPixels(picture.pixelDescription)
    }

    private static func colors(of interpretation: VipsInterpretation) -> Int {
        switch interpretation {
        case VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_GREY16: 1
        case VIPS_INTERPRETATION_CMYK: 4
        default: 3
        }
    }
}
