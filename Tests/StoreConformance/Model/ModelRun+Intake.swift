import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

// How jobs are enqueued.
extension ModelRun {
    private mutating func request() -> (request: ThumbnailRequest, job: ModelJob) {
        let source = Int.random(in: 0..<4, using: &random)
        var request = Fixture.request("file:///\(source)")
        request.queue = Self.queues.randomElement(using: &random) ?? "a"
        request.priority = Int.random(in: -2...2, using: &random)
        request.maxAttempts = Int.random(in: 1...3, using: &random)
        if random.chance(0.3) {
            request.runAt = clock.now.addingTimeInterval(Double(Int.random(in: 1...90, using: &random)))
        }
        if random.chance(0.5) { request.concurrencyKey = Self.keys.randomElement(using: &random) }
        if random.chance(0.4) { request.tenant = Self.tenants.randomElement(using: &random) }
        if random.chance(0.4) { request.batch = ["x", "y"].randomElement(using: &random) }
        let job = ModelJob(
            id: model.lastID + 1,
            source: source,
            queue: request.queue,
            concurrencyKey: request.concurrencyKey,
            tenant: request.tenant,
            maxAttempts: request.maxAttempts,
            priority: request.priority,
            availableAt: request.runAt?.milliseconds ?? now,
            state: request.runAt == nil ? .available : .scheduled,
            batches: request.batch.map { [$0] } ?? [],
            isAccepted: true
        )
        return (request, job)
    }

    mutating func enqueue() async throws {
        guard model.jobs.count < Self.mostJobs else { return try await removeOne() }
        let (request, job) = request()
        model.acceptArrivals(now: now)
        let duplicate = model.waitingJob(for: job.uniqueKey)
        let last = model.jobs.values.filter { $0.uniqueKey == job.uniqueKey }.max { $0.id < $1.id }
        note(.enqueue, (duplicate ?? last)?.state)
        let receipt = try await store.enqueue([request])[0]
        if let duplicate {
            #expect((receipt.outcome, receipt.id) == (.joined, duplicate.id))
            model.join(duplicate.id, priority: job.priority, time: job.availableAt, batches: job.batches, now: now)
        } else {
            #expect((receipt.outcome, receipt.id) == (.accepted, job.id))
            model.insert(job)
        }
    }

    /// Inserts rows like a producer in another language; they must be accepted later.
    mutating func insert() async throws {
        guard model.jobs.count < Self.mostJobs else { return try await removeOne() }
        var (request, job) = request()
        job.isAccepted = false
        note(.insert, nil)
        try await engine.insert(request.json.canonicalText, at: now, in: store)
        model.insert(job)
    }
}
