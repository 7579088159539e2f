internal import CameoModel

/// Takes the part that is worked on: what trimming and `crop` left of the picture.
enum Crop: RenditionStep {
    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) throws(ImagingError) -> VipsPicture {
        let area = plan.region
        guard area != PixelArea(whole: PixelSize(picture.width, picture.height)) else { return picture }
        guard
            let cropped = picture.cropped(
                left: area.left,
                top: area.top,
                width: area.size.width,
                height: area.size.height
            )
        else { throw .processingFailed(step: "crop", detail: VipsLibrary.takeErrorText()) }
        return cropped
    }
}
