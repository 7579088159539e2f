import Cameo
import Foundation
import StoreConformance
import TestSupport
import Testing

/// What an operator does by `cameo-admin`, done by a program.
@Suite(.timeLimit(.minutes(10)))
struct OperatingTests {
    private let bench: Workbench
    private let client: Client

    init() throws {
        bench = try Workbench()
        client = try Client(store: bench.path)
    }

    private func enqueue(
        _ name: String,
        change: (inout ThumbnailRequest) -> Void = { _ in }
    ) async throws -> Int64 {
        var request = ThumbnailRequest(source: "file:///\(name).jpg", renditions: [Rendition(width: 64)])
        change(&request)
        return try #require(try await client.enqueue(request).id)
    }

    private func work(_ worker: String) async throws -> Int {
        try await bench.work(worker) { Workbench.picture($0) }
    }

    @Test func aBatchTellsHowFarItIs() async throws {
        let worker = try await bench.register()
        for name in ["a", "b", "c", "d"] { _ = try await enqueue(name) { $0.batch = "holiday" } }
        _ = try await enqueue("elsewhere")
        #expect(try await client.cancel(4) == .available)
        try await bench.complete(try await bench.begin(worker), with: Workbench.picture(1))
        try await bench.discard(try await bench.begin(worker))
        let batch = try await client.batch("holiday")
        #expect(batch.name == "holiday")
        #expect(batch.jobs.filter { $0.value > 0 } == [.completed: 1, .discarded: 1, .available: 1, .cancelled: 1])
        #expect((batch.total, batch.finished, batch.isFinished) == (4, 3, false))
        #expect(batch.failures.map(\.code) == [.imageCorrupt] && batch.failures[0].count == 1)
        #expect(try await work(worker) == 2)
        #expect(try await client.batch("holiday").isFinished)
        await #expect(throws: CameoError.noSuchBatch("other")) { try await client.batch("other") }
    }

    @Test func retryGivesAJobAllItsAttemptsAgain() async throws {
        let worker = try await bench.register()
        let id = try await enqueue("a") { $0.maxAttempts = 3 }
        #expect(try await client.retry(id) == .available)
        try await bench.discard(try await bench.begin(worker))
        let failed = try await client.status(of: id)
        #expect((failed.state, failed.attempt, failed.maxAttempts) == (.discarded, 1, 3))
        #expect(failed.failure?.code == .imageCorrupt && failed.finalizedAt != nil)
        #expect(try await client.retry(id) == .discarded)
        let again = try await client.status(of: id)
        #expect((again.state, again.attempt, again.finalizedAt) == (.available, 0, nil))
        let begun = try await bench.begin(worker)
        #expect(try await client.retry(id) == .running, "what runs goes on")
        try await bench.complete(begun, with: Workbench.picture(1))
        #expect(try await client.thumbnails(for: id)[0].bytes == 4_000)
        await #expect(throws: CameoError.noSuchJob(77)) { try await client.retry(77) }
    }

    @Test func retryYieldsToAJobThatWaitsForTheSameThumbnails() async throws {
        let first = try await enqueue("a")
        try await client.cancel(first)
        let second = try await enqueue("a")
        #expect(second != first)
        #expect(try await client.retry(first) == .cancelled)
        let states = [try await client.status(of: first).state, try await client.status(of: second).state]
        #expect(states == [.cancelled, .available])
    }

    @Test func aSnoozedJobWaitsForItsTime() async throws {
        let worker = try await bench.register()
        let id = try await enqueue("a")
        #expect(try await client.snooze(id, until: Date(timeIntervalSinceNow: 3_600)) == .available)
        #expect(try await client.status(of: id).state == .scheduled)
        #expect(try await work(worker) == 0)
        #expect(try await client.snooze(id, until: Date(timeIntervalSinceNow: -1)) == .scheduled)
        #expect(try await work(worker) == 1)
        #expect(try await client.snooze(id, until: Date(timeIntervalSinceNow: 3_600)) == .completed)
        #expect(try await client.status(of: id).state == .completed)
        await #expect(throws: CameoError.noSuchJob(77)) { try await client.snooze(77, until: Date()) }
    }

    @Test func aPausedQueueGivesNothingUntilItIsResumed() async throws {
        let worker = try await bench.register()
        for name in ["a", "b"] { _ = try await enqueue(name) { $0.queue = "web" } }
        _ = try await enqueue("c")
        let running = try await bench.begin(worker)
        try await client.pause(queue: "web")
        try await client.pause(queue: "web")
        #expect(try await work(worker) == 1, "the other queue goes on")
        try await bench.complete(running, with: Workbench.picture(1))
        #expect(try await client.status(of: 1).state == .completed, "what ran went on")
        #expect(try await client.status(of: 2).state == .available)
        try await client.resume(queue: "web")
        #expect(try await work(worker) == 1)
        await #expect(throws: CameoError.noSuchQueue("wbe")) { try await client.pause(queue: "wbe") }
        await #expect(throws: CameoError.noSuchQueue("wbe")) { try await client.resume(queue: "wbe") }
    }

    enum Limit: CaseIterable, Sendable {
        case jobsOfQueue, startsOfQueue, jobsOfKey, startsOfKey

        /// Has one job run or start, or as many as there are.
        func set(_ isOne: Bool, by client: Client) async throws {
            let rate = isOne ? try StartRate(1, per: .seconds(86_400)) : nil
            switch self {
            case .jobsOfQueue: try await client.limit(queue: "web", to: isOne ? 1 : nil)
            case .startsOfQueue: try await client.limit(queue: "web", toRate: rate)
            case .jobsOfKey: try await client.limit(concurrencyKey: "tenant", to: isOne ? 1 : nil)
            case .startsOfKey: try await client.limit(concurrencyKey: "tenant", toRate: rate)
            }
        }
    }

    /// Also before the queue or the key has had a job, and whatever requests say of the key.
    @Test(arguments: Limit.allCases)
    func aLimitHoldsFromTheNextClaimOn(limit: Limit) async throws {
        let worker = try await bench.register()
        try await limit.set(true, by: client)
        func enqueueTwo(_ names: String...) async throws {
            for name in names {
                _ = try await enqueue(name) { request in
                    (request.queue, request.concurrencyKey, request.concurrencyLimit) = ("web", "tenant", 9)
                }
            }
        }
        try await enqueueTwo("a", "b")
        let running = try await bench.begin(worker)
        #expect(try await work(worker) == 0)
        let queue = try await client.status().queues.first { $0.name == "web" }
        #expect(queue?.maxRunning == (limit == .jobsOfQueue ? 1 : nil))
        #expect(queue?.rate?.description == (limit == .startsOfQueue ? "1/d" : nil))
        try await limit.set(false, by: client)
        // A request of the key brings its own limit back.
        try await enqueueTwo("c")
        #expect(try await work(worker) == 2)
        try await bench.complete(running, with: Workbench.picture(1))
    }

    @Test func aLimitThatIsNoneIsRefused() async throws {
        try await expectInvalid("limit") { try await client.limit(queue: "web", to: 0) }
        try await expectInvalid("limit") { try await client.limit(concurrencyKey: "tenant", to: -1) }
        try await expectInvalid("queue") { try await client.limit(queue: "We b", to: 1) }
        let rates: [(Int, Duration)] = [
            (0, .seconds(1)), (1_000_001, .seconds(1)), (1, .zero), (1, .seconds(86_401)), (1, .seconds(Int64.max)),
            (1, .seconds(-1)),
        ]
        for (count, period) in rates {
            #expect(throws: InvalidRequest.self) { try StartRate(count, per: period) }
        }
    }

    @Test func aBatchIsWaitedFor() async throws {
        let worker = try await bench.register()
        for name in ["a", "b"] { _ = try await enqueue(name) { $0.batch = "holiday" } }
        await #expect(throws: CameoError.batchTimedOut("holiday")) {
            try await client.wait(forBatch: "holiday", timeout: .milliseconds(50))
        }
        async let waited = client.wait(forBatch: "holiday", timeout: .seconds(300))
        #expect(try await work(worker) == 2)
        let completed = try await waited.count(.completed)
        #expect(completed == 2)
        await #expect(throws: CameoError.noSuchBatch("other")) { try await client.wait(forBatch: "other") }
    }

    @Test func theStatusTellsOfQueuesAndWorkers() async throws {
        let worker = try await bench.register()
        for name in ["a", "b"] { _ = try await enqueue(name) { $0.queue = "web" } }
        _ = try await enqueue("c")
        try await client.limit(queue: "web", to: 2)
        try await client.setBackground(true, queue: "web")
        try await client.setBackground(true, queue: "default")
        try await client.setBackground(false, queue: "default")
        try await client.setFair(true, queue: "web")
        try await client.setWeight(2, ofTenant: "acme")
        let refusal = CameoError.invalidRequest(field: "weight", reason: "must be between 0.01 and 100, not 0.0")
        await #expect(throws: refusal) { try await client.setWeight(0, ofTenant: "acme") }
        try await client.pause(queue: "web")
        let begun = try await bench.begin(worker)
        let status = try await client.status()
        #expect(status.jobs.filter { $0.value > 0 } == [.available: 2, .running: 1])
        try #require(status.queues.map(\.name) == ["default", "web"])
        let web = status.queues[1]
        #expect(status.queues.map(\.background) == [nil, true] && status.queues.map(\.fair) == [nil, true])
        #expect(web.jobs[.available] == 2 && web.paused && web.maxRunning == 2 && web.oldestWaitingSeconds != nil)
        #expect(status.workers.map(\.id) == [worker] && status.workers[0].running == 1)
        try await bench.complete(begun, with: Workbench.picture(1))
        let after = try await client.status()
        #expect((after.finishedLastMinute.completed, after.thumbnails, after.blobs.bytes) == (1, 1, 4_000))
    }

    @Test func aWorkerIsAskedToEnd() async throws {
        let worker = try await bench.register()
        #expect(try await client.status().workers[0].stopping == nil)
        let asked = try await client.stopWorker(worker)
        #expect((asked.id, asked.stopping) == (worker, .drain))
        #expect(try await client.stopWorker(worker, .now).stopping == .now)
        await #expect(throws: CameoError.noSuchWorker("other")) { try await client.stopWorker("other") }
    }

    @Test func aCopyIsAStoreThatIsSound() async throws {
        let picture = Workbench.picture(1, bytes: 150_000)
        let uri = try await client.store(picture)
        _ = try await enqueue("a")
        let copy = bench.folder.path("copy")
        let backup = try await client.backUp(to: copy)
        #expect((backup.jobs, backup.blobs, backup.damaged) == (1, 1, []))
        let other = try Client(store: copy)
        #expect(try await other.data(for: uri) == picture)
        #expect(try await other.check().allSatisfy { $0.severity != .error })
        try await bench.damage(picture)
        let damaged = try await client.check().filter { $0.severity == .error }
        #expect(damaged.map(\.subject) == ["blobs"])
        try await expectInvalid("path") { _ = try await client.backUp(to: copy) }
    }

    /// Rank is time and priority; a key of the program's own is what makes two requests one job.
    @Test func whatARequestAsksOfTheQueueIsKept() async throws {
        let worker = try await bench.register()
        _ = try await enqueue("a")
        let urgent = try await enqueue("b") { $0.priority = 5 }
        let begun = try await bench.begin(worker)
        #expect(try await client.status(of: urgent).state == .running)
        try await bench.complete(begun, with: Workbench.picture(1))
        let keyed = try await enqueue("c") { $0.uniqueKey = "profile of 7" }
        #expect(try await enqueue("d") { $0.uniqueKey = "profile of 7" } == keyed)
        let again = try await enqueue("b") { $0.refresh = .always }
        #expect(again != urgent)
        let waiting = try await enqueue("e") { $0.retry = RetryOverride(base: 100, cap: 100, jitter: 0) }
        #expect(try await client.status(of: waiting).state == .available)
    }

    /// Killed before it deletes the row, a program enqueues it again.
    @Test func aRequestKeptAsJSONIsEnqueuedAsItWas() async throws {
        var request = ThumbnailRequest(source: "file:///a.jpg", renditions: [Rendition(name: "small", width: 64)])
        (request.queue, request.batch, request.headers) = ("web", "b", ["authorization": "Bearer 1"])
        let text = request.json.canonicalText
        #expect(try ThumbnailRequest(parsing: text.utf8) == request && !text.contains("\n"))
        var jobs: [EnqueueReceipt] = []
        try await empty([(1, text), (1, text)], client) { _, job in jobs.append(job) }
        #expect(jobs.map(\.outcome) == [.accepted, .joined] && jobs[0].id == jobs[1].id)
        request.maxAttempts = 0
        let refused = request
        let error = #expect(throws: InvalidRequest.self) { () throws in try refused.validate() }
        #expect(error?.path == "maxAttempts")
    }

    /// The program has it open while a newer one brings the tables up to date.
    @Test func aStoreThatANewerVersionTookOverRefusesWhatIsNewAndServesWhatIsThere() async throws {
        let uri = try await client.store(Workbench.picture(1))
        let id = try await enqueue("a")
        let raised = try await run("sqlite3", ["\(bench.path)/cameo.sqlite", "PRAGMA user_version = 99"])
        #expect(raised.exitStatus == 0, "\(raised.errorText)")
        let error = await #expect(throws: CameoError.self) { try await enqueue("b") }
        guard case .storeUnavailable(let reason) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("schema version 99, made by a newer Cameo"))
        #expect(try await client.status(of: id).state == .available)
        #expect(try await client.data(for: uri) == Workbench.picture(1))
    }
}
