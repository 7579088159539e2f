/// What is known of a thumbnail beyond its size and format, and of the source that it was made of.
package struct ThumbnailFacts: Hashable, Sendable {
    /// Whether any of its pixels may be transparent.
    package let hasAlpha: Bool
    /// 1 for a still picture.
    package let frames: Int
    package let placeholder: Placeholder
    package let source: PictureFacts
    /// Whether the source was cut off, and the thumbnail shows what there was of it.
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
    /// `#rrggbb`: a dominant colour is opaque.
    package var dominantColorText: String { String(dominantColor.description.prefix(7)) }
}
