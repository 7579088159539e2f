internal import CVips

/// Drops all samples after colour and one more. Some TIFFs carry extra samples (a mask, a spot colour); by convention
/// the first of them is alpha.
enum DropExtraBands: PreparationStep {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture {
        let wanted = colors(of: picture.interpretation) + 1
        guard picture.bands > wanted else { return picture }
        guard let reduced = picture.firstBands(wanted) else {
            throw .unsupportedPixels(picture.pixelDescription)
        }
        return reduced
    }

    private static func colors(of interpretation: VipsInterpretation) -> Int {
        switch interpretation {
        case VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_GREY16: 1
        case VIPS_INTERPRETATION_CMYK: 4
        default: 3
        }
    }
}
