/// A request that cannot be accepted: which field, and what is wrong with it.
public struct InvalidRequest: Error, Hashable, CustomStringConvertible {
    /// The field, as `renditions[0].width`; empty for the request as a whole.
    public let path: String
    /// What is wrong with it.
    public let reason: String

    /// Keeps the beginnings only of a long path and reason: both may quote what a stranger wrote, and both are stored.
    package init(path: String, reason: String) {
        self.path = Self.shortened(path, to: 200)
        self.reason = Self.shortened(reason, to: 500)
    }

    private static func shortened(_ text: String, to count: Int) -> String {
        let scalars = text.unicodeScalars
        return scalars.count <= count ? text : String(scalars.prefix(count)) + "…"
    }

    /// Field and reason, for a person.
    public var description: String { path.isEmpty ? reason : "\(path): \(reason)" }
}
