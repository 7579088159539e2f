package import Foundation

/// What a renderer made of one rendition.
package struct EncodedRendition: Sendable {
    package let bytes: Data
    /// Pixels of a frame.
    package let width: Int
    package let height: Int
    /// What the bytes are; never `auto` or `source`.
    package let format: Rendition.Format
    /// Whether any of its pixels may be transparent.
    package let hasAlpha: Bool
    /// 1 for a still picture.
    package let frames: Int
    package let placeholder: Placeholder

    package init(
        bytes: Data,
        width: Int,
        height: Int,
        format: Rendition.Format,
        hasAlpha: Bool,
        frames: Int,
        placeholder: Placeholder
    ) {
        self.bytes = bytes
        self.width = width
        self.height = height
        self.format = format
        self.hasAlpha = hasAlpha
        self.frames = frames
        self.placeholder = placeholder
    }
}
