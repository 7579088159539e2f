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
