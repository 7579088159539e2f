/// Pixels without a profile become 8-bit sRGB or grey; those with one, and CMYK, stay as they are until
/// ``ConvertToSRGB``, which needs the device's own numbers, as those with code points until ``ConvertCodedColor``.
enum EnterWorkingSpace: PreparationStep {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture {
        guard preparation.codedColor == nil else { return picture }
        if picture.hasDeviceNumbers, picture.hasProfile || picture.isCMYK { return picture }
        guard let converted = picture.converted(toStandardOf: picture.colorBands) else {
            throw .unsupportedPixels(picture.pixelDescription)
        }
        return converted
    }
}
