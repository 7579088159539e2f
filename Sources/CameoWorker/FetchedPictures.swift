internal import CameoFetch
internal import CameoModel
internal import CameoRenderer

/// The bytes of a request's source and of its overlays, as they were fetched.
struct FetchedPictures: Sendable {
    let source: FetchedSource
    /// In the order of `ThumbnailRequest.overlaySources`.
    let overlays: [FetchedOverlay]

    /// Of everything that was fetched.
    var bytes: Int { overlays.reduce(source.bytes) { $0 + $1.file.bytes } }

    /// When the oldest of the downloads began that these are, which may be another job's; at most the job's own number.
    func sourceSeen(_ ticket: FetchTicket) -> Int64 {
        overlays.reduce(min(ticket.number, source.ticket?.number ?? ticket.number)) { seen, overlay in
            min(seen, overlay.file.ticket?.number ?? seen)
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
