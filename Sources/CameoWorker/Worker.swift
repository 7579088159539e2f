package import CameoFetch
internal import CameoModel
package import CameoRenderer
package import CameoStore
internal import Foundation
package import Logging
internal import ServiceLifecycle

// DESIGN. One loop claims, one task a job works, one task watches. The loop sleeps until something may have changed: a
// job ended here, another process committed, a job came due, or a shutdown was asked for. Each of these only wakes it;
// what there is to do it reads from the store, so a wake-up too many is harmless and one too few is made good by the
// next sweep.
package final class Worker: Service {
    package let id: String
    let configuration: WorkerConfiguration
    let store: any WorkerStore & OperatorStore & SourceStore
    private let runner: JobRunner
    private let renderer: RendererPool
    private let fetchers: CurrentFetcher
    let logger: Logger
    private let observe: @Sendable (JobOutcome) -> Void
    private let running = RunningJobs()
    private let phase = WorkerPhase()
    private let cadence: Cadence
    private let wakeUps: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// Tells `observe` of every attempt that ended, before the next claim.
    package init(
        id: String,
        configuration: WorkerConfiguration,
        store: any Store,
        fetcher: Fetcher,
        renderer: RendererPool,
        logger: Logger,
        observe: @escaping @Sendable (JobOutcome) -> Void = { _ in }
    ) {
        self.id = id
        self.configuration = configuration
        self.store = store
        self.renderer = renderer
        fetchers = CurrentFetcher(fetcher)
        self.logger = logger
        self.observe = observe
        (wakeUps, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (phase, running) = (phase, running)
        cadence = Cadence(period: configuration.cadence)
        let cadence = cadence
        runner = JobRunner(
            store: store,
            fetchers: fetchers,
            renderer: renderer,
            fetchLimiter: Limiter(limit: configuration.fetchConcurrency),
            configuration: configuration,
            logger: logger,
            meetOthers: { if running.count > 1 { await cadence.beat() } },
            phase: phase
        )
    }

    /// Works until the queue is drained (if it is to), or a graceful shutdown is asked for; then finishes what runs.
    ///
    /// - Throws: ``StoreError`` if the store cannot be entered, refuses a drain for longer than its patience, or has
    ///   become a newer version's; then what ran was finished or given back, as at a shutdown.
    package func run() async throws {
        try await store.register(
            WorkerDescription(
                id: id,
                host: ProcessInfo.processInfo.hostName,
                pid: Int(ProcessInfo.processInfo.processIdentifier),
                version: CameoVersion.current,
                concurrency: configuration.concurrency
            )
        )
        try await rescue()
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await self.listen() }
                group.addTask { await self.watch() }
                group.addTask { try await self.work() }
                group.addTask { await self.maintain() }
                // The others never end by themselves: the first to return is the work.
                defer { group.cancelAll() }
                try await group.next()
            }
        } onGracefulShutdown: {
            self.stop()
        }
        try await store.deregister(id)
        if let reason = phase.retirement { throw reason }
    }

    /// True after a drain that found nothing left to do; false if it was stopped before.
    package var hasDrained: Bool { phase.hasDrained }

    /// Jobs begin with this fetcher from now on.
    package func fetch(with fetcher: Fetcher) { fetchers.fetcher = fetcher }

    private func stop() {
        phase.stop(grace: configuration.grace)
        renderer.expectEnd()
        wake.yield()
    }

    /// Ends at once, from whatever it does: what runs is given back, uncharged.
    package func giveBack() { stop(.now) }

    /// As an operator asked for, from outside.
    private func stop(_ request: WorkerStop) {
        guard phase.stop(grace: request == .now ? .zero : nil) else { return }
        logger.info("asked to end", metadata: ["mode": "\(request.rawValue)"])
        renderer.expectEnd()
        if request == .now { running.stopAll(.shutdown) }
        wake.yield()
    }

    /// Nothing new can begin under the tables of a newer version.
    private func retire(_ reason: StoreError) {
        guard phase.retire(reason, grace: configuration.grace) else { return }
        logger.error("ends, since a newer version has taken over the store", metadata: ["reason": "\(reason)"])
        wake.yield()
    }

    // MARK: - Claiming

    private func work() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            wake.yield()
            for await _ in wakeUps {
                if phase.isStopping { break }
                if phase.hasLostStore {
                    running.stopAll(.claimLost)
                    throw StoreError.missing(path: store.location)
                }
                if running.count > 1 { await cadence.beat() }
                if try await fill(&group) { break }
            }
            await finish()
        }
    }

    /// Claims as many jobs as there is room for and starts them.
    ///
    /// - Returns: true when the claiming is over: a drain has nothing left to wait for, or a newer version has taken over.
    private func fill(_ group: inout ThrowingDiscardingTaskGroup<any Error>) async throws -> Bool {
        do throws(StoreError) {
            let jobs = try await claim()
            phase.storeAnswered()
            for job in jobs { start(job, in: &group) }
            for job in store.takeRefused() { report(JobOutcome(lost: job)) }
            guard configuration.drains, running.count == 0 else { return false }
            // Its row says `running`, and will until this worker is gone: do not wait for that.
            if let reason = phase.unrecorded { throw .failed(reason) }
            let isDrained = try await store.unfinishedJobs(queues: configuration.queues) == 0
            if isDrained { phase.noteDrained() }
            return isDrained
        } catch {
            if case .newerSchema = error {
                retire(error)
                return true
            }
            let (duration, isNews) = phase.storeRefused(error.description)
            if isNews { logger.error("cannot claim jobs", metadata: ["reason": "\(error)"]) }
            if configuration.drains, duration > configuration.patience || phase.unrecorded != nil { throw error }
            return false  // the next sweep tries again
        }
    }

    private func claim() async throws(StoreError) -> [ClaimedJob] {
        guard !running.containsPoisonJob else { return [] }
        if try await store.hasOverduePoisonJob(queues: configuration.queues) { return try await claimPoisonJob() }
        let room = configuration.concurrency - running.count
        guard room > 0 else { return [] }
        let jobs = try await store.claim(limit: room, kind: .usual, queues: configuration.queues, for: id)
        return jobs.isEmpty ? try await claimPoisonJob() : jobs
    }

    /// Waits until every running job has ended, then claims one poison job and runs it alone: if the worker dies, only that
    /// job is blamed. Other jobs go first: a poison job waits until no other job does, or has waited long enough.
    private func claimPoisonJob() async throws(StoreError) -> [ClaimedJob] {
        guard running.count == 0 else { return [] }
        return try await store.claim(limit: 1, kind: .poison, queues: configuration.queues, for: id)
    }

    private func start(_ job: ClaimedJob, in group: inout ThrowingDiscardingTaskGroup<any Error>) {
        KillPoint.afterClaim.pass()
        let control = JobControl(job)
        running.insert(control)
        group.addTask {
            let outcome = await self.runner.run(control)
            self.report(outcome)
            if case .unrecorded(let reason) = outcome.kind { self.phase.unrecorded = reason }
            self.running.remove(control)
            self.wake.yield()
        }
    }

    /// Waits for what runs; the watcher stops it and gives it back when its grace is over.
    private func finish() async {
        guard running.count > 0 else { return }
        logger.info(
            "finishing running jobs",
            metadata: ["jobs": "\(running.count)", "grace": "\(configuration.grace)"]
        )
        while running.count > 0 {
            for await _ in wakeUps where running.count == 0 { break }
        }
    }

    // MARK: - Watching

    /// Hears of others' commits. A worker that is full is woken by its own jobs.
    private func listen() async {
        for await _ in store.wakeUps() where running.count < configuration.concurrency { wake.yield() }
    }

    private func watch() async {
        var sweeps = 0
        var nextSweep = ContinuousClock.now
        var nextLease = ContinuousClock.now + configuration.leaseInterval
        while !Task.isCancelled {
            if phase.mustGiveBack { running.stopAll(.shutdown) }
            var pause = configuration.sweepInterval
            do {
                if ContinuousClock.now >= nextSweep {
                    nextSweep = .now + configuration.sweepInterval
                    // Also where nothing is heard of, such as a kernel without a watch to give.
                    if sweeps.isMultiple(of: Self.sweepsPerLook) { wake.yield() }
                    sweeps += 1
                }
                if let due = try await sweep() {
                    let time = max(0, due.timeIntervalSince(store.clock.now()))
                    if time == 0 { wake.yield() } else { pause = min(pause, .seconds(time)) }
                }
                if ContinuousClock.now >= nextLease {
                    try await store.extendLease(of: id)
                    nextLease = .now + configuration.leaseInterval
                }
            } catch {
                let (_, isNews) = phase.storeRefused("\(error)")
                if isNews { logger.warning("cannot look at the store", metadata: ["reason": "\(error)"]) }
                wake.yield()
            }
            guard (try? await Task.sleep(for: pause)) != nil else { return }
        }
    }

    /// Sweeps after which a worker looks for jobs although nothing was heard of any.
    private static let sweepsPerLook = 4

    /// - Returns: when a job comes due.
    private func sweep() async throws -> Date? {
        let held = running.tokens
        let sweep = try await store.sweep(for: id)
        if !sweep.isInPlace {
            phase.loseStore()
            wake.yield()
        }
        // First: whoever is to end by somebody's wish has done so well, whatever version the store has become.
        if let request = sweep.stop { stop(request) }
        if let reason = sweep.refusal {
            retire(reason)
        } else if sweep.hasLostWorkers {
            try await rescue()
        }
        running.stop(held, notIn: sweep.tokens)
        return sweep.due
    }

    private func rescue() async throws {
        let report = try await store.rescueExpired(except: id)
        guard !report.workers.isEmpty else { return }
        logger.warning(
            "took back the jobs of lost workers",
            metadata: [
                "workers": "\(report.workers.joined(separator: " "))", "jobs": "\(report.rescued)",
                "discarded": "\(report.discarded.count)",
            ]
        )
        for job in report.discarded { self.report(JobOutcome(lost: job)) }
        wake.yield()
    }

    private func report(_ outcome: JobOutcome) {
        log(outcome)
        observe(outcome)
    }
}
