internal import Synchronization

/// Whether looking before the next claim is worth while: one that follows a successful claim most likely finds more.
final class ClaimHistory: Sendable {
    private let foundJobs = Atomic(false)

    var isPromising: Bool { foundJobs.load(ordering: .relaxed) }

    func note(found: Bool) { foundJobs.store(found, ordering: .relaxed) }
}
