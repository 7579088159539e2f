internal import CameoModel

/// The size at which a source is decoded, from which all renditions of a group are made.
enum SharedSize {
    /// The longest edge, in pixels, of a picture whose borders are searched for trimming.
    private static let trimmingEdge = 4_096
    /// The longest edge, in pixels, that librsvg draws.
    private static let drawingEdge = 32_767

    /// The smallest size that is enough for every rendition on both axes; larger than the source only for vector
    /// drawings. A rendition whose `trim` is not yet in `trimmed` gets a size for its border search.
    static func size(
        for renditions: [Rendition],
        of source: SourceShape,
        trimmed: [Int: TrimmedArea] = [:],
        limit: Int
    ) throws(ImagingError) -> PixelSize {
        var shared = PixelSize(1, 1)
        for rendition in renditions {
            let needed = try needed(for: rendition, of: source, rendition.trim.flatMap { trimmed[$0] })
            shared = PixelSize(max(shared.width, needed.width), max(shared.height, needed.height))
        }
        guard source.format.isVector else {
            return PixelSize(min(source.size.width, shared.width), min(source.size.height, shared.height))
        }
        return drawn(source.canvas, atLeast: shared, limit: limit)
    }

    private static func needed(
        for rendition: Rendition,
        of source: SourceShape,
        _ trimmed: TrimmedArea?
    ) throws(ImagingError) -> PixelSize {
        if rendition.trim != nil, trimmed == nil { return searched(for: rendition, in: source) }
        let part = try PicturePart(of: rendition, source, trimmed: trimmed)
        let resized = Geometry(of: rendition, source: part.turned, mayGrow: source.format.isVector).resized
        let wanted = rendition.rotate.isSideways ? resized.turned : resized
        return PixelSize(
            Int((Double(part.canvas.width) * Double(wanted.width) / Double(part.area.size.width)).rounded(.up)),
            Int((Double(part.canvas.height) * Double(wanted.height) / Double(part.area.size.height)).rounded(.up))
        )
    }

    private static func searched(for rendition: Rendition, in source: SourceShape) -> PixelSize {
        let canvas = source.canvas
        let longest = Double(max(canvas.width, canvas.height))
        guard source.format.isVector else { return canvas.scaled(by: min(1, Double(trimmingEdge) / longest)) }
        // Every pixel of a vector drawing costs time, more so with filters.
        let untrimmed = Geometry(of: rendition, source: canvas, mayGrow: true).resized
        let edge = min(trimmingEdge, 2 * max(untrimmed.width, untrimmed.height))
        return canvas.scaled(by: Double(edge) / longest)
    }

    /// The size of a vector drawing: its aspect ratio is kept, and its pixels are limited.
    private static func drawn(_ source: PixelSize, atLeast size: PixelSize, limit: Int) -> PixelSize {
        let wanted = size.factors(from: source)
        let mostPixels = (Double(limit) / Double(source.pixels)).squareRoot()
        let longestEdge = Double(drawingEdge) / Double(max(source.width, source.height))
        return source.scaled(by: min(max(wanted.across, wanted.down), mostPixels, longestEdge))
    }
}

extension PixelSize {
    /// The factors by which the edges of another size become these.
    func factors(from other: PixelSize) -> (across: Double, down: Double) {
        (Double(width) / Double(other.width), Double(height) / Double(other.height))
    }

    /// The scaled size, at least one pixel per edge.
    func scaled(by factor: Double) -> PixelSize {
        PixelSize(max(1, Int((Double(width) * factor).rounded())), max(1, Int((Double(height) * factor).rounded())))
    }
}

/// The decoded pixels from which every rendition of a group is made.
final class SharedPicture {
    let shape: SourceShape
    /// The size of a page or frame of this picture, upright.
    let frameSize: PixelSize
    /// The part of the shrunk picture that this is, in upright pixels; nil for all of it.
    let kept: PixelArea?
    let animation: Animation?
    /// The source's header with all metadata fields: the pixels are processed without them.
    let header: VipsPicture
    let bytes: UnsafeRawBufferPointer
    /// sRGB or grey pixels, upright; for an animation, its frames stacked vertically as stored.
    private let standard: VipsPicture
    /// The same pixels in the source's own colour space; nil if no rendition needs them or there is no profile.
    private let device: VipsPicture?

    var format: PictureFormat { shape.format }
    var hasDevicePixels: Bool { device != nil }

    init(
        standard: consuming VipsPicture,
        device: consuming VipsPicture?,
        shape: SourceShape,
        kept: PixelArea?,
        animation: Animation?,
        header: consuming VipsPicture,
        bytes: UnsafeRawBufferPointer
    ) {
        self.shape = shape
        self.kept = kept
        self.animation = animation
        self.header = header
        self.bytes = bytes
        // Frames of a video are upright, and may have been made smaller already.
        let isWhole = animation != nil && shape.format != .video
        frameSize = isWhole ? shape.size : PixelSize(standard.width, standard.height / (animation?.frames ?? 1))
        self.standard = standard
        self.device = device
    }

    /// One frame, upright and without metadata.
    func frame(_ index: Int, inSourceProfile: Bool) throws(ImagingError) -> VipsPicture {
        var picture = standard.sharingReference()
        if inSourceProfile, let own = device?.sharingReference() { picture = own }
        guard let animation else { return picture }
        let height = picture.height / animation.frames
        let area = PixelArea(left: 0, top: index * height, size: PixelSize(picture.width, height))
        let frame = try VipsPicture.result(of: "frame \(index)", picture.cropped(to: area))
        let plan = SourcePlan(format: format, sharedSize: frameSize)
        return try RenderPipeline.prepare(frame, by: RenderPipeline.uprighting, plan)
    }
}
