public import Foundation

/// A producer's request: a source and the renditions to make of it.
///
/// JSON form: `proto-json/thumbnail-request.schema.json`.
public struct ThumbnailRequest: Hashable, Sendable {
    package static let maximumRenditions = 32
    /// The maximum number of different overlays in a request.
    package static let maximumOverlays = 8
    /// The maximum size of a request's JSON text in bytes; the queue table checks it too.
    package static let maximumBytes = 1_048_576
    /// The maximum size in bytes of a source that is not an inline picture.
    package static let maximumSourceBytes = 8_192
    package static let maximumMetadataBytes = 16_384
    package static let maximumHeaders = 50
    package static let priorityRange = -100...100
    package static let attemptsRange = 1...25
    /// The range of ``timeout`` in seconds.
    package static let timeoutRange = 1.0...3_600.0
    /// The queue of a request that names none.
    public static let defaultQueue = "default"
    /// The default of ``maxAttempts``.
    public static let defaultMaxAttempts = 5
    package static let concurrencyLimitRange = 1...10_000

    /// The picture's URI (`file:`, `http:`, `https:`, `data:`, `cameo:` or `initials:`) or the picture itself in
    /// base64.
    public var source: String
    /// The renditions to make, 1 to 32.
    public var renditions: [Rendition]
    /// The queue: 1 to 64 characters of `a-z 0-9 . _ -`.
    public var queue: String
    /// The priority, −100…100, higher first. One step is worth one minute of waiting.
    public var priority: Int
    /// The earliest time to run; nil: at once.
    public var runAt: Date?
    /// The maximum number of attempts, 1 to 25.
    public var maxAttempts: Int
    /// The delays between attempts; nil: the worker's policy.
    public var retry: RetryOverride?
    /// The time limit of one attempt in seconds, 1 to 3600, not counting time spent waiting; nil: the worker's default.
    public var timeout: Double?
    /// When existing thumbnails are made again.
    public var refresh: Refresh
    /// Requests with the same queue and unique key share one job while it waits; nil: those for the same thumbnails do.
    public var uniqueKey: String?
    /// Jobs with the same concurrency key share a limit on how many run at once, over all queues and workers.
    public var concurrencyKey: String?
    /// The key's limit from now on, unless an operator has set one; nil leaves it unchanged. A new key starts with 1.
    public var concurrencyLimit: Int?
    /// A label shared by jobs whose progress is reported together.
    public var batch: String?
    /// The hook that is told when the job ends: the name of an address or command in the worker's hooks file, 1 to 64
    /// characters of `a-z 0-9 . _ -`.
    public var hook: String?
    /// HTTP headers sent when the source is fetched. Requests with different headers have different thumbnails, so that
    /// one tenant's private picture never answers another's request.
    public var headers: [String: String]
    /// Data returned unchanged in every report on the job: `["user": 7]`.
    public var metadata: [String: JSONValue]

    /// Creates a request, which is validated when it is enqueued, or by ``validate()``.
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
        hook: String? = nil,
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
        self.hook = hook
        self.headers = headers
        self.metadata = metadata
    }

    /// The distinct sources of all overlays, in the order of the renditions.
    package var overlaySources: [String] {
        var seen: Set<ExactText> = []
        return renditions.compactMap(\.look.overlay?.source).filter { seen.insert(ExactText($0)).inserted }
    }

    /// The ids of the requested thumbnails, in the order of the renditions.
    package func thumbnailIDs() throws(InvalidRequest) -> [ThumbnailID] {
        let identity = try SourceIdentity(of: source)
        let scope = RequestScope(headers: headers)
        return renditions.map { ThumbnailID(source: identity, scope: scope, rendition: $0) }
    }
}
