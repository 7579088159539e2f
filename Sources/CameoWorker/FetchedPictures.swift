internal import CameoFetch
internal import CameoModel
internal import CameoRenderer

/// The bytes of a request's source and of its overlays, as they were fetched.
struct FetchedPictures: Sendable {
    /// Of the source, as it was requested.
    let uri: String
    let source: FetchedSource
    /// In the order of `ThumbnailRequest.overlaySources`.
    let overlays: [FetchedOverlay]

    /// Of everything that was fetched.
    var bytes: Int { overlays.reduce(source.bytes) { $0 + $1.file.bytes } }

    /// The number of the oldest fetch or revalidation that these come from: it may be another job's, and an earlier or
    /// a later one than the job's own, which is that of what came from no cache and no network.
    func sourceSeen(_ ticket: FetchTicket) -> Int64 {
        overlays.reduce(source.sourceSeen ?? ticket.number) { min($0, $1.file.sourceSeen ?? ticket.number) }
    }

    /// What had to be served from the cache although it was no longer fresh.
    var stale: [(uri: String, age: Duration, trouble: String)] {
        ([(uri, source)] + overlays.map { ($0.uri, $0.file) }).compactMap { uri, file in
            guard case .stale(let age, let trouble) = file.arrival else { return nil }
            return (uri, age, trouble)
        }
    }

    /// Of the overlay that a rendition draws; nil for one that draws none.
    func overlayDigest(of rendition: Rendition) -> BlobDigest? {
        guard let uri = rendition.look.overlay?.source else { return nil }
        return overlays.first { $0.uri == uri }?.file.digest
    }

    /// Nil, or `source.changed` for the first file that is no longer what was opened.
    func changeSinceOpened() -> JobFailure? {
        source.changeSinceOpened() ?? overlays.lazy.compactMap { $0.file.changeSinceOpened()?.ofOverlay }.first
    }
}

/// A fetched overlay.
struct FetchedOverlay: Sendable {
    /// As the renditions name it.
    let uri: String
    let file: FetchedSource

    var forRenderer: RenderOverlay { RenderOverlay(source: uri, file: file.file, kind: file.kind) }
}

extension JobFailure {
    /// The same failure of an overlay: messages of the fetch name what they fetched, but not what for.
    var ofOverlay: JobFailure {
        saying("the overlay cannot be used: \(message)")
    }
}
