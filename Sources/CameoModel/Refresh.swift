/// When thumbnails that exist already are made anew.
public enum Refresh: String, CaseIterable, Sendable {
    /// Not at all: what there is answers, whatever has become of the source.
    case never
    /// When the source's bytes have changed. What cannot have changed, or is known to be fresh, answers at once.
    case ifChanged = "if-changed"
    /// In any case.
    case always

    /// The one that does more of the two.
    package func joined(with other: Refresh) -> Refresh {
        let order = Self.allCases
        return order.last { $0 == self || $0 == other } ?? self
    }
}
