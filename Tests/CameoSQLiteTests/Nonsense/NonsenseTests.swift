import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Whatever SQL inserts into the store, valid jobs complete and nothing else happens.
///
/// `CAMEO_NONSENSE_SEED=7` runs one sequence again.
@Suite(.timeLimit(.minutes(10)))
struct NonsenseTests {
    private static let goodJobs = 100

    private static var seed: UInt64 {
        ProcessInfo.processInfo.environment["CAMEO_NONSENSE_SEED"].flatMap(UInt64.init) ?? 1
    }

    @Test(.enabled(if: TestLength.isWhole, "--all")) func nonsenseNeitherStopsTheGoodJobsNorLeavesAnythingBehind()
        async throws
    {
        let folder = try TemporaryFolder(in: "/dev/shm")
        let store = try SQLiteStore(at: folder.path("store"))
        let good = try Self.insert(TestLength.rounds(2_000, full: 10_000), into: store)
        try #require(good.count == Self.goodJobs)
        try await Self.look(at: store)
        try await Self.drain(store)
        #expect(try await store.states(of: good).filter { $0.value != .completed } == [:])
        #expect(try await store.unfinishedJobs(queues: nil) == 0)
        try await Self.look(at: store)
        let findings = try await store.check().filter { $0.severity != .ok && $0.subject != "sandbox" }
        #expect(findings == [])
    }

    /// - Returns: the ids of the good jobs.
    private static func insert(_ count: Int, into store: SQLiteStore) throws -> [Int64] {
        var producer = NonsenseProducer(seed: seed)
        var (good, refused) = ([Int64](), 0)
        let stranger = try SQLiteClient(store.directory.database)
        for page in 0..<10 {
            try stranger.run("BEGIN IMMEDIATE")
            for row in 0..<(count / 10) {
                let statement = producer.next()
                do {
                    try stranger.run(statement.sql, statement.bytes.map { Data($0) })
                } catch is SQLiteClient.Failure {
                    refused += 1
                }
                guard row % (count / Self.goodJobs) == 0 else { continue }
                let request = StoreFixture.request("file:///good/\(page)/\(row)").json.canonicalText
                let id = try stranger.run("INSERT INTO job(request) VALUES (?) RETURNING id", [request]).first?.first
                good.append(try #require(id.flatMap { $0 }.flatMap { Int64($0) }))
            }
            try stranger.run("COMMIT")
        }
        // Both the tables' constraints and acceptance must refuse some.
        #expect((count / 10...count * 9 / 10).contains(refused), "the tables refused \(refused) of \(count)")
        return good
    }

    /// Calls everything that shows jobs.
    private static func look(at store: SQLiteStore) async throws {
        var all = JobFilter()
        all.limit = .max
        for job in try await store.jobs(all) { _ = try WireFormat.encode(job) }
        for queue in try await store.status().queues {
            var filter = JobFilter()
            filter.queue = queue.name
            _ = try await store.jobs(filter)
        }
        let rows = try await store.read { db in
            try db.query("SELECT * FROM job_status").count
                + db.query("SELECT * FROM batch_status").count
        }
        #expect(rows >= goodJobs)
    }

    private static func drain(_ store: SQLiteStore) async throws {
        try await store.register(
            WorkerDescription(id: "w1", host: "host", pid: 1, version: "test", concurrency: 256)
        )
        while case let jobs = try await store.claim(limit: 256, for: "w1"), !jobs.isEmpty {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for job in jobs {
                    group.addTask {
                        var request = try job.parsedRequest()
                        if job.uploadedBytes != nil { request = try await store.absorbUpload(job) }
                        _ = try await store.beginFetch(job.claim, of: request)
                        try await store.complete(job.claim, keeping: [], seen: nil, timings: AttemptTimings())
                    }
                }
                try await group.waitForAll()
            }
        }
        try await store.deregister("w1")
    }
}
