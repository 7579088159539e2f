/// What decoding revealed about a source.
package struct PictureFacts: Hashable, Sendable {
    package let format: PictureFormat
    /// Width and height are in pixels, of the first page, upright.
    package let width: Int
    package let height: Int
    package let pages: Int
    package let hasAlpha: Bool
    /// Set if the source is a video, of which `width` and `height` are a frame's.
    package var video: VideoFacts?
    /// Whether the pages are frames in time and there is more than one.
    package var isAnimated: Bool { format.isAnimatable && pages > 1 }

    package init(format: PictureFormat, width: Int, height: Int, pages: Int, hasAlpha: Bool, video: VideoFacts? = nil) {
        self.format = format
        self.width = width
        self.height = height
        self.pages = pages
        self.hasAlpha = hasAlpha
        self.video = video
    }
}
