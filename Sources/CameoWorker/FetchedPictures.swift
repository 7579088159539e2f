internal import CameoFetch
internal import CameoModel
internal import CameoRenderer

/// The source and the overlays of a request, as they were fetched.
struct FetchedPictures: Sendable {
    /// The URI of the source, as it was requested.
    let uri: String
    let source: FetchedSource
    /// The overlays, in the order of `ThumbnailRequest.overlaySources`.
    let overlays: [FetchedOverlay]

    /// The number of bytes that were fetched so far.
    var bytes: Int { overlays.reduce(source.parts?.loadedBytes ?? source.bytes) { $0 + $1.file.bytes } }

    /// The number of the oldest fetch or revalidation that brought any of these files. It may be another job's, from before
    /// or after this job's own number, which counts for files that came from neither a cache nor the network.
    func sourceSeen(_ ticket: FetchTicket) -> Int64 {
        overlays.reduce(source.sourceSeen ?? ticket.sourceSeen) { min($0, $1.file.sourceSeen ?? ticket.sourceSeen) }
    }

    /// The files that came from the cache although they were no longer fresh.
    var stale: [(uri: String, age: Duration, trouble: String)] {
        ([(uri, source)] + overlays.map { ($0.uri, $0.file) }).compactMap { uri, file in
            guard case .stale(let age, let trouble) = file.arrival else { return nil }
            return (uri, age, trouble)
        }
    }

    /// The digest of the overlay that a rendition draws; nil if it draws none.
    func overlayDigest(of rendition: Rendition) -> BlobDigest? {
        guard let uri = rendition.look.overlay?.source else { return nil }
        return overlays.first { $0.uri == uri }?.file.digest
    }

    /// `source.changed` for the first file that changed after it was opened; nil if none did.
    func changeSinceOpened() -> JobFailure? {
        source.changeSinceOpened() ?? overlays.lazy.compactMap { $0.file.changeSinceOpened()?.ofOverlay }.first
    }
}

struct FetchedOverlay: Sendable {
    /// The overlay's URI, as the renditions name it.
    let uri: String
    let file: FetchedSource

    var forRenderer: RenderOverlay { (source: uri, file: file.file, kind: file.kind) }
}

extension JobFailure {
    /// This failure, with a message that says that it concerns an overlay. Messages of the fetcher name what was fetched, but
    /// not its purpose.
    var ofOverlay: JobFailure {
        saying("the overlay cannot be used: \(message)")
    }
}
