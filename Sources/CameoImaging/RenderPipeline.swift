/// A step taken once per source, before the renditions diverge.
protocol PreparationStep: SendableMetatype {
    static func apply(to picture: consuming VipsPicture, _ source: SourcePlan) throws(ImagingError) -> VipsPicture
}

/// A step taken for every rendition and each of its frames.
protocol RenditionStep: SendableMetatype {
    /// The step's name in error messages.
    static var name: String { get }
    /// The resulting picture, or nil if libvips failed.
    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture?
}

extension RenditionStep {
    /// The type's name in lower case, where that says it.
    static var name: String { "\(Self.self)".lowercased() }
}

/// The order of all steps, written once.
///
/// DESIGN: the source is decoded once. Preparation shrinks it to the largest size that any rendition needs, turns it
/// upright and keeps it in memory in sRGB; each rendition is made from there, by sizes computed from the original's.
/// Colours are converted after shrinking, when few pixels are left (as libvips' own thumbnailer does); alpha is
/// premultiplied around every resize.
enum RenderPipeline {
    /// Lazy steps, noted before anything is computed.
    static let loading: [any PreparationStep.Type] = [
        DropExtraBands.self, EnterWorkingSpace.self, ShrinkToShared.self, CutEarly.self,
    ]

    /// Converts to sRGB and decodes into memory.
    static let standardizing: [any PreparationStep.Type] = [ConvertCodedColor.self, ConvertToSRGB.self, Decode.self]
    /// Keeps the source's own values, reduced to 8 bits, and decodes into memory.
    static let keepingProfile: [any PreparationStep.Type] = [ReduceToEightBits.self, Decode.self]

    /// The last steps; for an animation, frame by frame.
    static let uprighting: [any PreparationStep.Type] = [TurnUpright.self, StripMetadata.self]

    /// The steps whose result smart gravity examines.
    static let toBox: [any RenditionStep.Type] = [Crop.self, Turn.self, Resize.self]

    /// All steps of a rendition: `crop`, `rotate` and `flip`, the box, then the look (filters on the picture alone,
    /// then what is drawn around and over it). The request's documentation (proto-json) promises this order.
    static let rendition: [any RenditionStep.Type] =
        toBox + [
            Cut.self,
            Blur.self, Sharpen.self, AdjustColor.self, Grayscale.self, Tint.self,
            Pad.self, DrawOverlay.self, DrawBorder.self, RoundCorners.self, ShowBackground.self,
        ]

    static func prepare(
        _ picture: consuming VipsPicture,
        by steps: [any PreparationStep.Type],
        _ source: SourcePlan
    ) throws(ImagingError) -> VipsPicture {
        var picture = picture
        for step in steps { picture = try step.apply(to: picture, source) }
        return picture
    }

    static func process(
        _ picture: consuming VipsPicture,
        by steps: [any RenditionStep.Type] = rendition,
        _ plan: RenditionPlan
    ) throws(ImagingError) -> VipsPicture {
        var picture = picture
        for step in steps { picture = try .result(of: step.name, step.apply(to: picture, plan)) }
        return picture
    }
}
