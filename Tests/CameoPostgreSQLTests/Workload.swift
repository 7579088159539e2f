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
        let producing = Task {
            var ids: [Int64] = []
            for number in 0..<count {
                let receipt = try await producer.enqueue([StoreFixture.request("file:///\(number)")])[0]
                #expect(receipt.outcome == .accepted)
                ids.append(try #require(receipt.id))
            }
            return ids
        }
        let working = Task {
            var ended: Set<Int64> = []
            while ended.count < count {
                for job in try await worker.claim(limit: 8, for: "w1") {
                    try await worker.complete(job)
                    #expect(ended.insert(job.claim.jobID).inserted)
                }
            }
        }
        try await disturb()
        let ids = try await producing.value
        try await working.value
        #expect(Set(ids).count == count)
        #expect(try await sql("SELECT count(*) FROM job") == "\(count)")
        #expect(try await sql("SELECT state, count(*), max(attempt) FROM outcome GROUP BY state") == "4|\(count)|1")
        #expect(try await sql("SELECT count(*) FROM task") == "0")
        #expect(try await sql("SELECT completed, running, available FROM queue_total") == "\(count)|0|0")
    }
}
