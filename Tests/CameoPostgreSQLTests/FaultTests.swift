import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Synchronization
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

    private func work(_ count: Int, while disturb: () async throws -> Void) async throws {
        try await Workload(server: server, store: store.url).run(count, while: disturb)
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

    /// Nothing of the transaction had reached the disk, so that after the crash its id is another's, which is committed.
    @Test func aCommitThatTheServersCrashUndidIsRepeated() async throws {
        _ = try await sql(
            """
            ALTER SYSTEM SET wal_writer_delay = '10s';
            ALTER SYSTEM SET wal_writer_flush_after = '1GB';
            SELECT pg_reload_conf();
            CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$
              BEGIN PERFORM pg_sleep(30); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER lingers AFTER INSERT ON accepted DEFERRABLE INITIALLY DEFERRED
              FOR EACH ROW EXECUTE FUNCTION linger();
            CREATE TABLE written(id integer);
            INSERT INTO written VALUES (0)
            """
        )
        let id = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
        let before = try #require(Int(await sql(id)))
        let enqueueing = Task { try await store.enqueue([StoreFixture.request()])[0] }
        while try await sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") != "1" {
            try Task.checkCancellation()
        }
        try await server.stop(.immediate)
        try await server.start()
        _ = try await sql("DROP TRIGGER lingers ON accepted")
        for number in 1...20 { _ = try await sql("INSERT INTO written VALUES (\(number))") }
        #expect(try await sql("SELECT pg_xact_status('\(before)')") == "committed")
        let receipt = try await enqueueing.value
        #expect(receipt.outcome == .accepted)
        #expect(try await sql("SELECT id FROM job") == String(#require(receipt.id)))
    }

    @Test(arguments: [false, true]) func whoeverListensIsWokenAfterItsConnectionWasLost(ofWork: Bool) async throws {
        let stream = ofWork ? store.wakeUpsOfWork { .milliseconds(1) } : store.wakeUps { .milliseconds(1) }
        var wakeUps = stream.makeAsyncIterator()
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

    @Test func aStoreIsOpenedOnceARestartIsOver() async throws {
        // A server of its own: it stops once its last client has gone, and says so to others until then.
        let server = try await PostgreSQLServer()
        let url = try DatabaseURL(server.newURL())
        var clients = [try Connection(url)]
        let restart = Task {
            try await server.stop(.smart)
            try await server.start()
        }
        while try await server.psql(["-c", "SELECT 1"]).exitStatus == 0 {}
        let opening = Task { try PostgreSQLStore(url) }
        try await Task.sleep(for: .milliseconds(200))
        clients = []
        try await restart.value
        #expect(clients.isEmpty)
        #expect(try await opening.value.enqueue([StoreFixture.request()])[0].id == 1)
    }

    /// Those who need another connection wait for one, as long as for a server that restarts.
    @Test func aServerWithoutFreeConnectionsCostsTime() async throws {
        _ = try await sql("ALTER SYSTEM SET max_connections = 12")
        try await server.stop(.fast)
        try await server.start()
        // The store has a connection that reads, and none that writes.
        #expect(try await store.status().count(.available) == 0)
        var held: [Connection] = []
        while let connection = try? Connection(store.url) { held.append(connection) }
        #expect(held.count >= 8)
        let enqueueing = Task { try await store.enqueue([StoreFixture.request()])[0] }
        try await Task.sleep(for: .milliseconds(500))
        held = []
        #expect(try await enqueueing.value.id == 1)
        #expect(try await sql("SELECT count(*) FROM job") == "1")
    }

    /// A process that froze in the midst of a transaction finds it ended when it goes on, and does it again.
    @Test func aTransactionThatTheServerGaveUpRunsAgain() async throws {
        let runs = Atomic(0)
        let hasThawed = Atomic(false)
        let url = store.url
        let frozen = Task {
            try await PostgreSQLStore(url).commit { db in
                try db.execute("UPDATE maintenance SET holder = 'frozen'")
                if runs.add(1, ordering: .relaxed).newValue == 1 {
                    sleep(13)
                    hasThawed.store(true, ordering: .relaxed)
                }
                try db.execute("INSERT INTO counter VALUES ('runs', '', 1)")
            }
        }
        try await eventually("the transaction runs") { runs.load(ordering: .relaxed) > 0 }
        // Its lock holds others up for no longer than the server's patience of ten seconds.
        #expect(try await sql("UPDATE maintenance SET holder = NULL RETURNING 1") == "1")
        let wasFrozen = !hasThawed.load(ordering: .relaxed)
        #expect(wasFrozen)
        try await frozen.value
        #expect(runs.load(ordering: .relaxed) == 2)
        #expect(try await sql("SELECT value FROM counter") == "1")
    }
}
