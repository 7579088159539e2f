internal import CameoModel

/// Names that somebody has read by, until they are written down.
struct PendingReadings {
    /// What whoever adds a name has to do.
    enum Action {
        case writeDownSoon
        /// Somebody is about to.
        case nothing
    }

    private var names: Set<CameoURI> = []

    mutating func add(_ name: CameoURI) -> Action {
        defer { names.insert(name) }
        return names.isEmpty ? .writeDownSoon : .nothing
    }

    mutating func takeAll() -> Set<CameoURI> {
        defer { names = [] }
        return names
    }
}
