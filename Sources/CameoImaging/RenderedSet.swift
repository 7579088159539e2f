package import CameoModel

/// What was made of one source.
package struct RenderedSet: Sendable {
    package let facts: PictureFacts
    /// Whether the source lacks its end, and the renditions show what there is.
    package let isTruncated: Bool
    /// In the order asked for.
    package let renditions: [EncodedRendition]
}
