public import Foundation

/// What a producer asks for: a source and the renditions to make of it.
///
/// JSON form: `proto-json/thumbnail-request.schema.json`.
public struct ThumbnailRequest: Hashable, Sendable {
    package static let maximumRenditions = 32
    /// Different overlays of all renditions.
    package static let maximumOverlays = 8
    /// Bytes of a request's JSON text; also checked by the queue table.
    package static let maximumBytes = 1_048_576
    /// Bytes of a source that is not the picture itself.
    package static let maximumSourceBytes = 8_192
    package static let maximumMetadataBytes = 16_384
    package static let maximumHeaders = 50
    package static let priorityRange = -100...100
    package static let attemptsRange = 1...25
    /// Seconds.
    package static let timeoutRange = 1.0...3_600.0
    /// The queue of requests that name none.
    public static let defaultQueue = "default"
    /// Attempts of requests that say nothing of them.
    public static let defaultMaxAttempts = 5
    package static let concurrencyLimitRange = 1...10_000

    /// The picture's URI: `file:`, `http:`, `https:`, `data:`, `cameo:` or `initials:`; or the picture itself in base64.
    public var source: String
    /// 1 to 32.
    public var renditions: [Rendition]
    /// The queue that it waits in: 1 to 64 of `a-z 0-9 . _ -`.
    public var queue: String
    /// −100…100, higher first. One step is worth a minute of waiting.
    public var priority: Int
    /// Not before this moment; nil: at once.
    public var runAt: Date?
    /// 1 to 25.
    public var maxAttempts: Int
    /// How long to wait between attempts; nil: the worker's policy.
    public var retry: RetryOverride?
    /// Seconds, 1 to 3600, that one attempt may work, whatever it waits for; nil: the worker's default.
    public var timeout: Double?
    /// When thumbnails that exist already are made anew.
    public var refresh: Refresh
    /// Requests of one queue and key are one job while it waits; nil: those for the same thumbnails are.
    public var uniqueKey: String?
    /// Jobs of one key share a limit of how many run at once, over all queues and workers.
    public var concurrencyKey: String?
    /// The key's limit from now on, unless an operator has set it; nil leaves it, and a new key has 1.
    public var concurrencyLimit: Int?
    /// A label that jobs share, to ask for their progress together.
    public var batch: String?
    /// Sent with the HTTP request for the source. Requests with different headers have
    /// different thumbnails, so that what one tenant may see never answers another's request.
    public var headers: [String: String]
    /// Comes back unchanged in every report on the job: `["user": 7]`.
    public var metadata: [String: JSONValue]

    /// Checked when it is enqueued, or by ``validate()``.
    public init(
        source: String,
        renditions: [Rendition],
        queue: String = Self.defaultQueue,
        priority: Int = 0,
        runAt: Date? = nil,
        maxAttempts: Int = Self.defaultMaxAttempts,
        retry: RetryOverride? = nil,
        timeout: Double? = nil,
        refresh: Refresh = .ifChanged,
        uniqueKey: String? = nil,
        concurrencyKey: String? = nil,
        concurrencyLimit: Int? = nil,
        batch: String? = nil,
        headers: [String: String] = [:],
        metadata: [String: JSONValue] = [:]
    ) {
        self.source = source
        self.renditions = renditions
        self.queue = queue
        self.priority = priority
        self.runAt = runAt
        self.maxAttempts = maxAttempts
        self.retry = retry
        self.timeout = timeout
        self.refresh = refresh
        self.uniqueKey = uniqueKey
        self.concurrencyKey = concurrencyKey
        self.concurrencyLimit = concurrencyLimit
        self.batch = batch
        self.headers = headers
        self.metadata = metadata
    }

    /// The sources of all overlays, each once, in the order of the renditions.
    package var overlaySources: [String] {
        var seen: Set<ExactText> = []
        return renditions.compactMap(\.look.overlay?.source).filter { seen.insert(ExactText($0)).inserted }
    }

    /// The ids of the thumbnails that the request asks for, in the order of its renditions.
    package func thumbnailIDs() throws(InvalidRequest) -> [ThumbnailID] {
        let identity = try SourceIdentity(of: source)
        let scope = RequestScope(headers: headers)
        return renditions.map { ThumbnailID(source: identity, scope: scope, rendition: $0) }
    }
}
