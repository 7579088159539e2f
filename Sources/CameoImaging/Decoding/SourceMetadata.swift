/// A source's header with all its fields, kept while its pixels go their way without them.
final class SourceMetadata {
    let header: VipsPicture

    init(_ header: consuming VipsPicture) {
        self.header = header
    }
}
