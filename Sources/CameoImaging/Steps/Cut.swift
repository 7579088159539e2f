internal import CVips
internal import CameoModel

/// Cuts off what extends beyond the box.
enum Cut: RenditionStep {
    static let name = "cut"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard plan.geometry.isCut else { return picture }
        let box = plan.geometry.final
        let place = plan.cut ?? Placement(of: box, in: plan.geometry.resized, gravity: plan.rendition.gravity)
        guard picture.width != box.width || picture.height != box.height else { return picture }
        let (left, top) = (place.left - plan.resized.left, place.top - plan.resized.top)
        return picture.cropped(left: left, top: top, width: box.width, height: box.height)
    }

    /// The placement that smart gravity picks from the first frame, used for all frames; nil for other gravities.
    static func chosenByPixels(
        of first: consuming VipsPicture,
        _ plan: RenditionPlan
    ) throws(ImagingError) -> Placement? {
        guard plan.geometry.isCut, plan.rendition.gravity.isSmart else { return nil }
        let box = plan.geometry.final
        let interest = plan.rendition.gravity == .entropy ? VIPS_INTERESTING_ENTROPY : VIPS_INTERESTING_ATTENTION
        let resized = try RenderPipeline.process(first, by: RenderPipeline.toBox, plan)
        // The search looks at every pixel several times.
        guard let pixels = resized.materialized(),
            let cut = pixels.smartCropped(width: box.width, height: box.height, by: interest)
        else { throw .processingFailed(step: name, detail: VipsLibrary.takeErrorText()) }
        return Placement(left: -cut.offset.x, top: -cut.offset.y)
    }
}
