package import CameoModel

/// Gets the bytes behind a source: the way into the room.
package final class Fetcher: Sendable {
    private let providers: [any SourceProvider]
    private let http: HTTPSource
    /// Also for what has no scheme: base64.
    private let inline: DataSource
    private let rewriting: SourceRewriting
    private let shared = SharedFetches()

    /// - Parameters:
    ///   - configuration: what may be fetched.
    ///   - cache: where answers of HTTP servers are kept; nil keeps none.
    /// - Throws: ``FetchConfigurationError``, which names the root that does not exist, and so on.
    package init(
        _ configuration: FetchConfiguration,
        cache: (any SourceCache)? = nil
    ) throws(FetchConfigurationError) {
        try configuration.validate()
        rewriting = try SourceRewriting(configuration.rewrites)
        inline = DataSource(maximumBytes: configuration.maximumBytes)
        let files = try FileSource(configuration)
        do throws(FetchConfigurationError) {
            http = try HTTPSource(configuration)
            let web: any SourceProvider =
                if let cache { try CachedHTTPSource(http, cache, configuration) } else { http }
            providers = [inline, files, web]
        } catch {
            files.shutdown()
            throw error
        }
    }

    deinit { shutdown() }

    /// - Parameters:
    ///   - source: a URI with one of the supported schemes, in any case, or a picture in base64.
    ///   - headers: sent with an HTTP request, to the source's own origin, or the mirror that stands in for it, only.
    ///   - ticket: when the caller's fetch began. With one, an HTTP download is shared with those who want the same,
    ///     and the cache is asked and told.
    ///   - purpose: an overlay waits for no room in memory.
    ///   - clock: told of every wait for a place.
    /// - Returns: its bytes, complete and hashed.
    /// - Throws: `JobFailure` at stage `fetch`; ``HostBusy`` when it would have to wait for its host for long;
    ///   `CancellationError` when the task is cancelled (the transfer is aborted at once, unless others wait for it) or
    ///   the fetcher was shut down.
    package func fetch(
        _ source: String,
        headers: [String: String] = [:],
        ticket: FetchTicket? = nil,
        for purpose: FetchPurpose = .source,
        clock: WorkClock = WorkClock()
    ) async throws -> FetchedSource {
        try Task.checkCancellation()
        let target = try rewriting.rewritten(source)
        do {
            let provider = try provider(for: target)
            let request = { @Sendable (clock: WorkClock) in
                SourceRequest(
                    uri: source,
                    target: target,
                    headers: headers,
                    ticket: ticket,
                    purpose: purpose,
                    clock: clock
                )
            }
            guard let ticket, provider.sharesFetches else { return try await provider.open(request(clock)) }
            let key = SharedFetchKey(source: source, headers: headers, purpose: purpose)
            return try await shared.fetch(key, ticket, clock) { clock in
                try await provider.open(request(clock))
            }
        } catch let failure as JobFailure where target != source {
            throw failure.saying("\(failure.message) (rewritten from \(SourceName.of(source)))")
        }
    }

    /// Why the address guard would not have let this fetcher have what came from there; nil if it would.
    package func refusal(of peers: [Peer]) -> String? { http.refusal(of: peers) }

    /// Whether a source is behind the network: such fetches have limits of their own, others take this machine's means
    /// only.
    package func isRemote(_ source: String) -> Bool {
        (try? provider(for: rewriting.rewritten(source)).sharesFetches) ?? false
    }

    /// Ends the threads; what is under way ends with `CancellationError`.
    package func shutdown() {
        for provider in providers { provider.shutdown() }
    }

    private func provider(for source: String) throws(JobFailure) -> any SourceProvider {
        guard let scheme = URIScheme.of(source) else {
            guard !PlainBase64.matches(source) else { return inline }
            throw .fetch(
                .sourceInvalid,
                "\(SourceName.of(source)) has no scheme; a file is written file:///folder/picture.jpg"
            )
        }
        guard let provider = providers.first(where: { $0.schemes.contains(scheme) }) else {
            let supported = providers.flatMap(\.schemes).map { "\($0):" }.joined(separator: ", ")
            throw .fetch(
                .sourceUnsupportedScheme,
                "\(SourceName.of(source)) has the scheme \(SourceName.of(scheme)):, which is not one of \(supported)"
            )
        }
        return provider
    }
}
