package import CameoModel
package import CameoStore

/// Waits until all jobs of a batch have ended, with a progress bar.
package struct BatchWait {
    let store: any Store
    /// The longest wait, or nil for no limit.
    let timeout: Duration?

    package init(store: any Store, timeout: Duration?) {
        self.store = store
        self.timeout = timeout
    }

    /// - Returns: the first report with no unfinished jobs.
    /// - Throws: ``CommandFailure`` with ``ExitStatus/timedOut`` when time runs out; ``StoreError/noSuch(_:_:)``.
    package func untilFinished(_ name: String) async throws -> BatchReport {
        let started = ContinuousClock.now
        var progress = ProgressBar()
        defer { progress.finish() }
        var standstill = StandstillWatch()
        var (version, report): (Int?, BatchReport?)
        while true {
            // Read before the report, so that a commit in between is seen twice rather than missed.
            let current = try await store.version()
            let isNews = current != version
            if isNews { (version, report) = (current, try await store.batch(name)) }
            try await standstill.look(at: store)
            if let report {
                let discarded = report.count(.discarded)
                let notes = [discarded > 0 ? "\(discarded) discarded" : "", standstill.reason]
                progress.show(
                    done: report.finished,
                    of: report.total,
                    left: report.secondsLeft,
                    note: notes.filter { !$0.isEmpty }.joined(separator: ", ")
                )
                if report.isFinished { return report }
            }
            // A large batch is counted less often, to leave the processor to the workers.
            try await pause(since: started, for: .milliseconds(isNews && (report?.total ?? 0) > 1_000 ? 250 : 20))
        }
    }

    private func pause(since started: ContinuousClock.Instant, for interval: Duration) async throws {
        if let timeout, started.duration(to: .now) >= timeout {
            throw CommandFailure("not finished within \(timeout.argument)", .timedOut)
        }
        try await Task.sleep(for: interval)
    }
}
