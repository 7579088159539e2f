internal import CameoModel

/// Resizes from the shared size to the rendition's own.
enum Resize: RenditionStep {
    static let name = "resize"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        Resampling.resize(picture, from: .memory, to: plan.resized.size)
    }
}
