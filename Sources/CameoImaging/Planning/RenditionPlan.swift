internal import CameoModel

/// One rendition with everything that its steps need.
struct RenditionPlan {
    let rendition: Rendition
    /// What it is made from.
    let source: SharedPicture
    /// The part of the shared picture from which the rendition is made.
    let region: PixelArea
    let geometry: Geometry
    /// The part of the resized picture that is made; all of it unless the rest was cut off early.
    let resized: PixelArea
    /// The format that is written, after `auto` and `source` are resolved.
    let format: Rendition.Format
    /// The colour behind transparent pixels and in padding.
    let background: Color
    let overlay: OverlayPicture?
    /// The timing of the animation, or nil for a still picture.
    var animation: Animation? { source.animation }
    /// The tiles that the frames of the animation become, or nil.
    let sheet: Rendition.Storyboard?
    /// Whether the pixels keep the values of the source's own profile, which must then be embedded.
    let keepsSourceProfile: Bool
    /// Where `cover` cuts: decided on the first frame and applied to all.
    var cut: PixelArea?

    /// Throws if the rendition would exceed the limits.
    init(
        _ rendition: Rendition,
        of shared: SharedPicture,
        trimmed: TrimmedArea?,
        overlay: OverlayPicture?,
        limits: RenderLimits
    ) throws(ImagingError) {
        let part = try PicturePart(of: rendition, shared.shape, trimmed: trimmed)
        let geometry = Geometry(of: rendition, source: part.turned, mayGrow: shared.format.isVector)
        // What a cut leaves of a picture that grows is all that is computed of it, unless every pixel is looked at to choose it.
        let isComputed = !geometry.isCut || rendition.gravity.isSmart
        let isTooLong = max(geometry.resized.width, geometry.resized.height) > Self.longestRoll
        for size in [geometry.resized, geometry.final]
        where size.pixels > limits.pixels && (size == geometry.final || isComputed || isTooLong) {
            throw .renditionTooLarge(size, limit: limits.pixels)
        }
        let (made, edges) = (geometry.final, Rendition.edgeRange)
        guard edges.contains(made.width), edges.contains(made.height) else {
            throw .renditionTooLarge(made, limit: limits.pixels)
        }
        sheet = shared.animation == nil ? nil : rendition.storyboard
        if let sheet, let tiles = shared.animation?.frames {
            let size = sheet.size(of: made, tiles: tiles)
            let limit = Rendition.Storyboard.maximumPixels
            guard edges.contains(size.width), edges.contains(size.height), size.pixels <= limit else {
                throw .renditionTooLarge(size, limit: limit)
            }
        } else if let frames = shared.animation?.frames {
            let pixels = made.pixels.multipliedReportingOverflow(by: frames)
            guard !pixels.overflow, pixels.partialValue <= limits.animatedPixels,
                made.height * frames <= Self.longestRoll
            else { throw .tooManyAnimatedPixels(made, frames: frames, limit: limits.animatedPixels) }
        }
        self.rendition = rendition
        source = shared
        self.overlay = overlay
        self.geometry = geometry
        resized = shared.kept ?? .whole(geometry.resized)
        region = part.area.scaled(from: part.canvas, to: shared.frameSize)
        keepsSourceProfile = rendition.encoding.keepProfile && shared.hasDevicePixels
        format = rendition.format.written(for: shared.format)
        background = rendition.background ?? (format.traits.hasAlpha ? .transparent : .white)
    }

    /// The most rows of all frames together: libvips' maximum height of a picture (VIPS_MAX_COORD).
    private static let longestRoll = 10_000_000

    /// Converts a length of the request to pixels of the thumbnail.
    func devicePixels(_ length: Double) -> Double { length * rendition.dpr }
}

/// Renditions that share one decode: those of the same page, or those of all frames.
struct RenditionGroup: Hashable {
    /// The page, counted from 0.
    let page: Int
    /// Whether all frames are needed and there are several.
    let isAnimated: Bool
    /// The indices of the renditions, in the order of the request.
    private(set) var indices: [Int]

    /// The groups in the order in which the renditions first need them; almost always one.
    static func groups(of renditions: [Rendition], _ facts: PictureFacts) -> [RenditionGroup] {
        var groups: [RenditionGroup] = []
        for (index, rendition) in renditions.enumerated() {
            let written = rendition.format.written(for: facts.format)
            let isSheet = rendition.storyboard != nil && facts.format == .video
            let isAnimated = facts.isAnimated && (isSheet || rendition.encoding.animated && written.isAnimatable)
            if let known = groups.firstIndex(where: { $0.page == rendition.page && $0.isAnimated == isAnimated }) {
                groups[known].indices.append(index)
            } else {
                groups.append(RenditionGroup(page: rendition.page, isAnimated: isAnimated, indices: [index]))
            }
        }
        return groups
    }
}
