package import CameoModel

/// Everything that was asked of one source.
package struct RenderedPicture: Sendable {
    /// In the order asked for.
    package let renditions: [EncodedRendition]
    package let source: SourceFacts
    /// As in `cameo-1 libvips-8.14.1`.
    package let rendererVersion: String
}
