internal import CameoModel

/// The size that a source is decoded to, from which all renditions of a group are made.
enum SharedSize {
    /// The borders of a picture that is to be trimmed are searched at this size at most; pixels an edge.
    private static let trimmingEdge = 4_096
    /// What librsvg draws at most; pixels an edge.
    private static let drawingEdge = 32_767

    /// The smallest size that no rendition exceeds on either axis; never larger than the source, unless that is a drawing.
    /// The source's size is upright. For renditions that trim, and are not among `trimmed`, it is one to search their
    /// borders in.
    static func size(
        for renditions: [Rendition],
        of source: PixelSize,
        format: PictureFormat,
        trimmed: [Int: TrimmedArea] = [:],
        limit: Int
    ) throws(ImagingError) -> PixelSize {
        var shared = PixelSize(1, 1)
        for (index, rendition) in renditions.enumerated() {
            let needed = try needed(for: rendition, of: source, format, trimmed[index])
            shared = PixelSize(max(shared.width, needed.width), max(shared.height, needed.height))
        }
        guard format.isVector else {
            return PixelSize(min(source.width, shared.width), min(source.height, shared.height))
        }
        return drawn(source, atLeast: shared, limit: limit)
    }

    private static func needed(
        for rendition: Rendition,
        of source: PixelSize,
        _ format: PictureFormat,
        _ trimmed: TrimmedArea?
    ) throws(ImagingError) -> PixelSize {
        if rendition.trim != nil, trimmed == nil { return searched(for: rendition, in: source, format) }
        let part = try PicturePart(of: rendition, source: source, format: format, trimmed: trimmed)
        let resized = Geometry(of: rendition, source: part.turned, mayGrow: format.isVector).resized
        let wanted = rendition.rotate.isSideways ? resized.turned : resized
        return PixelSize(
            Int((Double(part.canvas.width) * Double(wanted.width) / Double(part.area.size.width)).rounded(.up)),
            Int((Double(part.canvas.height) * Double(wanted.height) / Double(part.area.size.height)).rounded(.up))
        )
    }

    private static func searched(
        for rendition: Rendition,
        in source: PixelSize,
        _ format: PictureFormat
    ) -> PixelSize {
        let longest = Double(max(source.width, source.height))
        guard format.isVector else { return source.scaled(by: min(1, Double(trimmingEdge) / longest)) }
        // Every pixel of a drawing costs time, more so with filters.
        let edge = min(trimmingEdge, 2 * longestEdge(of: rendition, source))
        return source.scaled(by: Double(edge) / longest)
    }

    /// Of what the rendition would be without trimming.
    private static func longestEdge(of rendition: Rendition, _ source: PixelSize) -> Int {
        let size = Geometry(of: rendition, source: source, mayGrow: true).resized
        return max(size.width, size.height)
    }

    /// A drawing keeps its shape, and has at most so many pixels.
    private static func drawn(_ source: PixelSize, atLeast size: PixelSize, limit: Int) -> PixelSize {
        let wanted = max(
            Double(size.width) / Double(source.width),
            Double(size.height) / Double(source.height)
        )
        let mostPixels = (Double(limit) / Double(source.pixels)).squareRoot()
        let longestEdge = Double(drawingEdge) / Double(max(source.width, source.height))
        return source.scaled(by: min(wanted, mostPixels, longestEdge))
    }
}

extension PixelSize {
    /// At least one pixel an edge.
    func scaled(by factor: Double) -> PixelSize {
        PixelSize(
            max(1, Int((Double(width) * factor).rounded())),
            max(1, Int((Double(height) * factor).rounded()))
        )
    }
}
