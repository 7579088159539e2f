internal import CameoModel

/// The size that a source is decoded to, from which all renditions of a group are made.
enum SharedSize {
    /// The borders of a picture that is to be trimmed are searched at this size at most; pixels an edge.
    private static let trimmingEdge = 4_096
    /// What librsvg draws at most; pixels an edge.
    private static let drawingEdge = 32_767

    /// The smallest size that no rendition exceeds on either axis; never larger than the source, unless that is a drawing.
    /// The source's size is upright.
    static func size(
        for renditions: [Rendition],
        of source: PixelSize,
        format: PictureFormat,
        limit: Int
    ) throws(ImagingError) -> PixelSize {
        var shared = PixelSize(1, 1)
        for rendition in renditions {
            let needed = try needed(for: rendition, of: source, isVector: format.isVector)
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
        isVector: Bool
    ) throws(ImagingError) -> PixelSize {
        // What is left after trimming is not known yet: it may be a small part that the box enlarges.
        if rendition.trim != nil {
            let longest = Double(max(source.width, source.height))
            // Every pixel of a drawing costs time, more so with filters.
            let edge = isVector ? min(trimmingEdge, 2 * longestEdge(of: rendition, source)) : trimmingEdge
            return source.scaled(by: isVector ? Double(edge) / longest : min(1, Double(edge) / longest))
        }
        var area = PixelArea(whole: source)
        if let crop = rendition.crop { area = try area.cropped(to: crop) }
        let isSideways = rendition.rotate.isSideways
        let part = isSideways ? area.size.turned : area.size
        let resized = Geometry(of: rendition, source: part, mayGrow: isVector).resized
        let wanted = isSideways ? resized.turned : resized
        return PixelSize(
            Int((Double(source.width) * Double(wanted.width) / Double(area.size.width)).rounded(.up)),
            Int((Double(source.height) * Double(wanted.height) / Double(area.size.height)).rounded(.up))
        )
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
