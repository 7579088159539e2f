/// Applies the EXIF orientation; from here on all sizes are upright.
enum TurnUpright: PreparationStep {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture {
        guard picture.orientation != 1 else { return picture }
        guard let upright = picture.upright() else {
            throw .processingFailed(step: "orientation", detail: VipsLibrary.takeErrorText())
        }
        return upright
    }
}
