/// What is known about a thumbnail beyond its size and format, and about its source.
package struct ThumbnailFacts: Hashable, Sendable {
    package let hasAlpha: Bool
    /// 1 for a still picture.
    package let frames: Int
    package let placeholder: Placeholder
    package let source: PictureFacts
    /// Whether the source was truncated, so that the thumbnail shows only part of it.
    package let isTruncated: Bool

    package init(hasAlpha: Bool, frames: Int, placeholder: Placeholder, source: PictureFacts, isTruncated: Bool) {
        self.hasAlpha = hasAlpha
        self.frames = frames
        self.placeholder = placeholder
        self.source = source
        self.isTruncated = isTruncated
    }
}

extension Placeholder {
    /// The colour as `#rrggbb`; a dominant colour is always opaque.
    package var dominantColorText: String { String(dominantColor.description.prefix(7)) }
}
