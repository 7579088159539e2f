import CameoModel
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CameoStore

/// One random sequence of operations on a real store and on the model of it.
struct ModelRun {
    /// What may happen; the operations on a job are counted by the state that it is in.
    enum Operation: String, CaseIterable {
        case enqueue, insert, claim, complete, fail, discard, release, cancel, retry, snooze, tornCancel, tornRetry,
            remove
        case expire, crash, advance, pause, limit, reopen
    }

    /// An operation and the state of the job that it met; nil where there was none.
    struct Pair: Hashable, CustomStringConvertible {
        let operation: Operation
        let state: JobState?
        var description: String { "\(operation.rawValue) \(state?.rawValue ?? "-")" }
    }

    private struct Torn: Error {}

    private struct HeldClaim {
        let claim: Claim
        let number: Int
    }

    /// More would only be more to compare.
    private static let mostJobs = 24
    private static let queues = ["a", "b"]
    private static let keys = ["k", "l"]

    private let clock = SettableClock()
    private let folder: TemporaryFolder
    private var store: Store
    private var model = QueueModel()
    private var random: SeededRandom
    private var claims: [HeldClaim] = []
    private var registrations: [String: WorkerRegistration] = [:]
    private var workersSoFar = 0
    private(set) var pairs: [Pair: Int] = [:]

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        // Memory: a sequence is five hundred commits, and this is not about what a power cut leaves.
        folder = try TemporaryFolder(in: "/dev/shm")
        store = try Store(at: folder.path("store"), clock: clock.storeClock)
    }

    /// - Throws: at the first step after which store and model differ.
    mutating func run(steps: Int) async throws {
        for step in 1...steps {
            let operation = try #require(Operation.allCases.randomElement(using: &random))
            try await perform(operation)
            let (expected, found) = (model.text, try await text())
            guard expected == found else { throw Disagreement(step: step, operation: operation, expected, found) }
        }
        let findings = try await store.check().filter { $0.severity == .error }
        #expect(findings == [])
    }

    private var now: Int64 { clock.storeClock.now().milliseconds }

    private func text() async throws -> String {
        try await store.read { db in
            let jobs = try String.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT id || ' ' || state || ' ' || priority || ' ' || available_at || ' ' || attempt || ' '
                          || crash_count || ' ' || coalesce(worker, '-') || ' ' || coalesce(superseded_by, '-')
                        FROM job ORDER BY id
                        """
                )
            )
            let batches = try String.fetchAll(
                db.cachedStatement(sql: "SELECT job_id || ' ' || batch FROM batch_job ORDER BY job_id, batch")
            )
            return (jobs + batches).joined(separator: "\n")
        }
    }

    private mutating func note(_ operation: Operation, _ state: JobState?) {
        pairs[Pair(operation: operation, state: state), default: 0] += 1
    }

    private mutating func someJob() -> ModelJob? {
        model.jobs.values.sorted { $0.id < $1.id }.randomElement(using: &random)
    }

    // MARK: - The operations

    private mutating func perform(_ operation: Operation) async throws {
        switch operation {
        case .enqueue: try await enqueue()
        case .insert: try await insert()
        case .claim: try await claim()
        case .complete, .fail, .discard, .release: try await settle(operation)
        case .cancel, .retry, .snooze, .tornCancel, .tornRetry, .remove: try await byHand(operation)
        case .expire, .crash: try await loseWorker(operation)
        case .advance: clock.advance(seconds: Double(Int.random(in: 1...40, using: &random)))
        case .pause: try await pause()
        case .limit: try await limit()
        case .reopen: store = try Store(at: store.directory.path, clock: clock.storeClock)
        }
    }

    private mutating func request() -> (request: ThumbnailRequest, job: ModelJob) {
        let source = Int.random(in: 0..<4, using: &random)
        var request = StoreFixture.request("file:///\(source)")
        request.queue = Self.queues.randomElement(using: &random) ?? "a"
        request.priority = Int.random(in: -2...2, using: &random)
        request.maxAttempts = Int.random(in: 1...3, using: &random)
        if random.chance(0.3) {
            request.runAt = clock.storeClock.now().addingTimeInterval(Double(Int.random(in: 1...90, using: &random)))
        }
        if random.chance(0.5) { request.concurrencyKey = Self.keys.randomElement(using: &random) }
        if random.chance(0.4) { request.batch = ["x", "y"].randomElement(using: &random) }
        let job = ModelJob(
            id: model.lastID + 1,
            source: source,
            queue: request.queue,
            concurrencyKey: request.concurrencyKey,
            maxAttempts: request.maxAttempts,
            priority: request.priority,
            availableAt: request.runAt?.milliseconds ?? now,
            state: request.runAt == nil ? .available : .scheduled,
            batches: request.batch.map { [$0] } ?? [],
            isNamed: true,
            isStanding: true
        )
        return (request, job)
    }

    private mutating func enqueue() async throws {
        guard model.jobs.count < Self.mostJobs else { return try await removeOne() }
        let (request, job) = request()
        model.nameWaitingJobs(now: now)
        let twin = model.standing(for: job.uniqueKey)
        let last = model.jobs.values.filter { $0.uniqueKey == job.uniqueKey }.max { $0.id < $1.id }
        note(.enqueue, (twin ?? last)?.state)
        let receipt = try await store.enqueue([request])[0]
        if let twin {
            #expect((receipt.outcome, receipt.id) == (.joined, twin.id))
            model.join(twin.id, priority: job.priority, time: job.availableAt, batches: job.batches, now: now)
        } else {
            #expect((receipt.outcome, receipt.id) == (.accepted, job.id))
            model.insert(job)
        }
    }

    /// As a producer in another language does, whose rows have no key.
    private mutating func insert() async throws {
        guard model.jobs.count < Self.mostJobs else { return try await removeOne() }
        var (request, job) = request()
        job.isNamed = false
        job.isStanding = false
        note(.insert, nil)
        let (text, time) = (request.json.canonicalText, now)
        try await store.commit { db in
            try db.execute(sql: "INSERT INTO job(request, created_at) VALUES (?, ?)", arguments: [text, time])
        }
        model.insert(job)
    }

    private mutating func worker() async throws -> String {
        let alive = model.workers.filter(\.value.isAlive).keys.sorted()
        if alive.count >= 2, let name = alive.randomElement(using: &random) { return name }
        workersSoFar += 1
        let name = "w\(workersSoFar)"
        registrations[name] = try await store.register(id: name, host: "h", pid: 1, version: "v", concurrency: 4)
        model.workers[name] = QueueModel.Worker(leaseUntil: clock.storeClock.uptime() + Store.leaseMilliseconds)
        return name
    }

    private mutating func claim() async throws {
        let name = try await worker()
        if let registration = registrations[name] { try await store.extendLease(registration) }
        model.workers[name]?.leaseUntil = clock.storeClock.uptime() + Store.leaseMilliseconds
        let (limit, areSuspects) = (Int.random(in: 1...4, using: &random), random.chance(0.2))
        let jobs = try await store.claim(limit: limit, kind: areSuspects ? .suspect : .usual, for: name)
        let expected = model.claim(limit, suspects: areSuspects, for: name, now: now)
        #expect(jobs.map(\.claim.jobID) == expected)
        note(.claim, expected.isEmpty ? nil : .available)
        for job in jobs {
            let number = model.jobs[job.claim.jobID]?.claims ?? 0
            claims.append(HeldClaim(claim: job.claim, number: number))
        }
        claims.removeFirst(max(0, claims.count - 16))
    }

    private mutating func settle(_ operation: Operation) async throws {
        guard let held = claims.randomElement(using: &random) else { return }
        let id = held.claim.jobID
        note(operation, model.jobs[id]?.state)
        let holds = model.holds(id, held.number)
        let retryAt = clock.storeClock.now().addingTimeInterval(Double(Int.random(in: 0...60, using: &random)))
        do throws(StoreError) {
            switch operation {
            case .complete:
                try await store.complete(held.claim, keeping: [], seen: nil, timings: AttemptTimings())
                model.finish(id, as: .completed)
            case .fail:
                let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
                try await store.fail(held.claim, with: failure, retryAt: retryAt, timings: AttemptTimings())
                model.putBack(id, retryAt: retryAt.milliseconds, charged: true, now: now)
            case .discard:
                let failure = JobFailure(.imageCorrupt, at: .render, "cut off")
                try await store.fail(held.claim, with: failure, retryAt: nil, timings: AttemptTimings())
                model.finish(id, as: .discarded)
            default:
                try await store.release(held.claim)
                model.putBack(id, retryAt: nil, charged: false, now: now)
            }
            #expect(holds, "a claim that was lost settled job \(id)")
        } catch {
            #expect(error == .leaseLost(jobID: id) && !holds)
        }
    }

    private mutating func byHand(_ operation: Operation) async throws {
        guard let job = someJob() else { return }
        let (id, time) = (job.id, now)
        switch operation {
        case .cancel:
            #expect(try await store.cancel(id) == job.state)
            model.cancel(id)
        case .retry:
            #expect(try await store.retry(id).before == job.state)
            model.retry(id, now: time)
        case .snooze:
            let until = clock.storeClock.now().addingTimeInterval(Double(Int.random(in: 0...60, using: &random)))
            #expect(try await store.snooze(id, until: until) == job.state)
            model.snooze(id, until: until.milliseconds)
        case .remove: return try await removeOne()
        default:
            // The process dies inside the transaction: nothing of it is there afterwards.
            await #expect(throws: StoreError.self) {
                try await store.commit { db in
                    if operation == .tornCancel {
                        _ = try Store.cancel(id, now: time, db)
                    } else {
                        _ = try Store.retry(id, now: time, db)
                    }
                    throw Torn()
                }
            }
        }
        note(operation, job.state)
    }

    /// As retention does.
    private mutating func removeOne() async throws {
        let ended = model.jobs.values.filter(\.state.isFinal).sorted { $0.id < $1.id }
        guard let job = ended.randomElement(using: &random) else { return }
        note(.remove, job.state)
        try await store.commit { db in try db.execute(sql: "DELETE FROM job WHERE id = ?", arguments: [job.id]) }
        model.jobs[job.id] = nil
    }

    /// A worker dies, or falls silent for longer than its lease; then somebody looks.
    private mutating func loseWorker(_ operation: Operation) async throws {
        let alive = model.workers.filter(\.value.isAlive).keys.sorted()
        guard let name = alive.randomElement(using: &random) else { return }
        let isBusy = model.jobs.values.contains { $0.worker == name }
        note(operation, isBusy ? .running : nil)
        if operation == .crash {
            registrations[name] = nil  // closes the lock file, as the kernel does when a process dies
            model.workers[name]?.isAlive = false
        } else {
            clock.advance(seconds: 31)
        }
        model.rescue(uptime: clock.storeClock.uptime(), now: now)
        var seen: [String] = []
        // Other tests start programs, and between fork and exec such a child has a copy of the lock.
        repeat {
            seen += try await store.rescueExpired(except: nil).workers
        } while operation == .crash && !seen.contains(name)
    }

    private mutating func pause() async throws {
        guard let queue = Self.queues.randomElement(using: &random) else { return }
        note(.pause, nil)
        if model.paused.remove(queue) != nil {
            _ = try await store.resume(queue)
        } else {
            _ = try await store.pause(queue, unknown: .created)
            model.paused.insert(queue)
        }
    }

    private mutating func limit() async throws {
        note(.limit, nil)
        let count = Int.random(in: 1...4, using: &random)
        if random.chance(0.5), let key = Self.keys.randomElement(using: &random) {
            try await store.limit(key: key, to: count)
            model.keyLimits[key] = count
        } else if let queue = Self.queues.randomElement(using: &random) {
            let limit = count == 4 ? nil : count
            try await store.limit(queue: queue, to: limit, unknown: .created)
            model.queueLimits[queue] = limit
        }
    }
}

/// Store and model are no longer the same.
struct Disagreement: Error, CustomStringConvertible {
    let description: String

    init(step: Int, operation: ModelRun.Operation, _ expected: String, _ found: String) {
        let (model, store) = (Set(expected.split(separator: "\n")), Set(found.split(separator: "\n")))
        description = """
            step \(step), \(operation.rawValue): the model has \(model.subtracting(store).sorted()), \
            the store \(store.subtracting(model).sorted())
            """
    }
}
