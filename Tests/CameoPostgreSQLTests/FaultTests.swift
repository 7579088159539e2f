import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// What a lost connection or server costs: time, and never a job.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct FaultTests {
    private let server: PostgreSQLServer
    private let store: PostgreSQLStore

    init() async throws {
        // Its own, because others must not be disturbed.
        server = try await PostgreSQLServer()
        store = try PostgreSQLStore(DatabaseURL(server.newURL()))
    }

    private var schema: String { store.url.schema }

    private func sql(_ statements: String) async throws -> String { try await server.sql(statements, schema: schema) }

    /// Ends connections of stores.
    private func terminate(where condition: String = "true") async throws {
        _ = try await sql(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND (\(condition))
            """
        )
    }

    /// Enqueues jobs one by one and runs them while something disturbs the server, and checks that each was done once.
    private func work(_ count: Int, while disturb: () async throws -> Void) async throws {
        let (producer, worker) = (try PostgreSQLStore(store.url), try PostgreSQLStore(store.url))
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

    @Test func killedConnectionsLoseAndDoubleNothing() async throws {
        try await work(300) {
            for _ in 0..<20 {
                try await Task.sleep(for: .milliseconds(60))
                try await terminate()
            }
        }
    }

    @Test(arguments: [PostgreSQLServer.Stop.fast, .immediate])
    func aServerThatRestartsLosesAndDoublesNothing(how: PostgreSQLServer.Stop) async throws {
        try await work(200) {
            for _ in 0..<2 {
                try await Task.sleep(for: .milliseconds(300))
                try await server.stop(how)
                try await Task.sleep(for: .milliseconds(300))
                try await server.start()
            }
        }
    }

    /// The commit waits for a standby that does not exist, so that it is done when the connection ends, and its answer
    /// never comes.
    @Test func aCommitWhoseAnswerIsLostIsNotRepeated() async throws {
        _ = try await sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'; SELECT pg_reload_conf()")
        let enqueueing = Task { try await store.enqueue([StoreFixture.request()])[0] }
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        while try await sql(waits) != "1" { try Task.checkCancellation() }
        _ = try await sql("ALTER SYSTEM RESET synchronous_standby_names")
        try await terminate(where: "wait_event = 'SyncRep'")
        _ = try await sql("SELECT pg_reload_conf()")
        let receipt = try await enqueueing.value
        #expect((receipt.outcome, receipt.id) == (.accepted, 1))
        #expect(try await sql("SELECT id FROM job") == "1")
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1])
    }

    /// The connection ends in the midst of the commit, which is undone.
    @Test func aCommitThatFailedWithItsConnectionIsRepeated() async throws {
        _ = try await sql(
            """
            CREATE SEQUENCE fault;
            CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
              BEGIN
                IF nextval('fault') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(9); END IF;
                RETURN NULL;
              END $$;
            CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON accepted DEFERRABLE INITIALLY DEFERRED
              FOR EACH ROW EXECUTE FUNCTION die()
            """
        )
        let receipt = try await store.enqueue([StoreFixture.request()])[0]
        #expect(receipt.outcome == .accepted)
        #expect(try await sql("SELECT count(*) FROM job") == "1")
        #expect(try await sql("SELECT last_value FROM fault") == "2")
    }

    @Test func whoeverListensIsWokenAfterItsConnectionWasLost() async throws {
        var wakeUps = store.wakeUps { .milliseconds(1) }.makeAsyncIterator()
        await wakeUps.next()
        let listening = "query LIKE 'LISTEN%'"
        while try await sql("SELECT count(*) FROM pg_stat_activity WHERE \(listening) AND pid <> pg_backend_pid()")
            != "1"
        {
            try Task.checkCancellation()
        }
        try await terminate(where: listening)
        // A new connection wakes by itself; each commit after that does too.
        await wakeUps.next()
        for number in 0..<3 {
            _ = try await sql(
                "INSERT INTO job(request) VALUES ('{\"source\":\"file:///\(number)\",\"renditions\":[{\"width\":9}]}')"
            )
            await wakeUps.next()
        }
    }

    /// The outage was longer than their leases, which they could not extend meanwhile.
    @Test func workersKeepTheirJobsWhileTheServerIsAway() async throws {
        let description = WorkerDescription(id: "w1", host: "h", pid: 1, version: "1", concurrency: 8)
        try await store.register(description)
        _ = try await store.enqueue([StoreFixture.request()])
        let job = try #require(try await store.claim(limit: 1, for: "w1").first)
        _ = try await sql("UPDATE worker SET lease_until = 0")
        #expect(try await PostgreSQLStore(store.url).rescueExpired(except: "me").workers == [])
        try await store.complete(job)
        #expect(try await store.job(1).state == .completed)
    }

    @Test func aServerThatStaysAwayIsAnErrorThatNamesIt() async throws {
        try await server.stop(.fast)
        let failure = await #expect(throws: StoreError.self) { try await store.enqueue([StoreFixture.request()]) }
        guard case .unreachable(let location, _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(location == store.location)
        try await server.start()
        #expect(try await store.enqueue([StoreFixture.request()])[0].id == 1)
    }
}
