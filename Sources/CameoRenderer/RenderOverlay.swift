package import CameoModel

/// A picture that renditions draw over the source's.
package struct RenderOverlay: Sendable {
    /// The overlay's URI as the renditions spell it.
    package let source: String
    /// A regular or memory file, read from its start whatever its offset.
    package let file: OpenFile
    package let kind: SourceKind

    package init(source: String, file: OpenFile, kind: SourceKind = .file) {
        self.source = source
        self.file = file
        self.kind = kind
    }
}
