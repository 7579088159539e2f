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
    /// What to do with a picture that makes a request too large.
    package static let largerPicture =
        "; hand over a large picture as data (cameo-enqueue --data, Client.enqueue(data:), INSERT INTO upload), not as a data: URI"
    /// The maximum size in bytes of a source that is not an inline picture.
    package static let maximumSourceBytes = 8_192
    package static let maximumMetadataBytes = 16_384
    package static let maximumHeaders = 50
    package static let maximumLabels = 16
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
    /// Who asks: a fair queue shares its workers between tenants. Nil: the concurrency key.
    public var tenant: String?
    /// A label shared by jobs whose progress is reported together.
    public var batch: String?
    /// What the thumbnails can be found and removed by, as long as they exist: `["user:42"]`; at most 16 of at most 200 bytes.
    public var labels: [String]
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
        tenant: String? = nil,
        batch: String? = nil,
        labels: [String] = [],
        hook: String? = nil,
        headers: [String: String] = [:],
        metadata: [String: JSONValue] = [:]
    ) {
        (self.source, self.renditions, self.queue, self.priority) = (source, renditions, queue, priority)
        (self.runAt, self.maxAttempts, self.retry, self.timeout) = (runAt, maxAttempts, retry, timeout)
        (self.refresh, self.uniqueKey, self.concurrencyKey) = (refresh, uniqueKey, concurrencyKey)
        (self.concurrencyLimit, self.batch, self.hook, self.headers) = (concurrencyLimit, batch, hook, headers)
        (self.tenant, self.labels, self.metadata) = (tenant, labels, metadata)
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

    /// Checks every limit of the wire contract, so that an accepted request can be carried out.
    public func validate() throws(InvalidRequest) { _ = try ThumbnailRequest(json: json) }

    /// Checks what no field says by itself.
    private func check() throws(InvalidRequest) {
        try Self.validateSource(source, at: "source")
        try checkScheduling()
        try HeaderRules.validate(headers, at: "headers")
        let metadataBytes = JSONValue.object(metadata).canonicalText.utf8.count
        guard metadata.isEmpty || metadataBytes <= Self.maximumMetadataBytes else {
            throw refuse("metadata", "has \(metadataBytes) bytes as JSON, more than \(Self.maximumMetadataBytes)")
        }
    }

    /// This valid request for another source, which alone is checked.
    package func replacing(source: String) throws(InvalidRequest) -> ThumbnailRequest {
        try Self.validateSource(source, at: "source")
        var request = self
        request.source = source
        return request
    }

    private func refuse(_ field: String, _ reason: String) -> InvalidRequest {
        InvalidRequest(path: field, reason: reason)
    }

    /// Checks the source of a request or overlay.
    static func validateSource(_ source: String, at path: String) throws(InvalidRequest) {
        func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: path, reason: reason) }
        guard !source.isEmpty else { throw refuse("is empty") }
        guard !source.unicodeScalars.contains(where: isControl) else { throw refuse("has a control character") }
        let isInline = InlinePicture.isIn(source)
        guard isInline || source.utf8.count <= maximumSourceBytes else {
            throw refuse("has \(source.utf8.count) bytes, more than \(maximumSourceBytes)")
        }
        do throws(InvalidRequest) {
            if isInline { _ = try InlinePicture(parsing: source) }
            if SourceScheme(of: source) == .initials { _ = try Initials(parsing: source) }
        } catch {
            throw refuse(error.reason)
        }
        guard SourceScheme(of: source) != .cameo || CameoURI(source) != nil else {
            throw refuse("\"\(source)\" is not a cameo: URI")
        }
    }

    private func checkScheduling() throws(InvalidRequest) {
        guard Self.isLabel(queue) else {
            throw refuse("queue", "must be 1 to 64 of a-z 0-9 . _ -, not \"\(queue)\"")
        }
        if let hook { try Self.check(hook: hook) }
        if let timeout, !Self.timeoutRange.contains(timeout) {
            throw refuse("timeout", "must be between 1 and 3600 seconds, not \(timeout)")
        }
        let names = [
            ("batch", batch), ("uniqueKey", uniqueKey), ("concurrencyKey", concurrencyKey), ("tenant", tenant),
        ]
        for (field, text) in names {
            if let text { try Self.check(name: text, at: field) }
        }
        guard labels.count <= Self.maximumLabels else {
            throw refuse("labels", "has \(labels.count) entries, more than \(Self.maximumLabels)")
        }
        for (index, label) in labels.enumerated() where label.utf8.count > 200 || !Self.isName(label) {
            throw refuse("labels[\(index)]", "must have 1 to 200 bytes and no control characters")
        }
        guard concurrencyLimit == nil || concurrencyKey != nil else {
            throw refuse("concurrencyLimit", "needs a concurrencyKey")
        }
    }

    static func check(hook: String) throws(InvalidRequest) {
        guard !isLabel(hook) else { return }
        throw InvalidRequest(path: "hook", reason: "must be 1 to 64 of a-z 0-9 . _ -, not \"\(hook)\"")
    }

    static func check(name: String, at field: String) throws(InvalidRequest) {
        guard !isName(name) else { return }
        throw InvalidRequest(path: field, reason: "must be 1 to 200 characters without control characters")
    }

    /// Whether the text is a valid batch name, unique key, concurrency key or tenant.
    package static func isName(_ text: String) -> Bool { isLine(text, of: 200) }

    /// Whether the text has 1 to `limit` characters (Unicode scalars) and none that controls.
    static func isLine(_ text: String, of limit: Int) -> Bool {
        (1...limit).contains(text.unicodeScalars.count) && !text.unicodeScalars.contains(where: isControl)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar.value == 0x7F }

    /// Whether the text is a valid name of a queue, hook or preset.
    package static func isLabel(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0.isASCIIDigit || "._-".utf8.contains($0) }
    }

    static let fields = [
        "source", "renditions", "queue", "priority", "runAt", "maxAttempts", "retry", "timeout", "refresh", "uniqueKey",
        "concurrencyKey", "concurrencyLimit", "tenant", "batch", "labels", "hook", "headers", "metadata",
    ]

    /// Parses and validates a request in JSON (`proto-json/thumbnail-request.schema.json`).
    public init(parsing text: some Sequence<UInt8>) throws(InvalidRequest) {
        try self.init(json: try JSONValue(reading: text, atMost: Self.maximumBytes, instead: Self.largerPicture))
    }

    /// Reads the request of an accepted job.
    package init(accepted text: some Sequence<UInt8>) throws(InvalidRequest) {
        guard let json = try? JSONValue(parsing: text) else { throw InvalidRequest(path: "", reason: "malformed JSON") }
        try self.init(json: json)
    }

    package init(json: JSONValue) throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: "", fields: Self.fields)
        let source = try reader.required("source", try reader.string("source"))
        let items = try reader.required("renditions", try reader.array("renditions"))
        let renditions = try Rendition.list(items, at: "renditions")
        var headers: [String: String] = [:]
        for (name, value) in try reader.object("headers") ?? [:] {
            guard case .string(let text) = value else {
                throw InvalidRequest(path: "headers.\(name)", reason: "must be a string, not \(value.kind)")
            }
            headers[name] = text
        }
        self.init(
            source: source,
            renditions: renditions,
            queue: try reader.string("queue") ?? Self.defaultQueue,
            priority: try reader.integer("priority", in: Self.priorityRange) ?? 0,
            runAt: try Self.date(try reader.string("runAt")),
            maxAttempts: try reader.integer("maxAttempts", in: Self.attemptsRange) ?? Self.defaultMaxAttempts,
            retry: try reader.value("retry").map { json throws(InvalidRequest) in try RetryOverride(json: json) },
            timeout: try reader.number("timeout", in: -.infinity ... .infinity),
            refresh: try reader.choice("refresh", Refresh.self) ?? .ifChanged,
            uniqueKey: try reader.string("uniqueKey"),
            concurrencyKey: try reader.string("concurrencyKey"),
            concurrencyLimit: try reader.integer("concurrencyLimit", in: Self.concurrencyLimitRange),
            tenant: try reader.string("tenant"),
            batch: try reader.string("batch"),
            labels: try reader.strings("labels"),
            hook: try reader.string("hook"),
            headers: headers,
            metadata: try reader.object("metadata") ?? [:]
        )
        try check()
    }

    private static func date(_ text: String?) throws(InvalidRequest) -> Date? {
        guard let text else { return nil }
        guard let date = WireFormat.date(from: text) else {
            let reason = "must be an RFC 3339 time such as 2030-01-31T12:00:00Z, not \"\(text)\""
            throw InvalidRequest(path: "runAt", reason: reason)
        }
        return date
    }

    /// The JSON form, without fields that equal their defaults. ``JSONValue/canonicalText`` writes it on one line.
    public var json: JSONValue {
        var members: [String: JSONValue] = [
            "source": .string(source),
            "renditions": .array(renditions.map(\.json)),
        ]
        if queue != Self.defaultQueue { members["queue"] = .string(queue) }
        if priority != 0 { members["priority"] = .integer(Int64(priority)) }
        if let runAt { members["runAt"] = .string(WireFormat.text(of: runAt)) }
        if maxAttempts != Self.defaultMaxAttempts { members["maxAttempts"] = .integer(Int64(maxAttempts)) }
        if let retry { members["retry"] = retry.json }
        if let timeout { members["timeout"] = .number(timeout) }
        if refresh != .ifChanged { members["refresh"] = .string(refresh.rawValue) }
        if let uniqueKey { members["uniqueKey"] = .string(uniqueKey) }
        if let concurrencyKey { members["concurrencyKey"] = .string(concurrencyKey) }
        if let concurrencyLimit { members["concurrencyLimit"] = .integer(Int64(concurrencyLimit)) }
        if let tenant { members["tenant"] = .string(tenant) }
        if let batch { members["batch"] = .string(batch) }
        if !labels.isEmpty { members["labels"] = .array(labels.map(JSONValue.string)) }
        if let hook { members["hook"] = .string(hook) }
        if !headers.isEmpty { members["headers"] = .object(headers.mapValues(JSONValue.string)) }
        if !metadata.isEmpty { members["metadata"] = .object(metadata) }
        return .object(members)
    }
}

/// When existing thumbnails are made again.
public enum Refresh: String, CaseIterable, Sendable {
    /// Never: existing thumbnails are used even if the source has changed.
    case never
    /// Only if the source's bytes have changed. If they cannot have changed, or are known to be fresh, no job is
    /// created.
    case ifChanged = "if-changed"
    /// Always.
    case always

    /// The more thorough of the two.
    package func joined(with other: Refresh) -> Refresh {
        let order = Self.allCases
        return order.last { $0 == self || $0 == other } ?? self
    }
}

/// The rules for HTTP headers that a request may set when its source is fetched.
package enum HeaderRules {
    /// Headers that change message framing or routing, or that make the response partial or conditional.
    private static let forbidden: Set<String> = [
        "connection", "content-length", "expect", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "keep-alive", "proxy-authorization", "proxy-connection", "range", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    /// - Throws: with a path below this one, the first header that is malformed or forbidden, without its value, which may be secret.
    package static func validate(_ headers: [String: String], at path: String) throws(InvalidRequest) {
        guard headers.count <= ThumbnailRequest.maximumHeaders else {
            let reason = "has \(headers.count) entries, more than \(ThumbnailRequest.maximumHeaders)"
            throw InvalidRequest(path: path, reason: reason)
        }
        var seen: Set<String> = []
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: "\(path).\(name)", reason: reason) }
            guard MediaType.isToken(name) else { throw refuse("is not an HTTP header name") }
            guard !forbidden.contains(name.lowercased()) else { throw refuse("may not be set") }
            guard seen.insert(name.lowercased()).inserted else { throw refuse("appears twice") }
            guard value.utf8.count <= 8_192, value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
                throw refuse("has a value over 8192 bytes or with a control character")
            }
        }
    }
}
