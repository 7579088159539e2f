/// Shrinks to the size from which every rendition is made.
enum ShrinkToShared: PreparationStep {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture {
        guard let size = preparation.sharedSize else { return picture }
        guard let resized = Resampling.resize(picture, from: .decoder, to: size) else {
            throw .processingFailed(step: "resize", detail: VipsLibrary.takeErrorText())
        }
        return resized
    }
}
