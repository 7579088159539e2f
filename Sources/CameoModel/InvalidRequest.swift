/// A request that cannot be accepted: the field and the reason.
public struct InvalidRequest: Error, Hashable, CustomStringConvertible {
    /// The field, e.g. `renditions[0].width`; empty for the request as a whole.
    public let path: String
    /// Why the field is invalid.
    public let reason: String

    /// Truncates a long path or reason, because both may quote untrusted input and both are stored.
    package init(path: String, reason: String) {
        self.path = Self.shortened(path, to: 200)
        self.reason = Self.shortened(reason, to: 500)
    }

    private static func shortened(_ text: String, to count: Int) -> String {
        let scalars = text.unicodeScalars
        return scalars.count <= count ? text : String(scalars.prefix(count)) + "…"
    }

    /// The field and the reason.
    public var description: String { path.isEmpty ? reason : "\(path): \(reason)" }
}
