import CameoFetch
import CameoModel
import CameoRenderer
import CameoSQLite
import CameoStore
import CameoSystem
import Synchronization
import TestSupport
import Testing

@testable import CameoWorker

/// Whole attempts with a real server, a real renderer and a real store.
@Suite(.origin, .timeLimit(.minutes(10)))
struct JobRunnerTests {
    private let origin = Origin.ofSuite
    private let bench: CacheBench

    init() throws { bench = try CacheBench() }

    private func makeRunner(
        _ renderer: RendererPool,
        configure: (inout WorkerConfiguration) -> Void = { _ in },
        meetOthers: @escaping @Sendable () async -> Void = {}
    ) -> JobRunner {
        var configuration = WorkerConfiguration()
        configuration.random = { 0.5 }
        configure(&configuration)
        return JobRunner(
            store: bench.store,
            fetcher: Live(bench.fetcher),
            renderer: renderer,
            fetchLimiter: ByteBudget(limit: 1),
            configuration: configuration,
            logger: bench.log.logger,
            meetOthers: meetOthers,
            phase: WorkerPhase(time: configuration.time)
        )
    }

    /// Claims a job whose server does not answer.
    private func claimUnanswered(_ path: String) async throws -> ClaimedJob {
        var answer = ScriptedAnswer(200, body: "picture")
        answer.held = true
        try await origin.script(path, answer)
        return try await bench.claim { $0.source = origin.url(path) }
    }

    @Test func anAttemptMakesItsThumbnails() async throws {
        try await withRenderer { renderer in
            let job = try await bench.claim { $0.source = "initials:AB" }
            let outcome = await makeRunner(renderer).run(JobControl(job, claimedAt: .now))
            #expect(outcome.kind.summary == "completed 1")
            #expect((outcome.jobID, outcome.source, outcome.attempt) == (job.claim.jobID, "initials:AB", 1))
            #expect(outcome.timings.outputBytes ?? 0 > 0)
            let report = try await bench.store.job(job.claim.jobID)
            #expect(outcome.timings.cpuMilliseconds != nil)
            #expect(report.attempts?.map(\.cpuMilliseconds) == [outcome.timings.cpuMilliseconds])
            let thumbnail = report.thumbnails[0]
            #expect(try await bench.store.data(of: thumbnail.uri).count == thumbnail.bytes)
        }
    }

    @Test(
        arguments: [
            (.timedOut, "retried job.timedOut after 1.5 seconds", .retryable, 1),
            (.shutdown, "released", .available, 0),
            (.claimLost, "lease lost", .running, 1),
        ] as [(JobControl.StopReason, String, JobState, Int)]
    )
    func theReasonOfAStopDecidesHowTheJobEnds(
        reason: JobControl.StopReason,
        outcome: String,
        state: JobState,
        attempt: Int
    ) async throws {
        try await withRenderer { renderer in
            let path = "/scripted/unanswered-\(reason)"
            let control = JobControl(try await claimUnanswered(path), claimedAt: .now)
            let runner = makeRunner(renderer)
            let running = Task { await runner.run(control) }
            try await origin.awaitArrivals(of: path)
            control.stop(reason)
            #expect(await running.value.kind.summary == outcome)
            let job = try await bench.store.job(control.job.claim.jobID)
            #expect((job.state, job.attempt) == (state, attempt))
        }
    }

    @Test func aRunningTransferTellsHowFarItHasCome() async throws {
        try await withRenderer { renderer in
            let job = try await bench.claim { $0.source = origin.url("/stall") }
            let (control, jobs) = (JobControl(job, claimedAt: .now), RunningJobs())
            jobs.insert(control)
            #expect(jobs.transfers == [])
            let runner = makeRunner(renderer)
            let running = Task { await runner.run(control) }
            // The server sends the beginning, and nothing more.
            try await eventually("the transfer is known") { !jobs.transfers.isEmpty }
            let transfer = JobAttempt.Transfer(receivedBytes: 100, totalBytes: 1_000)
            #expect(jobs.transfers == [RunningTransfer(token: job.claim.token, transfer: transfer)])
            control.stop(.shutdown)
            #expect(await running.value.kind.summary == "released")
        }
    }

    /// The settlement is not part of the cancelled task.
    @Test func aCancelledAttemptIsGivenBack() async throws {
        try await withRenderer { renderer in
            let path = "/scripted/cancelled"
            let control = JobControl(try await claimUnanswered(path), claimedAt: .now)
            let settlements = Mutex<[Bool]>([])
            let runner = makeRunner(renderer, meetOthers: { settlements.withLock { $0.append(Task.isCancelled) } })
            let running = Task { await runner.run(control) }
            try await origin.awaitArrivals(of: path)
            running.cancel()
            #expect(await running.value.kind.summary == "released")
            #expect(settlements.withLock { $0 } == [false])
            let job = try await bench.store.job(control.job.claim.jobID)
            #expect((job.state, job.attempt) == (.available, 0))
        }
    }

    @Test func anAttemptThatExceedsItsTimeLimitIsStopped() async throws {
        try await withRenderer { renderer in
            let control = JobControl(try await claimUnanswered("/scripted/slow"), claimedAt: .now)
            let jobs = RunningJobs()
            jobs.insert(control)
            let runner = makeRunner(renderer, configure: { $0.jobTimeout = .milliseconds(20) })
            let running = Task { await runner.run(control) }
            try await eventually("the attempt is stopped") {
                jobs.stopOverdue()
                return control.stopReason != nil
            }
            #expect(await running.value.kind.summary == "retried job.timedOut after 1.5 seconds")
            #expect(control.stopReason == .timedOut)
        }
    }

    /// A newer version may have accepted a request that this one cannot read.
    @Test func aRequestThatCannotBeReadDiscardsItsJob() async throws {
        try await withRenderer { renderer in
            let claim = try await bench.claim().claim
            let unreadable = ClaimedJob.example(claim.jobID, token: claim.token)
            let outcome = await makeRunner(renderer).run(JobControl(unreadable, claimedAt: .now))
            #expect(outcome.kind.summary == "discarded request.invalid")
            let failure = try await bench.store.job(claim.jobID).failure
            #expect(failure?.message.hasPrefix("the request is invalid: ") == true)
        }
    }
}
