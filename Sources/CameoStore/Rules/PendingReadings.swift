package import CameoModel

/// URIs that have been read but not yet recorded.
package struct PendingReadings {
    /// What the caller must do after adding a name.
    package enum Action {
        case recordSoon
        /// A write is already scheduled.
        case nothing
    }

    package private(set) var names: Set<CameoURI> = []
    /// The last task that records names; each waits for the one before.
    private var writing: Task<Void, Never>?

    package init() {}

    package mutating func add(_ name: CameoURI) -> Action {
        defer { names.insert(name) }
        return names.isEmpty ? .recordSoon : .nothing
    }

    /// Starts recording all names, after those that are already being recorded.
    package mutating func takeAll(_ write: @escaping @Sendable (Set<CameoURI>) async -> Void) -> Task<Void, Never> {
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
