import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

/// One random sequence of operations on a real store and its model.
struct ModelRun {
    /// The possible operations; those on a job are counted by its state.
    enum Operation: String, CaseIterable {
        case enqueue, insert, claim, complete, fail, discard, release, cancel, retry, snooze, tornCancel, tornRetry,
            remove
        case expire, crash, advance, jump, prune, pause, limit, reopen
    }

    /// An operation and the state of its job; nil if there was none.
    struct Pair: Hashable, CustomStringConvertible {
        let operation: Operation
        let state: JobState?
        var description: String { "\(operation.rawValue) \(state?.rawValue ?? "-")" }
    }

    struct HeldClaim {
        let claim: Claim
        let number: Int
    }

    /// The maximum number of jobs; more would only take longer to compare.
    static let mostJobs = 24
    static let queues = ["a", "b"]
    static let keys = ["k", "l"]
    static let tenants = ["k", "t", "u"]

    let clock = ConformanceClock()
    /// Used to read tables, to insert rows by SQL, and to interrupt transactions.
    let engine: any ModelEngine
    /// Operations go through the store's protocols.
    private(set) var store: any Store
    var model: QueueModel
    var random: SeededRandom
    var claims: [HeldClaim] = []
    /// The store as opened by each living worker's process.
    var homes: [String: any Store] = [:]
    var workersSoFar = 0
    private(set) var pairs: [Pair: Int] = [:]

    init(_ engine: any ModelEngine, seed: UInt64) async throws {
        self.engine = engine
        random = SeededRandom(seed: seed)
        model = QueueModel(silenceOfTheDead: engine.silenceOfTheDead)
        store = try await engine.makeStore(clock: clock)
    }

    /// - Throws: ``Disagreement`` at the first step after which store and model differ.
    mutating func run(steps: Int) async throws {
        for step in 1...steps {
            let operation = try #require(Operation.allCases.randomElement(using: &random))
            try await perform(operation)
            let (expected, found) = (model.text, try await text())
            guard expected == found else { throw Disagreement(step: step, operation: operation, expected, found) }
        }
        #expect(try await engine.faults(in: store) == [])
    }

    var now: Int64 { clock.now.milliseconds }

    private func text() async throws -> String {
        let jobs = try await engine.column(
            """
            SELECT job.id || coalesce(' ' || job_status.state || ' ' || task.priority || ' ' || due || ' '
                || task.attempt || ' ' || task.crash_count || ' ' || coalesce(task.worker, '-') || ' -',
              ' ' || job_status.state || ' ' || outcome.priority || ' ' || outcome.available_at || ' '
                || outcome.attempt || ' ' || outcome.crash_count || ' - '
                || coalesce(cast(outcome.superseded_by AS text), '-'),
              ' arrived')
            FROM job JOIN job_status ON job_status.id = job.id
              LEFT JOIN task ON task.id = job.id LEFT JOIN outcome ON outcome.id = job.id
            ORDER BY job.id
            """,
            of: store
        )
        let batches = try await engine.column(
            "SELECT job_id || ' ' || name FROM batch_job JOIN batch ON batch.id = batch ORDER BY job_id, name",
            of: store
        )
        return (jobs + batches).joined(separator: "\n")
    }

    mutating func note(_ operation: Operation, _ state: JobState?) {
        pairs[Pair(operation: operation, state: state), default: 0] += 1
    }

    private mutating func perform(_ operation: Operation) async throws {
        switch operation {
        case .enqueue: try await enqueue()
        case .insert: try await insert()
        case .claim: try await claim()
        case .complete, .fail, .discard, .release: try await settle(operation)
        case .cancel, .retry, .snooze, .tornCancel, .tornRetry, .remove: try await byHand(operation)
        case .expire, .crash: try await loseWorker(operation)
        case .advance: clock.advance(seconds: Double(Int.random(in: 1...40, using: &random)))
        case .jump: try await jump()
        case .prune: try await prune()
        case .pause: try await pause()
        case .limit: try await limit()
        case .reopen: store = try await engine.another(store, clock: clock)
        }
    }
}
