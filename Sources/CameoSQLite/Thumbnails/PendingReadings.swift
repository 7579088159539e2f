internal import CameoModel
internal import CameoStore

/// Names that somebody has read by, until they are written down.
struct PendingReadings {
    /// What whoever adds a name has to do.
    enum Action {
        case writeDownSoon
        /// Somebody is about to.
        case nothing
    }

    private(set) var names: Set<CameoURI> = []
    /// The last task that writes names down; each waits for the one before it.
    private var writing: Task<Void, Never>?

    mutating func add(_ name: CameoURI) -> Action {
        defer { names.insert(name) }
        return names.isEmpty ? .writeDownSoon : .nothing
    }

    /// Has all names written down, behind those that are being written already.
    mutating func takeAll(_ write: @escaping @Sendable (Set<CameoURI>) async -> Void) -> Task<Void, Never> {
        let (taken, before) = (names, writing)
        names = []
        let task = Task(priority: .utility) {
            await before?.value
            await write(taken)
        }
        writing = task
        return task
    }
}
