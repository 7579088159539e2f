internal import CameoFetch
internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Foundation

/// Opens every source that a request names: `cameo:` sources from the store, all others with the fetcher. `initials:`
/// sources have no bytes to fetch.
struct SourceResolver: Sendable {
    let store: any WorkerStore & ReaderStore
    /// Its address guard decides whether this worker may use what others have fetched.
    let fetcher: Fetcher
    /// The limit of concurrent reads that do not cross the network, of which each takes one.
    let limiter: ByteBudget
    let configuration: WorkerConfiguration

    /// Fetches the source, then each overlay once. They are fetched one after the other, because the limits count one
    /// transfer per job, and because overlays are not needed when the source is missing.
    ///
    /// - Throws: a `JobFailure` that names what could not be fetched; `HostBusy`; `StoreError`; `CancellationError`.
    func fetch(
        _ request: ThumbnailRequest,
        _ ticket: FetchTicket,
        _ clock: WorkClock
    ) async throws -> FetchedPictures {
        let source = try await open(request.source, headers: request.headers, for: .source, ticket, clock)
        var overlays: [FetchedOverlay] = []
        for uri in request.overlaySources {
            // Without the request's headers. They are credentials for the source, and the overlay's host must not see them,
            // not even if it is the same host. To use two pictures behind one login, store the overlay first.
            do {
                let file = try await open(uri, headers: [:], for: .overlay, ticket, clock)
                overlays.append(FetchedOverlay(uri: uri, file: file))
            } catch let failure as JobFailure {
                throw failure.ofOverlay
            }
            try limit(overlays)
        }
        return FetchedPictures(uri: request.source, source: source, overlays: overlays)
    }

    private func open(
        _ uri: String,
        headers: [String: String],
        for purpose: FetchPurpose,
        _ ticket: FetchTicket,
        _ clock: WorkClock
    ) async throws -> FetchedSource {
        if SourceScheme(of: uri) == .initials { return try .drawn(uri) }
        if fetcher.isRemote(uri) {
            return try await fetcher.fetch(uri, headers: headers, ticket: ticket, for: purpose, clock: clock)
        }
        if let name = CameoURI(uri) {
            return try await open(name, for: purpose, clock)
        }
        return try await limiter.run(clock) { try await fetcher.fetch(uri, headers: headers, clock: clock) }
    }

    /// Applies the limit of one source to all overlays together. Each may be as large as a source, and eight of them would
    /// take more memory than the operator who set the limit expects.
    private func limit(_ overlays: [FetchedOverlay]) throws(JobFailure) {
        let (bytes, most) = (overlays.reduce(0) { $0 + $1.file.bytes }, configuration.maximumSourceBytes)
        guard overlays.count > 1, bytes > most else { return }
        let message = "the overlays of the request have \(bytes) bytes together, more than the allowed \(most)"
        throw JobFailure(.sourceTooLarge, at: .fetch, message)
    }
}

extension FetchedSource {
    /// An `initials:` source. There is nothing to fetch: a sealed memory file tells the renderer what to draw. The digest
    /// covers everything that the drawing depends on, so names that have the same letters and colours are the same picture.
    static func drawn(_ uri: String) throws(JobFailure) -> FetchedSource {
        let initials = try Result { () throws(InvalidRequest) in try Initials(parsing: uri) }
            .mapError { JobFailure(.sourceInvalid, at: .fetch, "\(uri) cannot be drawn: \($0.reason)") }.get()
        return try FetchedSource(copying: Data(initials.canonicalText.utf8), named: uri, kind: .initials)
    }
}
