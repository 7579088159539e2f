internal import CameoModel

/// Crops to the part that trimming and `crop` leave of the picture.
enum Crop: RenditionStep {
    static let name = "crop"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        let area = plan.region
        guard area != PixelArea(whole: PixelSize(picture.width, picture.height)) else { return picture }
        return picture.cropped(left: area.left, top: area.top, width: area.size.width, height: area.size.height)
    }
}
