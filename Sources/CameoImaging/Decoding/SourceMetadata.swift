/// A source's header with all metadata fields, kept because the pixels are processed without them.
final class SourceMetadata {
    let header: VipsPicture

    init(_ header: consuming VipsPicture) {
        self.header = header
    }
}
