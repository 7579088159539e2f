/// Converts pixels without a profile, or with sRGB's, to 8-bit sRGB or grey. Pixels with another profile, and CMYK, are left to
/// ``ConvertToSRGB``, which needs the device values; pixels with code points are left to ``ConvertCodedColor``.
enum EnterWorkingSpace: PreparationStep {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture {
        guard preparation.codedColor == nil else { return picture }
        let hasOtherProfile = picture.hasProfile && preparation.profile?.isSRGB != true
        if picture.hasDeviceNumbers, hasOtherProfile || picture.isCMYK { return picture }
        guard let converted = picture.converted(toStandardOf: picture.colorBands) else {
            throw .unsupportedPixels(picture.pixelDescription)
        }
        return converted
    }
}
