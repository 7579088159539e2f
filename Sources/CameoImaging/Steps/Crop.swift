internal import CVips
internal import CameoModel

/// Cuts what juts out of the box.
enum Crop: RenditionStep {
    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) throws(ImagingError) -> VipsPicture {
        guard plan.geometry.isCut else { return picture }
        let box = plan.geometry.final
        guard let cropped = cropped(picture, to: box, plan) else {
            throw .processingFailed(step: "crop", detail: VipsLibrary.takeErrorText())
        }
        return cropped
    }

    private static func cropped(
        _ picture: borrowing VipsPicture,
        to box: PixelSize,
        _ plan: RenditionPlan
    ) -> VipsPicture? {
        let interest: VipsInteresting
        switch plan.rendition.gravity {
        case .entropy: interest = VIPS_INTERESTING_ENTROPY
        case .attention: interest = VIPS_INTERESTING_ATTENTION
        case .center, .north, .northeast, .east, .southeast, .south, .southwest, .west, .northwest:
            let place = Placement(of: box, in: plan.geometry.resized, gravity: plan.rendition.gravity)
            return picture.cropped(left: place.left, top: place.top, width: box.width, height: box.height)
        }
        // The search looks at every pixel several times.
        guard let pixels = picture.materialized() else { return nil }
        return pixels.smartCropped(width: box.width, height: box.height, by: interest)
    }
}
