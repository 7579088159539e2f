internal import CameoModel

/// The size at which a source is decoded, from which all renditions of a group are made.
enum SharedSize {
    /// The longest edge, in pixels, of a picture whose borders are searched for trimming.
    private static let trimmingEdge = 4_096
    /// The longest edge, in pixels, that librsvg draws.
    private static let drawingEdge = 32_767

    /// The smallest size that is enough for every rendition on both axes; larger than the source only for vector
    /// drawings. The source's size is upright; `canvas` is as in ``PicturePart``. A rendition that trims but is not yet in `trimmed` gets a size for its
    /// border search.
    static func size(
        for renditions: [Rendition],
        of source: PixelSize,
        canvas: PixelSize,
        format: PictureFormat,
        trimmed: [Int: TrimmedArea] = [:],
        limit: Int
    ) throws(ImagingError) -> PixelSize {
        var shared = PixelSize(1, 1)
        for (index, rendition) in renditions.enumerated() {
            let needed = try needed(for: rendition, of: source, canvas, format, trimmed[index])
            shared = PixelSize(max(shared.width, needed.width), max(shared.height, needed.height))
        }
        guard format.isVector else {
            return PixelSize(min(source.width, shared.width), min(source.height, shared.height))
        }
        return drawn(canvas, atLeast: shared, limit: limit)
    }

    private static func needed(
        for rendition: Rendition,
        of source: PixelSize,
        _ canvas: PixelSize,
        _ format: PictureFormat,
        _ trimmed: TrimmedArea?
    ) throws(ImagingError) -> PixelSize {
        if rendition.trim != nil, trimmed == nil { return searched(for: rendition, in: canvas, format) }
        let part = try PicturePart(of: rendition, source: source, canvas: canvas, format: format, trimmed: trimmed)
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
        // Every pixel of a vector drawing costs time, more so with filters.
        let edge = min(trimmingEdge, 2 * longestEdge(of: rendition, source))
        return source.scaled(by: Double(edge) / longest)
    }

    /// The longest edge that the rendition would have without trimming.
    private static func longestEdge(of rendition: Rendition, _ source: PixelSize) -> Int {
        let size = Geometry(of: rendition, source: source, mayGrow: true).resized
        return max(size.width, size.height)
    }

    /// The size of a vector drawing: its aspect ratio is kept, and its pixels are limited.
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
    /// The scaled size, at least one pixel per edge.
    func scaled(by factor: Double) -> PixelSize {
        PixelSize(
            max(1, Int((Double(width) * factor).rounded())),
            max(1, Int((Double(height) * factor).rounded()))
        )
    }
}
