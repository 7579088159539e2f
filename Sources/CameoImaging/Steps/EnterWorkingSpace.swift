/// Converts pixels without a profile to 8-bit sRGB or grey. Pixels with a profile, and CMYK, are left to
/// ``ConvertToSRGB``, which needs the device values; pixels with code points are left to ``ConvertCodedColor``.
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
