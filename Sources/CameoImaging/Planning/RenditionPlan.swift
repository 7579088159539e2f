internal import CameoModel

/// One rendition with everything that its steps need to know.
struct RenditionPlan {
    let rendition: Rendition
    let sourceFormat: PictureFormat
    /// The part of the shared picture that it is made of.
    let region: PixelArea
    let geometry: Geometry
    /// What is written: `auto` and `source` decided.
    let format: Rendition.Format
    /// What shows through transparent pixels and in padding.
    let background: Color
    let overlay: OverlayPicture?
    let metadata: SourceMetadata
    /// Nil for a still picture.
    let animation: Animation?
    /// Whether the pixels have the numbers of the source's own profile, which has to go with them.
    let keepsSourceProfile: Bool
    /// Where `cover` cuts; set before the first frame goes its way, and the same for all.
    var cut: Placement?

    /// Refuses a rendition that would exceed the limits.
    init(
        _ rendition: Rendition,
        of shared: SharedPicture,
        trimmed: TrimmedArea?,
        overlay: OverlayPicture?,
        limits: RenderLimits
    ) throws(ImagingError) {
        let part = try PicturePart(
            of: rendition,
            source: shared.sourceSize,
            format: shared.format,
            trimmed: trimmed
        )
        let geometry = Geometry(of: rendition, source: part.turned, mayGrow: shared.format.isVector)
        for size in [geometry.resized, geometry.final] where size.pixels > limits.pixels {
            throw .renditionTooLarge(width: size.width, height: size.height, limit: limits.pixels)
        }
        let (width, height) = (geometry.final.width, geometry.final.height)
        guard Rendition.edgeRange.contains(width), Rendition.edgeRange.contains(height) else {
            throw .renditionTooLarge(width: width, height: height, limit: limits.pixels)
        }
        if let frames = shared.animation?.frames {
            let pixels = geometry.final.pixels.multipliedReportingOverflow(by: frames)
            guard !pixels.overflow, pixels.partialValue <= limits.animatedPixels, height * frames <= Self.longestRoll
            else {
                throw .tooManyAnimatedPixels(
                    width: width,
                    height: height,
                    frames: frames,
                    limit: limits.animatedPixels
                )
            }
        }
        self.rendition = rendition
        self.overlay = overlay
        self.geometry = geometry
        sourceFormat = shared.format
        region = part.area.scaled(from: part.canvas, to: shared.frameSize)
        metadata = shared.metadata
        animation = shared.animation
        keepsSourceProfile = rendition.encoding.keepProfile && shared.hasDevicePixels
        format = rendition.format.written(for: shared.format)
        background = rendition.background ?? (format.hasAlpha ? .transparent : .white)
    }

    /// Rows of all frames together: what libvips takes for a picture's height (VIPS_MAX_COORD).
    private static let longestRoll = 10_000_000

    /// A length of the request in pixels of the thumbnail.
    func devicePixels(_ length: Double) -> Double { length * rendition.dpr }
}
