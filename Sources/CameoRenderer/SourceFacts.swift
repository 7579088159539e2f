internal import CameoRenderMessages

/// What a source turned out to be.
package struct SourceFacts: Hashable, Sendable {
    package let format: SourceFormat
    /// Pixels of the first page, upright: after its EXIF orientation was applied.
    package let width: Int
    package let height: Int
    /// Pages or frames.
    package let pages: Int
    package let hasAlpha: Bool

    /// - Throws: for a format that no renderer of this version decodes.
    init(_ message: PictureMessage.Source) throws(MalformedMessage) {
        guard let format = SourceFormat(rawValue: message.format) else {
            throw MalformedMessage("\(message.format.debugDescription) is no source format")
        }
        self.format = format
        width = message.width
        height = message.height
        pages = message.pages
        hasAlpha = message.hasAlpha
    }
}
