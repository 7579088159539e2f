internal import CameoModel

/// From the shared size to the rendition's own.
enum Resize: RenditionStep {
    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) throws(ImagingError) -> VipsPicture {
        try Resampling.resize(picture, to: plan.geometry.resized)
    }
}
