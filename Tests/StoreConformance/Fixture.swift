internal import CameoModel
package import CameoStore
internal import Foundation
internal import Testing

/// A store for a single test case, of any engine.
package struct Fixture: StoreSteps {
    package let engine: any StoreEngine
    package let clock = ConformanceClock()
    package let numbers = Numbers()
    package let store: any Store

    package init(_ engine: any StoreEngine) async throws {
        self.engine = engine
        store = try await engine.makeStore(clock: clock)
    }

    package var faces: any Store { store }

    func another() async throws -> any Store { try await engine.another(store, clock: clock) }

    /// The same store as opened by several more processes.
    func others(_ count: Int) async throws -> [any Store] {
        var stores: [any Store] = []
        for _ in 0..<count { stores.append(try await another()) }
        return stores
    }

    /// The same store as a program opens it that only reads.
    func reader() async throws -> any Store { try await engine.reader(of: store, clock: clock) }

    @discardableResult
    package func sql(_ statements: String) async throws -> String { try await engine.sql(statements, in: store) }

    /// Hands over a picture with a request for its thumbnails, as a producer does by SQL.
    func upload(_ data: Data, _ request: String, _ columns: [String: String] = [:]) async throws {
        try await engine.upload(data, request, columns, in: store)
    }

    /// What the engine finds wrong in its rows.
    func faults() async throws -> [String] { try await engine.faults(in: store) }

    /// Enqueues jobs for the pictures from a number on, which others may have been enqueued for before.
    @discardableResult
    func enqueue(_ count: Int, from first: Int, change: (inout ThumbnailRequest) -> Void = { _ in }) async throws
        -> [EnqueueReceipt]
    {
        try await store.enqueue((first..<(first + count)).map { Self.request($0, change: change) })
    }

    func claim(_ limit: Int = 1, _ kind: ClaimKind = .usual, queues: [String]? = nil, for worker: String = "w1")
        async throws -> [ClaimedJob]
    {
        try await store.claim(limit: limit, kind: kind, queues: queues, for: worker)
    }

    /// The product that a renderer would have made.
    package static func product(
        of job: ClaimedJob,
        bytes: String = "thumbnail",
        seen: Int64 = 1,
        source: String = "picture"
    )
        throws -> JobProduct
    {
        let name = try job.parsedRequest().source
        return .rendered(
            try rendered(job, bytes: Data(bytes.utf8)),
            try provenance(of: name, seen: seen, source: source)
        )
    }

    func complete(_ job: ClaimedJob, bytes: String = "thumbnail", seen: Int64 = 1) async throws {
        let product = try Self.product(of: job, bytes: bytes, seen: seen)
        try await store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
    }

    func state(of id: Int64) async throws -> JobState { try await store.job(id).state }

    static let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")

    /// Retries the rescue of a worker, which may be delayed: other tests start programs, and between fork and exec a
    /// child has a copy of the lock.
    func rescue(_ worker: String) async throws -> RescueReport {
        while true {
            try Task.checkCancellation()
            let report = try await store.rescueExpired(except: nil)
            if report.workers.contains(worker) { return report }
        }
    }
}

/// Expects a call to fail because its claim is lost.
func expectLeaseLost(_ job: ClaimedJob, _ body: () async throws -> Void) async {
    await #expect(throws: StoreError.leaseLost(jobID: job.claim.jobID)) { try await body() }
}
