package import CameoModel

/// All requested renditions of one source.
package struct RenderedPicture: Sendable {
    /// The renditions in the order requested.
    package let renditions: [EncodedRendition]
    package let source: PictureFacts
    /// Whether the source was truncated, so that the renditions show only part of it.
    package let isTruncated: Bool
    /// The version, such as `cameo-3 libvips-8.14.1`.
    package let rendererVersion: String
}
