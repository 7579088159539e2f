import CameoModel
import CameoStore
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// Jobs of one producer and one worker.
struct Workload {
    let server: PostgreSQLServer
    /// The store as producer and worker open it.
    let store: DatabaseURL

    private func sql(_ statements: String) async throws -> String {
        try await server.sql(statements, schema: store.schema)
    }

    /// Enqueues jobs one by one and runs them while something disturbs the server, and checks that each was done once.
    func run(_ count: Int, while disturb: () async throws -> Void) async throws {
        let (producer, worker) = (try PostgreSQLStore(store), try PostgreSQLStore(store))
        let description = WorkerDescription(id: "w1", host: "h", pid: 1, version: "1", concurrency: 8)
        try await worker.register(description)
        // Parts of the test's own task, so that its time limit ends them.
        async let producing = Self.produce(count, in: producer)
        async let working: Void = Self.work(count, in: worker)
        try await disturb()
        let ids = try await producing
        try await working
        #expect(Set(ids).count == count)
        #expect(try await sql("SELECT count(*) FROM job") == "\(count)")
        #expect(try await sql("SELECT state, count(*), max(attempt) FROM outcome GROUP BY state") == "4|\(count)|1")
        #expect(try await sql("SELECT count(*) FROM task") == "0")
        #expect(try await sql("SELECT completed, running, available FROM queue_total") == "\(count)|0|0")
    }

    private static func produce(_ count: Int, in store: PostgreSQLStore) async throws -> [Int64] {
        var ids: [Int64] = []
        for number in 0..<count {
            try Task.checkCancellation()
            let receipt = try #require(try await store.enqueue([StoreFixture.request("file:///\(number)")]).first)
            #expect(receipt.outcome == .accepted)
            ids.append(try #require(receipt.id))
        }
        return ids
    }

    private static func work(_ count: Int, in store: PostgreSQLStore) async throws {
        var ended: Set<Int64> = []
        while ended.count < count {
            try Task.checkCancellation()
            let jobs = try await store.claim(limit: 8, for: "w1")
            for job in jobs {
                try await store.complete(job)
                #expect(ended.insert(job.claim.jobID).inserted)
            }
            // It runs nothing now: the answers to these claims were lost with a connection, as those of StrayClaims.
            guard jobs.isEmpty else { continue }
            for stray in try await store.sweep(for: "w1").claims {
                do {
                    try await store.release(stray)
                } catch StoreError.leaseLost {}
            }
        }
    }
}
