package import CameoModel

/// The bytes of a source, ready for a renderer.
package struct FetchedSource: Sendable {
    /// For `file:` the opened file itself, else a sealed memory file. Its offset is 0.
    package let file: OpenFile
    /// Length of the file.
    package let bytes: Int
    /// SHA-256 of the bytes.
    package let digest: BlobDigest
    /// As declared by the server or the `data:` URI: in lower case, without parameters.
    package let mediaType: String?
    /// Of whoever began the download that this is; nil without one.
    package private(set) var ticket: FetchTicket?
    package private(set) var arrival = SourceArrival.fetched
    /// When, in the order of all fetches, its origin last vouched for these bytes: the number of the fetch or the
    /// revalidation that they come from, which may be an earlier job's (invariant I4). Nil outside that order: files.
    package private(set) var sourceSeen: Int64?
    package let kind: SourceKind
    private let opened: OpenedFile?

    /// A source whose bytes nobody can change any more: `file` is a sealed memory file.
    package init(sealed file: OpenFile, bytes: Int, digest: BlobDigest, mediaType: String?, kind: SourceKind = .file) {
        self.file = file
        self.bytes = bytes
        self.digest = digest
        self.mediaType = mediaType
        self.kind = kind
        opened = nil
    }

    init(_ body: Download.Body, mediaType: String?) {
        self.init(sealed: body.file, bytes: body.bytes, digest: body.digest, mediaType: mediaType)
    }

    /// A file of the file system, which others may go on writing to.
    init(_ file: OpenFile, digest: BlobDigest, as opened: OpenedFile) {
        self.file = file
        bytes = opened.snapshot.size
        self.digest = digest
        mediaType = nil
        kind = .file
        self.opened = opened
    }

    func begun(with ticket: FetchTicket) -> FetchedSource {
        var copy = self
        copy.ticket = ticket
        copy.sourceSeen = sourceSeen ?? ticket.number
        return copy
    }

    /// The same bytes, known to be those of an earlier fetch or of a revalidation.
    package func seen(_ number: Int64, _ arrival: SourceArrival) -> FetchedSource {
        var copy = self
        copy.sourceSeen = number
        copy.arrival = arrival
        return copy
    }

    /// Nil, or `source.changed` when the file is no longer what was opened (size, times of modification and change):
    /// what was rendered from it may then be half of one picture and half of another.
    package func changeSinceOpened() -> JobFailure? {
        guard let opened, file.status().map(FileSnapshot.init) != opened.snapshot else { return nil }
        return .fetch(.sourceChanged, "\(opened.name) changed while it was read")
    }
}

/// A file as it was when it was opened.
struct OpenedFile: Sendable {
    /// For messages.
    let name: String
    let snapshot: FileSnapshot
}
