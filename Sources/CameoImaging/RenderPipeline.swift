/// A step that is taken once a source, before the renditions part ways.
protocol PreparationStep: SendableMetatype {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture
}

/// A step that is taken for every rendition, and for each of its frames.
protocol RenditionStep: SendableMetatype {
    /// What the message of a failure calls it.
    static var name: String { get }
    /// Nil where libvips failed.
    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture?
}

/// The order of all steps, written once.
///
/// DESIGN: the source is decoded once. Preparation shrinks it to the largest size that any rendition needs, turns it
/// upright, and keeps it in memory in sRGB; from there each rendition goes its own way, by sizes that were computed from
/// the original's. Colours are converted after shrinking, when few pixels are left (libvips' own thumbnailer does the
/// same); alpha is premultiplied around every resize.
enum RenderPipeline {
    /// Noted first, while nothing is computed yet.
    static let loading: [any PreparationStep.Type] = [
        DropExtraBands.self, EnterWorkingSpace.self, ShrinkToShared.self,
    ]

    /// Either to sRGB or, where a rendition keeps the source's profile, to 8 bits as they are; and into memory.
    static let standardizing: [any PreparationStep.Type] = [ConvertCodedColor.self, ConvertToSRGB.self, Decode.self]
    static let keepingProfile: [any PreparationStep.Type] = [ReduceToEightBits.self, Decode.self]

    /// Last, for an animation frame by frame.
    static let uprighting: [any PreparationStep.Type] = [TurnUpright.self, StripMetadata.self]

    /// What a smart cut has to look at.
    static let toBox: [any RenditionStep.Type] = [Crop.self, Turn.self, Resize.self]

    /// `crop`, `rotate` and `flip`, the box, then the look (filters on the picture alone, what is laid around and over it
    /// after them). The request's documentation (proto-json) promises this order.
    static let rendition: [any RenditionStep.Type] =
        toBox + [
            Cut.self,
            Blur.self, Sharpen.self, AdjustColor.self, Grayscale.self, Tint.self,
            Pad.self, DrawOverlay.self, RoundCorners.self, ShowBackground.self,
        ]

    static func prepare(
        _ picture: consuming VipsPicture,
        by steps: [any PreparationStep.Type],
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture {
        var picture = picture
        for step in steps { picture = try step.apply(to: picture, preparation) }
        return picture
    }

    static func process(
        _ picture: consuming VipsPicture,
        by steps: [any RenditionStep.Type] = rendition,
        _ plan: RenditionPlan
    ) throws(ImagingError) -> VipsPicture {
        var picture = picture
        for step in steps {
            guard let next = step.apply(to: picture, plan) else {
                throw .processingFailed(step: step.name, detail: VipsLibrary.takeErrorText())
            }
            picture = next
        }
        return picture
    }
}
