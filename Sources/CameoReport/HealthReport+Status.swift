package import CameoModel

extension HealthReport {
    /// Judges a store by its status: so many `workers` must be alive and not about to end, and no due job of a queue that is
    /// neither paused nor a background queue may have waited longer than `maxLag`, where there is such a limit.
    package init(_ status: StatusReport, workers: Int, maxLag: Duration?) {
        var checks = [Self.workers(status, workers)]
        if let maxLag { checks.append(Self.lag(status, maxLag)) }
        self.init(checks: checks)
    }

    private static func workers(_ status: StatusReport, _ wanted: Int) -> Check {
        let alive = status.workers.filter { $0.isAlive && $0.stopping == nil }
        let lacks = alive.compactMap { worker in WorkerText.lacks(worker).map { "; \(worker.host) \($0)" } }
        return Check(
            name: .workers,
            isHealthy: alive.count >= wanted,
            detail: "\(AmountText.count(alive.count, "worker")) alive, at least \(wanted) wanted"
                + Set(lacks).sorted().joined()
        )
    }

    private static func lag(_ status: StatusReport, _ limit: Duration) -> Check {
        let waiting = status.queues.filter { !$0.paused && !$0.isBackground && $0.oldestWaitingSeconds != nil }
        let limitText = AmountText.duration(limit / .seconds(1))
        guard let oldest = waiting.max(by: { $0.oldestWaitingSeconds ?? 0 < $1.oldestWaitingSeconds ?? 0 }),
            let seconds = oldest.oldestWaitingSeconds
        else { return Check(name: .lag, isHealthy: true, detail: "no job waits, at most \(limitText) allowed") }
        return Check(
            name: .lag,
            isHealthy: seconds <= limit / .seconds(1),
            detail:
                "a job of the queue \(oldest.name) has waited \(AmountText.duration(seconds)), at most \(limitText) allowed"
        )
    }
}
