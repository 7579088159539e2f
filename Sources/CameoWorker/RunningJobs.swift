internal import CameoModel
internal import CameoStore
internal import Synchronization

/// The jobs that a worker holds claims of, by claim token.
final class RunningJobs: Sendable {
    private let jobs = Mutex<[String: JobControl]>([:])

    var count: Int { jobs.withLock { $0.count } }

    /// How many of them are jobs of background queues.
    var backgroundCount: Int { jobs.withLock { $0.values.count { $0.job.isBackground } } }

    /// Whether a poison job is running: then no other job is claimed.
    var containsPoisonJob: Bool {
        jobs.withLock { $0.values.contains { $0.job.crashCount >= ClaimKind.poisonAfterCrashes } }
    }

    func insert(_ control: JobControl) {
        jobs.withLock { $0[control.job.claim.token] = control }
    }

    func remove(_ control: JobControl) {
        _ = jobs.withLock { $0.removeValue(forKey: control.job.claim.token) }
    }

    /// How far the downloads of these jobs have come.
    var transfers: [RunningTransfer] {
        let controls = jobs.withLock { Array($0.values) }
        return controls.compactMap { control in
            control.progress.clock.transfer.map { RunningTransfer(token: control.job.claim.token, transfer: $0) }
        }
    }

    func stopAll(_ reason: JobControl.StopReason) {
        for control in jobs.withLock({ Array($0.values) }) { control.stop(reason) }
    }

    /// Stops the jobs that have worked for longer than they may. One look at all of them: a timer for each job would outlive
    /// it, because Swift keeps the timer of a cancelled sleep until its time.
    func stopOverdue() {
        for control in jobs.withLock({ Array($0.values) }) where control.isOverdue { control.stop(.timedOut) }
    }

    /// The tokens held now. Read them before asking the store which tokens are still valid: a job that is claimed in between
    /// must not look lost.
    var tokens: Set<String> { jobs.withLock { Set($0.keys) } }

    /// Stops the jobs whose tokens are in `held` but no longer valid.
    func stop(_ held: Set<String>, notIn valid: Set<String>) {
        let lost = jobs.withLock { jobs in held.subtracting(valid).compactMap { jobs[$0] } }
        for control in lost { control.stop(.claimLost) }
    }
}
