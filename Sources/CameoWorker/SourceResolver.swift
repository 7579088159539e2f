internal import CameoFetch
internal import CameoModel
internal import CameoStore

/// The way to the bytes of everything that a request names: the store for `cameo:`, nowhere for `initials:`, the
/// fetcher for all else.
struct SourceResolver: Sendable {
    let store: any WorkerStore & SourceStore & BlobStore & ReaderStore
    let fetcher: Fetcher
    /// For what does not cross the network.
    let limiter: Limiter
    let budget: ByteBudget
    /// Of one source that the store holds, and of all overlays of a request together.
    let maximumBytes: Int

    /// The source, then each overlay once. One after the other, so that a job never has more than the one transfer that
    /// its place in the limits stands for; the overlays of a source that is not there are not asked for.
    ///
    /// - Throws: `JobFailure` that names what could not be fetched; ``HostBusy``; ``StoreError``; `CancellationError`.
    func fetch(
        _ request: ThumbnailRequest,
        _ ticket: FetchTicket,
        _ clock: WorkClock
    ) async throws -> FetchedPictures {
        let source = try await open(request.source, headers: request.headers, for: .source, ticket, clock)
        var overlays: [FetchedOverlay] = []
        for uri in request.overlaySources {
            let overlay = try await fetchOverlay(uri, ticket, clock)
            overlays.append(overlay)
            try limit(overlays)
        }
        return FetchedPictures(uri: request.source, source: source, overlays: overlays)
    }

    /// Without the request's headers: they are credentials for the source, and an overlay's host must not see them,
    /// not even when it is the source's own. Whoever wants both pictures from behind one login stores the overlay first.
    private func fetchOverlay(
        _ uri: String,
        _ ticket: FetchTicket,
        _ clock: WorkClock
    ) async throws -> FetchedOverlay {
        do {
            return FetchedOverlay(uri: uri, file: try await open(uri, headers: [:], for: .overlay, ticket, clock))
        } catch let failure as JobFailure {
            throw failure.ofOverlay
        }
    }

    private func open(
        _ uri: String,
        headers: [String: String],
        for purpose: FetchPurpose,
        _ ticket: FetchTicket,
        _ clock: WorkClock
    ) async throws -> FetchedSource {
        if Initials.isInitialsURI(uri) { return try DrawnSource(uri).open() }
        if fetcher.isRemote(uri) {
            return try await fetcher.fetch(uri, headers: headers, ticket: ticket, for: purpose, clock: clock)
        }
        if let name = CameoURI(uri) {
            let stored = StoredSource(
                store: store,
                fetcher: fetcher,
                limiter: limiter,
                budget: budget,
                maximumBytes: maximumBytes
            )
            return try await stored.open(name, for: purpose, clock)
        }
        return try await limiter.run(clock) { try await fetcher.fetch(uri, headers: headers, clock: clock) }
    }

    /// Each may be as large as a source; eight such would be more memory than an operator who set the limit expects.
    private func limit(_ overlays: [FetchedOverlay]) throws(JobFailure) {
        let bytes = overlays.reduce(0) { $0 + $1.file.bytes }
        guard overlays.count > 1, bytes > maximumBytes else { return }
        let message = "the overlays of the request have \(bytes) bytes together, more than the allowed \(maximumBytes)"
        throw JobFailure(.sourceTooLarge, at: .fetch, message)
    }
}
