internal import CVips

/// Applies the embedded profile, unless ``ConvertCodedColor`` has converted the picture. Grey keeps one band.
enum ConvertToSRGB: PreparationStep {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture {
        guard preparation.codedColor == nil else { return picture }
        let isGrey = picture.colorBands < 3
        guard picture.hasDeviceNumbers, picture.hasProfile || picture.isCMYK else { return picture }
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
}
