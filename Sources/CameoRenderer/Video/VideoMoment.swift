internal import CameoModel

/// What a rendition shows of a video.
enum VideoMoment: Hashable {
    case frame(Rendition.FrameTime, isExact: Bool)
    /// The tiles of a storyboard, or the frames of a preview.
    case several(Rendition.Storyboard)

    /// Ten frames, of which the renderer shows each for half a second.
    private static let preview = Rendition.Storyboard(columns: 10, rows: 1)

    init(_ rendition: Rendition) {
        if let storyboard = rendition.storyboard {
            self = .several(storyboard)
        } else if rendition.encoding.animated, rendition.format.written(for: .video).isAnimatable {
            self = .several(Self.preview)
        } else {
            self = .frame(rendition.time, isExact: rendition.accurate)
        }
    }
}
