package import CameoModel

/// Everything that was asked of one source.
package struct RenderedPicture: Sendable {
    /// In the order asked for.
    package let renditions: [EncodedRendition]
    package let source: PictureFacts
    /// Whether the source was truncated, and the renditions show what there was.
    package let isTruncated: Bool
    /// As in `cameo-2 libvips-8.14.1`.
    package let rendererVersion: String
}
