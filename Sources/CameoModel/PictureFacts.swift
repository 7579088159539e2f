/// What a source turned out to be.
package struct PictureFacts: Hashable, Sendable {
    package let format: PictureFormat
    /// Pixels of the first page, upright.
    package let width: Int
    package let height: Int
    /// Pages or frames.
    package let pages: Int
    package let hasAlpha: Bool
    /// Whether its pages are frames in time, and more than one.
    package var isAnimated: Bool { format.isAnimatable && pages > 1 }

    package init(format: PictureFormat, width: Int, height: Int, pages: Int, hasAlpha: Bool) {
        self.format = format
        self.width = width
        self.height = height
        self.pages = pages
        self.hasAlpha = hasAlpha
    }
}
