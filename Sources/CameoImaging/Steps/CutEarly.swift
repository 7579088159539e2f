internal import CameoModel

/// Cuts off what no rendition needs (``EarlyCut``).
enum CutEarly: PreparationStep {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture {
        guard let kept = preparation.kept else { return picture }
        guard
            let cut = picture.cropped(left: kept.left, top: kept.top, width: kept.size.width, height: kept.size.height)
        else { throw .processingFailed(step: "cut", detail: VipsLibrary.takeErrorText()) }
        return cut
    }
}
