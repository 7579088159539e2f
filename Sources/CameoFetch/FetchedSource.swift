package import CameoModel
package import CameoSystem
package import Foundation
internal import Glibc

/// A request for one source.
struct SourceRequest: Sendable {
    /// The URI as requested, under which responses are cached.
    let uri: String
    /// The URI to fetch from: the requested one, or the one that the operator rewrote it to.
    let target: String
    /// Headers to send, if the target's scheme has headers.
    let headers: [String: String]
    /// The start of the fetch. Without a ticket, the fetch is not shared and bypasses the cache.
    let ticket: FetchTicket?
    var purpose: FetchPurpose
    /// The clock that is told about every wait for a slot.
    var clock: WorkClock
}

/// The bytes of a source, ready for a renderer.
package struct FetchedSource: Sendable {
    /// The opened file for `file:`, otherwise a sealed memory file. Its offset is 0.
    package let file: OpenFile
    /// The length of the file.
    package let bytes: Int
    /// The SHA-256 of the bytes; of a video that is loaded in parts, of what tells its version.
    package let digest: BlobDigest
    /// The media type that the server or the `data:` URI declares, in lower case and without parameters.
    package let mediaType: String?
    /// The ticket of the fetch that began the download; nil without one.
    package private(set) var ticket: FetchTicket?
    package private(set) var arrival = SourceArrival.fetched
    /// The number of the fetch or revalidation that produced these bytes, which may be an earlier job's (invariant I4). Nil
    /// for files.
    package private(set) var sourceSeen: Int64?
    package let kind: SourceKind
    /// Loads what is missing of a video, which then is `bytes` long all the same; nil if nothing is.
    package private(set) var parts: (any VideoParts)?
    /// What loads the parts, and would end with its last reference.
    var fetcher: Fetcher?
    /// A file in the file system: its name in messages, and its state when it was opened.
    private let opened: (name: String, state: FileSnapshot)?

    /// Copies bytes into a sealed memory file, which keeps the reservation. `name` is the source's in messages.
    ///
    /// - Throws: a failure of this machine, if it has no room for them.
    package init(
        copying data: Data,
        named name: @autoclosure () -> String,
        digest: BlobDigest? = nil,
        mediaType: String? = nil,
        kind: SourceKind = .file,
        keeping reservation: ByteReservation? = nil
    ) throws(JobFailure) {
        do throws(Errno) {
            let file = try OpenFile.memory(containing: data, keeping: reservation)
            guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw Errno() }
            reservation?.shrink(to: data.count)
            let digest = digest ?? BlobDigest(of: data)
            self.init(sealed: file, bytes: data.count, digest: digest, mediaType: mediaType, kind: kind)
        } catch {
            throw .fetch(name(), lacking: error)
        }
    }

    /// A source whose bytes can no longer change: `file` is a sealed memory file.
    private init(sealed file: OpenFile, bytes: Int, digest: BlobDigest, mediaType: String?, kind: SourceKind = .file) {
        (self.file, self.bytes, self.digest, self.mediaType, self.kind) = (file, bytes, digest, mediaType, kind)
        opened = nil
    }

    init(_ body: Download.Body, mediaType: String?) {
        self.init(sealed: body.file, bytes: body.bytes, digest: body.digest, mediaType: mediaType)
    }

    /// A video of which the rest is loaded when it is needed.
    ///
    /// `digest` is one that only the same version has.
    init(_ video: PartialVideo, digest: BlobDigest, mediaType: String?) {
        self.init(sealed: video.file, bytes: video.size, digest: digest, mediaType: mediaType)
        parts = video
    }

    /// A file in the file system, to which other processes may still write.
    init(_ file: OpenFile, digest: BlobDigest, named name: String, _ state: FileSnapshot) {
        self.file = file
        bytes = state.size
        self.digest = digest
        mediaType = nil
        kind = .file
        opened = (name, state)
    }

    func begun(with ticket: FetchTicket) -> FetchedSource {
        var copy = self
        copy.ticket = ticket
        copy.sourceSeen = sourceSeen ?? ticket.sourceSeen
        return copy
    }

    /// The same bytes, attributed to an earlier fetch or a revalidation.
    package func seen(_ number: Int64, _ arrival: SourceArrival) -> FetchedSource {
        var copy = self
        copy.sourceSeen = number
        copy.arrival = arrival
        return copy
    }

    /// Returns `source.changed` if the file's size or its modification or change time differs from when it was opened: the
    /// rendered picture may then mix two versions.
    package func changeSinceOpened() -> JobFailure? {
        guard let opened, file.status().map(FileSnapshot.init) != opened.state else { return nil }
        return .fetch(.sourceChanged, "\(opened.name) changed while it was read")
    }
}

/// How the bytes of a source were obtained.
package enum SourceArrival: Hashable, Sendable {
    /// They were fetched from the source.
    case fetched
    /// They came from the cache, after the server confirmed them (304).
    case revalidated
    /// They came fresh from the cache. `age` is computed by RFC 9111, section 4.2.3.
    case cached(age: Duration)
    /// They came stale from the cache, because the server could not be asked. `trouble` gives the reason.
    case stale(age: Duration, trouble: String)

    /// A single word for logs.
    package var name: String {
        switch self {
        case .fetched: "fetched"
        case .revalidated: "revalidated"
        case .cached: "cached"
        case .stale: "stale"
        }
    }
}
