internal import CVips

/// For renditions that keep the source's profile: its own numbers, 8 bits of each. From here on they pass for sRGB or
/// grey; the profile that goes with the thumbnail says what they are.
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
