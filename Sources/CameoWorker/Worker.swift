package import CameoFetch
package import CameoHooks
internal import CameoModel
package import CameoRenderer
package import CameoStore
internal import CameoSystem
internal import Foundation
package import Logging
internal import ServiceLifecycle
internal import Synchronization

// DESIGN. One loop claims jobs, each job runs in a task of its own, and one more task watches the store. The loop sleeps
// until something may have changed: a job ended here, another process committed, a job came due, or a shutdown was
// requested. Each of these only wakes the loop, which then asks the store what to do: a needless wake-up is harmless, and
// the next sweep makes up for a missed one.

/// Claims jobs from a store and runs them until it is told to end, or until a drain has emptied the queue.
package final class Worker: Service {
    package let id: String
    let configuration: WorkerConfiguration
    let store: any WorkerStore & OperatorStore
    private let runner: JobRunner
    let renderer: RendererPool
    let tables: TableWatch?
    let hooks: HookDeliverer?
    let logger: Logger
    private let observe: @Sendable (JobOutcome) -> Void
    let running = RunningJobs()
    let tally = WorkTally()
    let phase: WorkerPhase
    private let cadence: Cadence
    let pace = ClaimPace()
    private let wakeUps: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation

    /// Creates a worker that reports every finished attempt to `observe` before its next claim.
    package init(
        id: String,
        configuration: WorkerConfiguration,
        store: any Store,
        fetcher: Fetcher,
        renderer: RendererPool,
        frames: VideoFrames? = nil,
        hooks: HookDeliverer? = nil,
        tables: TableWatch? = nil,
        logger: Logger,
        observe: @escaping @Sendable (JobOutcome) -> Void = { _ in }
    ) {
        (self.id, self.configuration, self.store, self.renderer) = (id, configuration, store, renderer)
        (self.hooks, self.tables, self.logger, self.observe) = (hooks, tables, logger, observe)
        (wakeUps, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        phase = WorkerPhase(time: configuration.time)
        cadence = Cadence(period: .milliseconds(5), time: configuration.time)
        let (running, cadence) = (running, cadence)
        runner = JobRunner(
            store: store,
            fetcher: Live(fetcher),
            renderer: renderer,
            frames: frames,
            fetchLimiter: ByteBudget(limit: configuration.fetchConcurrency),
            configuration: configuration,
            logger: logger,
            meetOthers: { if running.count > 1 { await cadence.beat() } },
            phase: phase
        )
    }

    /// Works until a drain has emptied the queue or a graceful shutdown is requested, then lets the running jobs finish.
    ///
    /// - Throws: ``StoreError`` if the worker cannot register, if the store refuses a drain for longer than its patience, or
    ///   if a newer version has taken over the store. Even then, running jobs have been finished or given back.
    package func run() async throws {
        try await store.register(
            WorkerDescription(
                id: id,
                host: ProcessInfo.processInfo.hostName,
                pid: Int(ProcessInfo.processInfo.processIdentifier),
                version: CameoVersion.current,
                concurrency: configuration.concurrency,
                renderers: renderer.count,
                rendererVersion: renderer.rendererVersion,
                quietHours: configuration.quietHours,
                queues: configuration.queues,
                lacks: renderer.lacks + (runner.frames?.areMissing == false ? [] : [.reading(.video)])
            )
        )
        do {
            try await serve()
        } catch {
            // Jobs whose ends the store did not take would run until the lease ends.
            try? await store.deregister(id, adding: tally.take(renderer.statistics))
            throw error
        }
        try await store.deregister(id, adding: tally.take(renderer.statistics))
        if let reason = phase.retirement { throw reason }
    }

    private func serve() async throws {
        try await rescue()
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await self.listen() }
                group.addTask { await self.watch() }
                group.addTask { await self.readAhead() }
                group.addTask { await self.endBatches() }
                // A drain does it before and after.
                if let tables, !configuration.drains {
                    group.addTask { await tables.run(sleep: self.configuration.time.sleep) }
                }
                group.addTask { await self.enforceTimeLimits() }
                group.addTask { try await self.workAndDeliver() }
                group.addTask { await self.maintain() }
                // Only the work ends by itself, so it is the first to return.
                defer { group.cancelAll() }
                try await group.next()
            }
        } onGracefulShutdown: {
            self.stop()
        }
    }

    /// Whether a drain has found nothing left to do; false if it was stopped before.
    package var hasDrained: Bool { phase.hasDrained }

    /// Makes jobs that begin from now on use another fetcher.
    package func fetch(with fetcher: Fetcher) { runner.fetcher.value = fetcher }

    private func stop() {
        phase.stop(grace: configuration.grace)
        // What is left of the grace is for giving back.
        store.expectEnd(within: configuration.grace * 4 / 5)
        renderer.expectEnd()
        runner.frames?.expectEnd()
        hooks?.end(draining: false, within: configuration.grace)
        wake.yield()
    }

    /// Ends the worker at once. Running jobs are given back, and their attempts do not count.
    package func giveBack() { stop(.now) }

    /// Ends the worker at an operator's request.
    func stop(_ request: WorkerStop) {
        guard phase.stop(grace: request == .now ? .zero : nil) else { return }
        if request == .now { store.expectEnd(within: .zero) }
        logger.info("asked to end", metadata: ["mode": "\(request.rawValue)"])
        renderer.expectEnd()
        hooks?.end(draining: false, within: request == .now ? .zero : nil)
        if request == .now { running.stopAll(.shutdown) }
        wake.yield()
    }

    /// Ends the claiming, because this version cannot use the tables of a newer one.
    func retire(_ reason: StoreError) {
        guard phase.retire(reason, grace: configuration.grace) else { return }
        logger.error("ending, because a newer version has taken over the store", metadata: ["reason": "\(reason)"])
        hooks?.end(draining: false, within: configuration.grace)
        wake.yield()
    }

    /// Works, and meanwhile tells the hooks of ended jobs. After a drain they are told of all that is due.
    private func workAndDeliver() async throws {
        async let deliveries: Void? = hooks?.run(as: id)
        if configuration.drains { await tables?.finish() }
        try await work()
        if configuration.drains {
            await tables?.finish()
            try await store.endSealedBatches()
        }
        hooks?.end(draining: true, within: nil)
        await deliveries
    }

    // MARK: - Claiming

    private func work() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            wake.yield()
            for await _ in wakeUps {
                if phase.isStopping { break }
                if let loss = phase.lostStore {
                    running.stopAll(.claimLost)
                    // So that no end of an attempt is written again and again.
                    phase.stop(grace: .zero)
                    throw loss
                }
                if running.count > 1 { await cadence.beat() }
                if try await fill(&group) { break }
            }
            await finish()
        }
    }

    /// Claims as many jobs as there is room for and starts them. Returns true when the claiming is over: a drain has emptied
    /// the queue, or a newer version has taken over.
    private func fill(_ group: inout ThrowingDiscardingTaskGroup<any Error>) async throws -> Bool {
        do throws(StoreError) {
            let jobs = try await claim()
            phase.storeAnswered()
            let now = store.clock.now()
            for job in jobs {
                tally.note(waitedMilliseconds: Int(now.timeIntervalSince(job.availableAt) * 1_000))
                start(job, in: &group)
            }
            for job in store.takeRefused() { report(JobOutcome(lost: job)) }
            guard configuration.drains, running.count == 0 else { return false }
            // The job's row says `running`, and will until this worker is gone: a drain must not wait for that.
            if let reason = phase.unrecorded { throw .failed(reason) }
            // Jobs that wait for quiet hours are left, like those that are scheduled.
            let isDrained =
                try await store.unfinishedJobs(queues: configuration.queues, background: backgroundJobs) == 0
            if isDrained { phase.hasDrained = true }
            return isDrained
        } catch {
            if case .newerSchema = error {
                retire(error)
                return true
            }
            let message = "cannot claim jobs"
            let (lasting, isNews) = phase.storeRefused(error.description, message)
            if isNews { logger.error("\(message)", metadata: ["reason": "\(error)"]) }
            if configuration.drains, lasting > configuration.patience || phase.unrecorded != nil { throw error }
            return false  // the next sweep tries again
        }
    }

    private func claim() async throws(StoreError) -> [ClaimedJob] {
        // What a drain makes would be lost while the store refuses for good to take it.
        guard !running.containsPoisonJob, !configuration.drains || phase.refusal == nil else { return [] }
        if phase.hasOverduePoisonJob {
            guard running.count == 0 else { return [] }
            phase.hasOverduePoisonJob = false
            let jobs = try await claimPoisonJob()
            if !jobs.isEmpty { return jobs }
        }
        let room = configuration.concurrency - running.count
        guard room > 0 else { return [] }
        let jobs = try await claim(room, max(0, configuration.backgroundConcurrency - running.backgroundCount), .usual)
        pace.note(found: jobs.count, room: room)
        return jobs.isEmpty ? try await claimPoisonJob() : jobs
    }

    /// Whether jobs of background queues are claimed now.
    var backgroundJobs: BackgroundJobs { configuration.backgroundJobs(at: store.clock.now()) }

    /// Claims one poison job once every running job has ended, to run it alone: if the worker dies, only that job is blamed.
    /// Other jobs go first: a poison job waits until no other job does, or until it has waited long enough.
    private func claimPoisonJob() async throws(StoreError) -> [ClaimedJob] {
        guard running.count == 0 else { return [] }
        return try await claim(1, 1, .poison)
    }

    private func claim(_ limit: Int, _ background: Int, _ kind: ClaimKind) async throws(StoreError) -> [ClaimedJob] {
        let background = backgroundJobs == .included ? background : 0
        let queues = configuration.queues
        return try await store.claim(
            ClaimRequest(limit: limit, background: background, kind: kind, queues: queues, for: id)
        )
    }

    private func start(_ job: ClaimedJob, in group: inout ThrowingDiscardingTaskGroup<any Error>) {
        KillPoint.afterClaim.pass()
        let control = JobControl(job, claimedAt: configuration.time.now())
        running.insert(control)
        group.addTask {
            let outcome = await self.runner.run(control)
            self.tally.note(outcome)
            self.report(outcome)
            if case .unrecorded(let reason) = outcome.kind { self.phase.unrecorded = reason }
            self.running.remove(control)
            self.wake.yield()
        }
    }

    /// Waits until every running job has ended. When the grace is over, the watcher stops them, and they are given back.
    private func finish() async {
        guard running.count > 0 else { return }
        logger.info(
            "finishing running jobs",
            metadata: ["jobs": .stringConvertible(running.count), "grace": "\(configuration.grace)"]
        )
        while running.count > 0 {
            for await _ in wakeUps where running.count == 0 { break }
        }
    }

    func report(_ outcome: JobOutcome) {
        log(outcome)
        observe(outcome)
    }
}

// DESIGN. Every commit of any process could wake every worker: sixteen workers on a busy store would look and ask for jobs
// thousands of times a second. So a worker looks rarely while it need not be woken, because its own jobs wake it, and
// while it asks in vain. The first commit after a silence is followed up at once.

/// How long a worker rests after a commit of another process before it follows up the next one.
final class ClaimPace: Sendable {
    private static let shortest = Duration.milliseconds(2)
    private static let longest = Duration.milliseconds(16)

    private let state = Mutex((rest: shortest, isFull: false))

    var rest: Duration { state.withLock { $0.isFull ? Self.longest : $0.rest } }

    /// Records how many jobs a claim has found, and for how many there was room.
    func note(found: Int, room: Int) {
        state.withLock { state in
            state.isFull = found >= room
            state.rest = found > 0 ? Self.shortest : min(Self.longest, state.rest * 2)
        }
    }
}
