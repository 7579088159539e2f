internal import CameoModel

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
            let isAnimated = facts.isAnimated && (isSheet || rendition.encoding.animated && written.holdsAnimation)
            if let known = groups.firstIndex(where: { $0.page == rendition.page && $0.isAnimated == isAnimated }) {
                groups[known].indices.append(index)
            } else {
                groups.append(RenditionGroup(page: rendition.page, isAnimated: isAnimated, indices: [index]))
            }
        }
        return groups
    }
}

extension Rendition.Format {
    var holdsAnimation: Bool {
        switch self {
        case .auto, .webp, .gif: true
        case .source, .jpeg, .png, .avif: false
        }
    }

    /// Whether transparent pixels can be written.
    var hasAlpha: Bool {
        switch self {
        case .auto, .source, .png, .webp, .avif, .gif: true
        case .jpeg: false
        }
    }
}
