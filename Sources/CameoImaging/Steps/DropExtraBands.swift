internal import CVips

/// Some TIFFs carry more samples than colour and alpha (a mask, a spot colour). What comes after the first is dropped: by
/// the format's custom that one is alpha.
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
