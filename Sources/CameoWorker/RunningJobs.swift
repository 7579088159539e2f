internal import CameoStore
internal import Synchronization

/// The jobs that a worker holds claims of, by claim token.
final class RunningJobs: Sendable {
    private let jobs = Mutex<[String: JobControl]>([:])

    var count: Int { jobs.withLock { $0.count } }

    /// True while a poison job runs: nothing is claimed beside it.
    var containsPoisonJob: Bool {
        jobs.withLock { $0.values.contains { $0.job.crashCount >= ClaimKind.poisonAfterCrashes } }
    }

    func insert(_ control: JobControl) {
        jobs.withLock { $0[control.job.claim.token] = control }
    }

    func remove(_ control: JobControl) {
        _ = jobs.withLock { $0.removeValue(forKey: control.job.claim.token) }
    }

    func stopAll(_ reason: JobControl.StopReason) {
        for control in jobs.withLock({ Array($0.values) }) { control.stop(reason) }
    }

    /// The tokens held now; to be taken before the store is asked which of them are still valid.
    var tokens: Set<String> { jobs.withLock { Set($0.keys) } }

    /// Stops those of `held` that the store no longer knows.
    func stop(_ held: Set<String>, notIn valid: Set<String>) {
        let lost = jobs.withLock { jobs in held.subtracting(valid).compactMap { jobs[$0] } }
        for control in lost { control.stop(.claimLost) }
    }
}
