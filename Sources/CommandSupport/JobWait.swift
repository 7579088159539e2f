package import ArgumentParser
package import CameoModel
internal import CameoReport
package import CameoStore
internal import Foundation

/// Whether, and for how long, a command waits for jobs or workers to end.
package struct WaitOptions: ParsableArguments {
    @Flag(help: "Wait until all of them have ended.")
    package var wait = false

    @Option(help: "With --wait: give up after this time (90s, 10m) and exit 3.".taking("duration"))
    package var waitTimeout: Duration?

    package init() {}

    package func validate() throws {
        guard waitTimeout == nil || wait else { throw ValidationError("--wait-timeout needs --wait") }
    }
}

/// Waits until jobs, or all of a batch, have ended, with a progress bar.
package struct JobWait {
    let store: any ReaderStore
    /// The longest wait, or nil for no limit.
    let timeout: Duration?

    package init(store: any ReaderStore, timeout: Duration?) {
        self.store = store
        self.timeout = timeout
    }

    /// - Returns: the number of jobs that ended in each state.
    /// - Throws: ``CommandFailure`` with ``ExitStatus/timedOut`` when time runs out.
    package func untilFinished(_ ids: [Int64]) async throws -> [JobState: Int] {
        let started = ContinuousClock.now
        let progress = ProgressBar()
        defer { progress.finish() }
        var watched = WatchedJobs(ids)
        var standstill = StandstillWatch()
        // Read before the first states, so that a change in between is seen twice rather than missed.
        var cursor = try await store.changes(since: nil, limit: 0).next
        try await watched.note(store.places(of: ids), of: ids)
        while true {
            watched.show(in: progress, standstill.reason)
            if watched.waiting.isEmpty { return watched.ended }
            let version = try await store.version()
            while case let page = try await store.changes(since: cursor, limit: Self.page), page.next != cursor {
                // What the feed has not, or has no longer, may have been the end of any of them.
                let ids = page.gap == nil ? watched.touched(by: page.changes) : Array(watched.waiting)
                cursor = page.next
                try await watched.note(store.places(of: ids), of: ids, after: page.changes)
            }
            if watched.waiting.isEmpty { continue }
            while try await store.version() == version {
                try await standstill.look(at: store)
                watched.show(in: progress, standstill.reason)
                try await pause(since: started, for: .milliseconds(20))
            }
        }
    }

    /// The number of changes read at once.
    private static let page = 5_000

    /// - Returns: the first report with no unfinished jobs.
    /// - Throws: ``CommandFailure`` with ``ExitStatus/timedOut`` when time runs out; ``StoreError/noSuch(_:_:)``.
    package func untilFinished(batch name: String) async throws -> BatchReport {
        let started = ContinuousClock.now
        let progress = ProgressBar()
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
                let note = Self.note(report.count(.discarded), standstill.reason)
                progress.show(done: report.finished, of: report.total, left: report.secondsLeft, note: note)
                if report.isFinished { return report }
            }
            // A large batch is counted less often, to leave the processor to the workers.
            try await pause(since: started, for: .milliseconds(isNews && (report?.total ?? 0) > 1_000 ? 250 : 20))
        }
    }

    fileprivate static func note(_ discarded: Int, _ standstill: String) -> String {
        [discarded > 0 ? "\(discarded) discarded" : "", standstill].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private func pause(since started: ContinuousClock.Instant, for interval: Duration) async throws {
        if let timeout, started.duration(to: .now) >= timeout {
            throw CommandFailure("not finished within \(timeout.argument)", .timedOut)
        }
        try await Task.sleep(for: interval)
    }
}

/// Jobs that somebody waits for, followed by the change feed: only changed jobs are queried.
private struct WatchedJobs {
    private(set) var waiting: Set<Int64>
    /// The waiting ids by the job that serves them, usually the job itself.
    private var waitingFor: [Int64: [Int64]] = [:]
    private(set) var ended: [JobState: Int] = [:]
    private let count: Int

    init(_ ids: [Int64]) {
        waiting = Set(ids)
        count = waiting.count
    }

    func show(in progress: ProgressBar, _ standstill: String) {
        let note = JobWait.note(ended[.discarded] ?? 0, standstill)
        progress.show(done: count - waiting.count, of: count, note: note)
    }

    /// The waiting jobs whose state has to be queried after these changes.
    func touched(by changes: [JobChange]) -> [Int64] {
        changes.filter(\.state.isFinal).flatMap { waitingFor[$0.job] ?? [] }.filter(waiting.contains)
    }

    /// Records the states of jobs that were queried, at first or after changes. A job without a place has ended and was
    /// removed since: in which state, the changes say.
    mutating func note(_ places: [Int64: JobPlace], of ids: [Int64], after changes: [JobChange] = []) {
        for (id, place) in places {
            if place.state.isFinal {
                end(id, place.state)
            } else {
                waitingFor[place.job, default: []].append(id)
            }
        }
        for change in changes where change.state.isFinal {
            for id in waitingFor[change.job] ?? [] where places[id] == nil { end(id, change.state) }
        }
        waiting.subtract(ids.filter { places[$0] == nil })
    }

    private mutating func end(_ id: Int64, _ state: JobState) {
        if waiting.remove(id) != nil { ended[state, default: 0] += 1 }
    }
}

/// Tells somebody who waits for jobs why nothing happens, where the store shows a reason.
struct StandstillWatch {
    private static let interval = Duration.seconds(2)
    private static let most = 8
    private var next = ContinuousClock.now + interval
    private var told: Set<String> = []
    /// For a progress bar; empty if there is none.
    private(set) var reason = ""

    /// Looks into the store now and then. Without a progress bar, each reason is printed once.
    mutating func look(at store: any ReaderStore) async throws {
        guard ContinuousClock.now >= next else { return }
        next = .now + Self.interval
        let reasons = try await store.standstills().prefix(Self.most).map { TerminalText.escaped($0.text) }
        reason = reasons.first ?? ""
        guard !Output.errorIsTerminal else { return }
        for reason in reasons where told.insert(reason).inserted {
            Output.error("\(ProcessInfo.processInfo.processName): \(reason)")
        }
    }
}
