internal import CameoModel

/// A step that is taken once a source, before the renditions part ways.
protocol PreparationStep: SendableMetatype {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture
}

/// A step that is taken for every rendition.
protocol RenditionStep: SendableMetatype {
    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) throws(ImagingError) -> VipsPicture
}

/// What the steps before the parting need to know.
struct Preparation {
    let format: PictureFormat
    /// In the pixels as stored, before the orientation is applied.
    let sharedSize: PixelSize
}

/// The order of all steps, written once.
///
/// DESIGN: the source is decoded once. Preparation shrinks it to the largest size that any rendition needs, turns it
/// upright, and keeps it in memory in sRGB; from there each rendition goes its own way, by sizes that were computed from
/// the original's. Colours are converted after shrinking, when few pixels are left (libvips' own thumbnailer does the
/// same); alpha is premultiplied around every resize.
enum RenderPipeline {
    static let preparation: [any PreparationStep.Type] = [
        DropExtraBands.self, EnterWorkingSpace.self, ShrinkToShared.self, ConvertToSRGB.self, Decode.self,
        TurnUpright.self,
        StripMetadata.self,
    ]

    static let rendition: [any RenditionStep.Type] = [
        Resize.self, Crop.self, Pad.self, ShowBackground.self,
    ]
}
