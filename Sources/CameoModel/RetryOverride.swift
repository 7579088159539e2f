/// A request's own retry settings; the worker's policy (`RetryPolicy`) applies where they are nil.
public struct RetryOverride: Hashable, Sendable {
    /// Seconds.
    package static let baseRange = 0.1...86_400.0
    /// Seconds.
    package static let capRange = 0.1...604_800.0
    package static let jitterRange = 0.0...1.0
    private static let fields = ["base", "cap", "jitter"]

    /// Seconds before the second attempt; each later delay doubles.
    public var base: Double?
    /// The maximum delay in seconds.
    public var cap: Double?
    /// The random fraction of a delay, 0…1.
    public var jitter: Double?

    /// Where a value is nil, the worker's policy applies.
    public init(base: Double? = nil, cap: Double? = nil, jitter: Double? = nil) {
        self.base = base
        self.cap = cap
        self.jitter = jitter
    }

    init(json: JSONValue, at path: String = "retry") throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: path, fields: Self.fields)
        base = try reader.number("base", in: Self.baseRange)
        cap = try reader.number("cap", in: Self.capRange)
        jitter = try reader.number("jitter", in: Self.jitterRange)
    }

    func validate(at path: String = "retry") throws(InvalidRequest) {
        for (field, value, range) in [
            ("base", base, Self.baseRange), ("cap", cap, Self.capRange), ("jitter", jitter, Self.jitterRange),
        ] {
            guard let value, !range.contains(value) else { continue }
            let reason = "must be between \(range.lowerBound) and \(range.upperBound), not \(value)"
            throw InvalidRequest(path: "\(path).\(field)", reason: reason)
        }
        if let base, let cap, cap < base {
            throw InvalidRequest(path: "\(path).cap", reason: "must not be below the base, \(base), but is \(cap)")
        }
    }

    var json: JSONValue {
        let members = ["base": base, "cap": cap, "jitter": jitter]
        return .object(members.compactMapValues { $0.map(JSONValue.number) })
    }
}
