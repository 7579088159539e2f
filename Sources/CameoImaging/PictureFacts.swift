/// What a source turned out to be.
package struct PictureFacts: Hashable, Sendable {
    package let format: PictureFormat
    /// Pixels of the first page, upright.
    package let size: PixelSize
    /// Pages or frames.
    package let pages: Int
    package let hasAlpha: Bool
}
