internal import CVips

/// Applies the embedded profile, unless it is sRGB's or ``ConvertCodedColor`` has converted the picture. Grey keeps one
/// band.
enum ConvertToSRGB: PreparationStep {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture {
        guard preparation.codedColor == nil else { return picture }
        let isGrey = picture.colorBands < 3
        let hasOtherProfile = picture.hasProfile && preparation.profile?.isSRGB != true
        guard picture.hasDeviceNumbers, hasOtherProfile || picture.isCMYK else { return picture }
        if let profile = preparation.profile, let converted = converted(picture, by: profile) { return converted }
        if let converted = picture.isCMYK ? picture.convertedFromCMYK() : picture.convertedByProfile() {
            guard isGrey else { return converted }
            if let grey = converted.converted(to: VIPS_INTERPRETATION_B_W) { return grey }
        }
        // The profile is damaged or belongs to another kind of pixels. It is ignored, as in sharp.
        _ = VipsLibrary.takeErrorText()
        guard let converted = picture.converted(toStandardOf: picture.colorBands) else {
            throw .unsupportedPixels(picture.pixelDescription)
        }
        return converted
    }

    /// The encoded sRGB of light 0…1.
    private static let encoded = LightTable.bytes(of: LightTable.finest, SRGB.encoded)

    /// Nil for pixels other than 8-bit RGB.
    private static func converted(_ picture: borrowing VipsPicture, by profile: MatrixProfile) -> VipsPicture? {
        guard picture.colorBands == 3, !picture.isCMYK, picture.format == VIPS_FORMAT_UCHAR else { return nil }
        return picture.changingColors { colors in
            colors.mapped(throughNumbers: profile.light.map(Float.init), bands: 3)?
                .mixed(by: profile.toSRGB)?
                .indexed(upTo: 1)?
                .mapped(throughBytes: encoded, space: VIPS_INTERPRETATION_sRGB)
        }
    }
}
