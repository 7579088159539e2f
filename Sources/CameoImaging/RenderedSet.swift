package import CameoModel

package struct RenderedSet: Sendable {
    package let facts: PictureFacts
    /// Whether the source is truncated, so that the renditions show only what there is.
    package let isTruncated: Bool
    /// The renditions, in the order requested.
    package let renditions: [EncodedRendition]
}
