internal import CameoHTTPCache
internal import CameoModel
internal import CameoSystem
internal import Glibc
internal import Synchronization

/// `http:` and `https:` sources, through the cache if there is one.
///
/// DESIGN: the key of a stored response contains the scope of the request's credentials. So a response to one tenant is never
/// considered for another, without relying on any caching rule. Concurrent jobs for the same source share one fetch
/// (``SharedFetches``), so look-up, request and storing happen once.
final class HTTPSource: Sendable {
    let transport: HTTPTransport
    let cache: (any SourceCache)?
    let configuration: FetchConfiguration
    private let lifetimes: [(host: HostExemption?, lifetime: Duration)]
    private let refreshes = Refreshes()

    init(_ configuration: FetchConfiguration, _ cache: (any SourceCache)?) throws(FetchConfigurationError) {
        transport = try HTTPTransport(configuration)
        self.cache = cache
        self.configuration = configuration
        lifetimes = try configuration.caching.lifetimes.map { rule throws(FetchConfigurationError) in
            (try rule.host.map { name throws(FetchConfigurationError) in try HostExemption(name) }, rule.lifetime)
        }
    }

    /// Fetches again a response whose stored version serves the request meanwhile. Like a job, it asks no server that has just
    /// failed.
    func refresh(_ request: SourceRequest, _ key: SourceKey) {
        var again = request
        (again.purpose, again.clock) = (.source, WorkClock())
        refreshes.begin(key) { [again] in _ = try? await self.open(again, .validated) }
    }

    /// `use` is that of a request whose ticket does not ask for more.
    func open(_ request: SourceRequest, _ use: CacheUse = .fresh) async throws -> FetchedSource {
        let key = SourceKey(uri: request.uri, scope: RequestScope(of: request.uri, headers: request.headers))
        let target = try HTTPURL(target: request.target)
        // A response without a number cannot be stored (invariant I4).
        let cache = request.ticket == nil ? nil : cache
        let own: CacheUse = request.ticket?.asksServer == true ? .validated : use
        let question = CacheRequest(
            key: key,
            policy: policy(for: key, (try? HTTPURL(parsing: request.uri)) ?? target),
            use: cache == nil ? .bypass : own,
            target: target,
            fields: try HTTPFields(request.headers, for: target),
            maximumRedirects: configuration.maximumRedirects,
            sent: transport.sent(at:)
        )
        let stored = await cache?.answers(for: key).filter(isAllowed) ?? []
        var fetch = HTTPFetch(request, by: self, question, stored: stored, cache)
        return try await fetch.run()
    }

    private func policy(for key: SourceKey, _ url: HTTPURL) -> CachePolicy {
        let rule = lifetimes.last { $0.host?.covers(url.origin) == true } ?? lifetimes.last { $0.host == nil }
        return CachePolicy(for: key, defaultLifetime: rule?.lifetime, staleIfError: configuration.caching.staleIfError)
    }

    private func isAllowed(_ response: CachedSource) -> Bool {
        guard response.bytes <= configuration.maximumBytes else { return false }
        return response.isPinned || (!response.peers.isEmpty && transport.refusal(of: response.peers) == nil)
    }
}

/// Writes bytes into a memory file and hashes them on the way.
struct Download: ~Copyable {
    /// A complete download.
    struct Body: Sendable {
        /// The sealed file. Its offset is 0.
        let file: OpenFile
        let bytes: Int
        let digest: BlobDigest
    }

    private let file: OpenFile
    private let reservation: ByteReservation?
    private var hash = SHA256()
    private var count = 0

    /// Holds the reservation for the bytes as long as the file.
    init(keeping reservation: ByteReservation? = nil) throws(Errno) {
        file = try OpenFile.memory(keeping: reservation)
        self.reservation = reservation
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try file.write(bytes)
        hash.update(bytes)
        count += bytes.count
    }

    /// Whether the first bytes, already here, are those of a video.
    var isVideo: Bool { VideoContainer(sniffing: file) != nil }

    consuming func finish() throws(Errno) -> Body {
        try file.seal()
        guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw Errno() }
        let (file, count) = (file, count)
        reservation?.shrink(to: count)
        return Body(file: file, bytes: count, digest: hash.finalize())
    }
}

/// A download that broke off, on its way to being completed: its bytes are in memory again, and so is the room for the rest.
final class Resumption: Sendable {
    let partial: PartialResponse
    private let download: Mutex<Download?>

    /// Copies the kept bytes, from the file's offset on, into memory; nil if they are not those that were kept. The
    /// reservation is for the whole.
    ///
    /// - Throws: the errno of memfd_create or write.
    init?(_ partial: PartialResponse, in file: OpenFile, keeping reservation: ByteReservation) throws(Errno) {
        var download = try Download(keeping: reservation)
        var check = SHA256()
        var piece = [UInt8](repeating: 0, count: 262_144)
        var rest = partial.count
        while rest > 0 {
            let count = read(file.descriptor, &piece, min(rest, piece.count))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            var failure: Errno?
            piece[..<count].withUnsafeBytes { bytes in
                check.update(bytes)
                do throws(Errno) { try download.append(bytes) } catch { failure = error }
            }
            if let failure { throw failure }
            rest -= count
        }
        guard check.finalize().hex == partial.sha256 else { return nil }
        self.partial = partial
        self.download = Mutex(download)
    }

    /// The download, to go on with if the response is the rest of it. Can be taken once; without it, or for another
    /// response, its memory is given back.
    func take(for response: CacheableResponse) -> Download? {
        let download = download.withLock { $0.take() }
        guard partial.isCompleted(by: response) else { return nil }
        return download
    }
}
