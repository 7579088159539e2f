/// The bytes of an overlay and the URI by which renditions refer to it.
package final class OverlaySource {
    /// The URI as the rendition's overlay spells it.
    let uri: String
    let mapping: SourceMapping

    package init(_ uri: String, _ mapping: consuming SourceMapping) {
        self.uri = uri
        self.mapping = mapping
    }
}
