internal import Foundation

extension ThumbnailRequest {
    static let fields = [
        "source", "renditions", "queue", "priority", "runAt", "maxAttempts", "retry", "timeout", "refresh", "uniqueKey",
        "concurrencyKey", "concurrencyLimit", "batch", "hook", "headers", "metadata",
    ]

    /// Parses and validates a request in JSON (`proto-json/thumbnail-request.schema.json`).
    public init(parsing text: some Sequence<UInt8>) throws(InvalidRequest) {
        try self.init(json: try JSONValue(reading: text, atMost: Self.maximumBytes))
    }

    package init(json: JSONValue) throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: "", fields: Self.fields)
        guard let source = try reader.string("source") else {
            throw InvalidRequest(path: "source", reason: "is required")
        }
        guard let items = try reader.array("renditions") else {
            throw InvalidRequest(path: "renditions", reason: "is required")
        }
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
            timeout: try reader.number("timeout", in: Self.timeoutRange),
            refresh: try reader.choice("refresh", Refresh.self) ?? .ifChanged,
            uniqueKey: try reader.string("uniqueKey"),
            concurrencyKey: try reader.string("concurrencyKey"),
            concurrencyLimit: try reader.integer("concurrencyLimit", in: Self.concurrencyLimitRange),
            batch: try reader.string("batch"),
            hook: try reader.string("hook"),
            headers: headers,
            metadata: try reader.object("metadata") ?? [:]
        )
        try validate()
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
        if let batch { members["batch"] = .string(batch) }
        if let hook { members["hook"] = .string(hook) }
        if !headers.isEmpty { members["headers"] = .object(headers.mapValues(JSONValue.string)) }
        if !metadata.isEmpty { members["metadata"] = .object(metadata) }
        return .object(members)
    }
}
