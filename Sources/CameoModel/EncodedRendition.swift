package import Foundation

/// What a renderer made of one rendition.
package struct EncodedRendition: Sendable {
    package let bytes: Data
    /// Pixels.
    package let width: Int
    package let height: Int
    /// What the bytes are; never `auto`.
    package let format: Rendition.Format

    package init(bytes: Data, width: Int, height: Int, format: Rendition.Format) {
        self.bytes = bytes
        self.width = width
        self.height = height
        self.format = format
    }
}
