internal import CameoModel

extension Rendition {
    /// What `cameo-frames` is asked for: the moment, and as few pixels as are enough for all these renditions, at least
    /// one and all of the same moment.
    static func frame(for renditions: [Rendition]) -> Rendition {
        var frame = box(of: renditions) ?? Rendition(width: edgeRange.upperBound, height: edgeRange.upperBound)
        frame.name = "frame"
        frame.format = .png
        switch VideoMoment(renditions[0]) {
        case .frame(let time, let isExact): (frame.time, frame.accurate) = (time, isExact)
        case .several(let storyboard): frame.storyboard = storyboard
        }
        return frame
    }

    /// Nil if some renditions may use any part of the frame.
    private static func box(of renditions: [Rendition]) -> Rendition? {
        guard renditions.allSatisfy({ $0.trim == nil && $0.crop == nil }) else { return nil }
        let boxes = renditions.map(\.uncut)
        if let first = boxes.first, boxes.allSatisfy({ $0 == first }) { return first }
        // Whatever covers the largest edges has the pixels that each needs.
        return Rendition(
            width: boxes.compactMap(\.width).max(),
            height: boxes.compactMap(\.height).max(),
            fit: .outside
        )
    }

    /// Only the box, before it is cut or padded and as the frame is before it is rotated.
    private var uncut: Rendition {
        let fit: Fit =
            switch self.fit {
            case .inside, .contain: .inside
            case .cover, .outside: .outside
            case .fill: .fill
            }
        return rotate.isSideways
            ? Rendition(name: "", width: boxHeight, height: boxWidth, fit: fit)
            : Rendition(name: "", width: boxWidth, height: boxHeight, fit: fit)
    }
}
