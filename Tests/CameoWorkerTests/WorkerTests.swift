import CameoModel
import CameoRenderer
import CameoSQLite
import CameoStore
import Synchronization
import TestSupport
import Testing

@testable import CameoWorker

/// A whole worker in this process, from its start to its end.
@Suite(.timeLimit(.minutes(10)))
struct WorkerTests {
    private let origin: Origin
    private let bench: CacheBench
    private let outcomes = Outcomes()

    /// The outcomes that a worker has reported, in words.
    private final class Outcomes: Sendable {
        private let collected = Mutex<[String]>([])
        var all: [String] { collected.withLock { $0 } }
        func add(_ outcome: JobOutcome) { collected.withLock { $0.append(outcome.kind.summary) } }
    }

    init() async throws {
        origin = try await Origin.start()
        bench = try CacheBench()
    }

    private func withWorker(
        configure: (inout WorkerConfiguration) -> Void = { _ in },
        _ body: (Worker) async throws -> Void
    ) async throws {
        var configuration = WorkerConfiguration()
        configuration.random = { 0.5 }
        configuration.sweepInterval = .milliseconds(10)
        configure(&configuration)
        try await bench.withWorker(configuration, observe: { [outcomes] in outcomes.add($0) }, body)
    }

    /// Enqueues a job whose server does not answer before it is released.
    private func enqueueUnanswered(_ path: String, maxAttempts: Int = 5) async throws -> Int64 {
        var answer = ScriptedAnswer(200, body: "not a picture")
        answer.held = true
        try await origin.script(path, answer)
        let request = ThumbnailRequest(
            source: origin.url(path),
            renditions: [Rendition(width: 64)],
            maxAttempts: maxAttempts
        )
        return try await bench.store.enqueue([request])[0].jobID
    }

    @Test func aDrainEndsWhenTheQueueIsEmpty() async throws {
        let requests = ["AB", "CD", "EF"].map {
            ThumbnailRequest(source: "initials:\($0)", renditions: [Rendition(width: 64)])
        }
        _ = try await bench.store.enqueue(requests)
        try await withWorker(configure: { $0.drains = true }) { worker in
            try await worker.run()
            #expect(worker.hasDrained)
        }
        #expect(outcomes.all == ["completed 1", "completed 1", "completed 1"])
        let status = try await bench.store.status()
        #expect(status.count(.completed) == 3 && status.workers.isEmpty)
    }

    @Test func aDrainGivesBackWhatCannotBeRecorded() async throws {
        let last = try await enqueueUnanswered("/scripted/last", maxAttempts: 1)
        _ = try await bench.store.enqueue([
            ThumbnailRequest(source: "initials:A", renditions: [Rendition(width: 8)], maxAttempts: 1)
        ])
        // No end can be recorded, but a job can be given back.
        let rule = "CREATE TRIGGER odd BEFORE INSERT ON outcome BEGIN SELECT nowhere; END"
        let changed = try await run("sqlite3", [bench.folder.path("store/cameo.sqlite"), rule])
        #expect(changed.exitStatus == 0, "\(changed.errorText)")
        let drain: (inout WorkerConfiguration) -> Void = {
            $0.drains = true
            $0.patience = .milliseconds(500)
            $0.leaseInterval = .milliseconds(10)
        }
        try await withWorker(configure: drain) { worker in
            let running = Task { try await worker.run() }
            try await eventually("the end of an attempt") { outcomes.all.count == 1 }
            try await origin.release()
            await #expect(throws: StoreError.self) { try await running.value }
        }
        #expect(outcomes.all.count == 2 && outcomes.all.allSatisfy { $0.hasPrefix("unrecorded:") }, "\(outcomes.all)")
        let left = try await bench.store.job(last)
        #expect((left.state, left.attempt) == (.available, 0))
    }

    @Test func aWorkerThatIsToGiveBackEndsAtOnce() async throws {
        let id = try await enqueueUnanswered("/scripted/give-back")
        try await withWorker { worker in
            let running = Task { try await worker.run() }
            try await origin.awaitArrivals(of: "/scripted/give-back")
            worker.giveBack()
            try await running.value
            #expect(!worker.hasDrained)
        }
        // A claim that was under way may take the released job once more, and gives it back again.
        #expect(Set(outcomes.all) == ["released"])
        let job = try await bench.store.job(id)
        #expect((job.state, job.attempt) == (.available, 0))
    }

    @Test(arguments: [(WorkerStop.now, "released"), (.drain, "discarded image.unsupportedFormat")])
    func anOperatorsStopEndsTheWorker(stop: WorkerStop, outcome: String) async throws {
        let path = "/scripted/stop-\(stop)"
        _ = try await enqueueUnanswered(path)
        try await withWorker { worker in
            let running = Task { try await worker.run() }
            try await origin.awaitArrivals(of: path)
            _ = try await bench.store.stopWorker("w1", stop)
            // A drain lets the running job finish.
            if stop == .drain { try await origin.release() }
            try await running.value
        }
        #expect(outcomes.all == [outcome])
        #expect(try await bench.store.status().workers.isEmpty)
    }
}
