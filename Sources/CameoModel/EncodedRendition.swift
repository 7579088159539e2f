package import Foundation

/// A renderer's output for one rendition.
package struct EncodedRendition: Sendable {
    package let bytes: Data
    /// Width and height are in pixels, of one frame.
    package let width: Int
    package let height: Int
    /// The format of the bytes; never `auto` or `source`.
    package let format: Rendition.Format
    package let hasAlpha: Bool
    /// 1 for a still picture.
    package let frames: Int
    package let placeholder: Placeholder
    /// The facts of the frame that it shows, if the source is a video: each rendition may show another.
    package var source: PictureFacts?

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
