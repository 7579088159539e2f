package import CameoModel
package import CameoSystem

/// Fetches the bytes of a source. The entry point of this module.
package final class Fetcher: Sendable {
    private let files: FileSource
    private let http: HTTPSource
    /// Also handles sources without a scheme: base64.
    private let inline: DataSource
    private let rewriting: SourceRewriting
    private let shared = SharedFetches()

    /// - Throws: ``FetchConfigurationError`` for an invalid configuration.
    package init(
        _ configuration: FetchConfiguration,
        cache: (any SourceCache)? = nil
    ) throws(FetchConfigurationError) {
        try configuration.validate()
        rewriting = try SourceRewriting(configuration.rewrites)
        inline = DataSource(maximumBytes: configuration.maximumBytes)
        files = try FileSource(configuration)
        do throws(FetchConfigurationError) {
            http = try HTTPSource(configuration, cache)
        } catch {
            files.shutdown()
            throw error
        }
    }

    deinit { shutdown() }

    /// The bytes, complete and hashed, of a URI with one of the supported schemes, in any case, or of a picture in base64.
    ///
    /// Headers are sent only to the origin of the source or of the mirror that replaces it. With a ticket, concurrent fetches
    /// share an HTTP download, and the cache is used. An overlay never waits for room in memory. The clock is told about every
    /// wait for a slot.
    ///
    /// - Throws: `JobFailure` at stage `fetch`; ``HostBusy`` instead of a long wait for the host; `CancellationError` if the
    ///   task is cancelled (the transfer is aborted at once, unless other fetches wait for it) or the fetcher was shut down.
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
            let request = SourceRequest(
                uri: source,
                target: target,
                headers: headers,
                ticket: ticket,
                purpose: purpose,
                clock: clock
            )
            // Sharing is worthwhile only over a network.
            guard let ticket, Self.crossesNetwork(target) else { return try await open(request) }
            let exact = headers.map { (ExactText($0.key), ExactText($0.value)) }
            let key = SharedFetchKey(
                source: ExactText(source),
                headers: Dictionary(uniqueKeysWithValues: exact),
                purpose: purpose
            )
            var fetched = try await shared.fetch(key, ticket, clock) { [http] clock in
                var request = request
                request.clock = clock
                return try await http.open(request)
            }
            if fetched.parts != nil { fetched.fetcher = self }
            return fetched
        } catch let failure as JobFailure where target != source {
            throw failure.saying("\(failure.message) (rewritten from \(SourceName.of(source)))")
        }
    }

    /// Why the address guard would have refused a fetch from these peers; nil if it would have allowed it.
    package func refusal(of peers: [Peer]) -> String? { http.transport.refusal(of: peers) }

    /// Whether the source is fetched over the network. Such fetches have separate limits.
    package func isRemote(_ source: String) -> Bool {
        (try? rewriting.rewritten(source)).map(Self.crossesNetwork) ?? false
    }

    private static func crossesNetwork(_ target: String) -> Bool { SourceScheme(of: target)?.isWeb == true }

    /// Ends the threads. Fetches under way end with `CancellationError`.
    package func shutdown() {
        files.shutdown()
        http.transport.shutdown()
    }

    private func open(_ request: SourceRequest) async throws -> FetchedSource {
        let source = request.target
        guard let scheme = URIScheme.of(source) else {
            guard !PlainBase64.matches(source) else { return try await inline.open(request) }
            let message = "\(SourceName.of(source)) has no scheme; a file is written file:///folder/picture.jpg"
            throw JobFailure.fetch(.sourceInvalid, message)
        }
        switch SourceScheme(rawValue: scheme) {
        case .data: return try await inline.open(request)
        case .file: return try await files.open(request)
        case .http, .https: return try await http.open(request)
        case .cameo, .initials, nil:
            let (name, unknown) = (SourceName.of(source), SourceName.of(scheme))
            let message = "\(name) has the scheme \(unknown):, which is not one of data:, file:, http:, https:"
            throw JobFailure.fetch(.sourceUnsupportedScheme, message)
        }
    }
}

/// A source that contains the picture itself: a `data:` URI or plain base64.
struct DataSource {
    let maximumBytes: Int

    func open(_ request: SourceRequest) async throws -> FetchedSource {
        let source = request.target
        let name = SourceName.of(source)
        // Percent-encoding takes at most three characters for a byte; a much longer text need not be decoded.
        guard source.utf8.count / 3 <= maximumBytes + 1_024 else { throw tooLarge(name, "more") }
        let picture: InlinePicture
        do throws(InvalidRequest) {
            picture = try InlinePicture(parsing: source)
        } catch {
            throw JobFailure.fetch(.sourceInvalid, "\(name) cannot be read: \(error.reason)")
        }
        guard !picture.bytes.isEmpty else { throw JobFailure.fetch(.sourceInvalid, "\(name) is empty") }
        guard picture.bytes.count <= maximumBytes else { throw tooLarge(name, "\(picture.bytes.count)") }
        if let type = picture.mediaType, let declared = PictureFormat(mediaType: type),
            !declared.covers(PictureFormat(sniffing: picture.bytes))
        {
            throw JobFailure.fetch(.sourceInvalid, "\(name) says that it is \(type), but its bytes are not")
        }
        return try FetchedSource(copying: picture.bytes, named: name, mediaType: picture.mediaType)
    }

    private func tooLarge(_ name: String, _ bytes: String) -> JobFailure {
        .fetch(.sourceTooLarge, "\(name) has \(bytes) bytes, more than the allowed \(maximumBytes)")
    }
}

/// Too many fetches wait for one host already; one more would only block its job's slot.
package struct HostBusy: Error, Hashable, Sendable {
    package let host: String
    /// The approximate time until a slot may be free.
    package let delay: Duration
}

extension JobFailure {
    /// A failure at stage `fetch`. If `isRetryable` is nil, the code decides.
    static func fetch(
        _ code: Code,
        _ message: String,
        isRetryable: Bool? = nil,
        retryAfter: Duration? = nil
    ) -> JobFailure {
        JobFailure(code, at: .fetch, message, isRetryable: isRetryable, retryAfter: retryAfter)
    }

    /// A failure of this machine, not of the source: it has run out of memory or descriptors.
    package static func fetch(_ name: String, lacking resource: Errno) -> JobFailure {
        let message = "this machine has no room for \(name) while it is rendered: \(resource)"
        return JobFailure(.storeFailed, at: .fetch, message, isRetryable: true, isShortage: true)
    }
}
