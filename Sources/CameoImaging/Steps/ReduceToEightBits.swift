internal import CVips

/// Reduces the source's own values to 8 bits, for renditions that keep its profile. From here on they are labelled sRGB
/// or grey; the profile stored with the thumbnail gives their actual meaning.
enum ReduceToEightBits: PreparationStep {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture {
        let space = picture.colorBands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        var eightBit = picture
        if eightBit.format == VIPS_FORMAT_USHORT {
            guard let upper = eightBit.scaled(by: [255.0 / 65_535], adding: [0])?.roundedToBytes() else {
                throw .processingFailed(step: "profile", detail: VipsLibrary.takeErrorText())
            }
            eightBit = upper
        }
        guard let named = eightBit.reinterpreted(as: space) else {
            throw .processingFailed(step: "profile", detail: VipsLibrary.takeErrorText())
        }
        return named
    }
}
