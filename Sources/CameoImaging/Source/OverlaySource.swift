/// The bytes of an overlay, and what renditions call it.
package final class OverlaySource {
    /// As a rendition's overlay spells it.
    let uri: String
    let mapping: SourceMapping

    package init(_ uri: String, _ mapping: consuming SourceMapping) {
        self.uri = uri
        self.mapping = mapping
    }
}
