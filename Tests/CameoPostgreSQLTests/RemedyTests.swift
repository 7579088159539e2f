import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// What is done about an error of the server: the table of ``Remedy``, by every kind of call.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct RemedyTests {
    private let server: PostgreSQLServer
    private let store: PostgreSQLStore

    init() async throws {
        // Its own, because others must not be disturbed.
        server = try await PostgreSQLServer()
        store = try PostgreSQLStore(DatabaseURL(server.newURL()))
    }

    private func sql(_ statements: String) async throws -> String {
        try await server.sql(statements, schema: store.url.schema)
    }

    private static func raise(_ state: String) -> String {
        "DO $$ BEGIN RAISE EXCEPTION 'provoked' USING ERRCODE = '\(state)'; END $$"
    }

    private static let passing = [
        "57014", "40001", "40P01", "55P03", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "25006", "53300",
        "08006",
    ]

    @Test(arguments: passing) func aPassingErrorCostsNoCallAnything(state: String) async throws {
        let runs = Atomic(0)
        let fail: @Sendable (PostgreSQLTransaction) throws -> Void = { db in
            guard runs.add(1, ordering: .relaxed).newValue % 3 != 0 else { return }
            try db.execute(Self.raise(state))
        }
        try await store.commit { db in
            try db.execute("INSERT INTO queue(name) VALUES ('q')")
            try fail(db)
        }
        _ = try await store.read(fail)
        let held = try await store.hold { db -> Int? in
            try fail(db)
            return 1
        } while: {
        } finally: { db, found, _ in
            try db.execute("INSERT INTO queue(name) VALUES ('held')")
            return found
        }
        #expect(held == 1)
        #expect(runs.load(ordering: .relaxed) == 9)
        #expect(try await sql("SELECT string_agg(name, ' ' ORDER BY id) FROM queue") == "q held")
    }

    /// In the midst of it bytes have been removed, which is not done again.
    @Test func whatHoldsItsLocksGoesOnAfterACancelledStatement() async throws {
        let runs = Atomic(0)
        let held = try await store.hold { _ in
            1
        } while: {
        } finally: { db, found, _ in
            try db.execute("INSERT INTO queue(name) VALUES ('held')")
            if runs.add(1, ordering: .relaxed).newValue < 3 { try db.execute(Self.raise("57014")) }
            return found
        }
        #expect(held == 1)
        #expect(try await sql("SELECT name FROM queue") == "held")
    }

    @Test(arguments: [("57014", 4), ("55P03", 6), ("57P04", 1), ("22012", 1)])
    func anErrorThatStaysEndsTheCallAndIsNamed(state: String, times: Int) async throws {
        for writes in [true, false] {
            let runs = Atomic(0)
            let fail: @Sendable (PostgreSQLTransaction) throws -> Void = { db in
                runs.add(1, ordering: .relaxed)
                try db.execute(Self.raise(state))
            }
            let failure = await #expect(throws: StoreError.self) {
                if writes { try await store.commit(.new, fail) } else { try await store.read(fail) }
            }
            let expected: StoreError =
                switch state {
                case "57014": .cancelled(path: store.location)
                case "55P03": .busy(path: store.location)
                case "57P04": .cannotOpen(path: store.location, reason: "provoked")
                default: .refused(reason: "provoked")
                }
            #expect(failure == expected)
            #expect(runs.load(ordering: .relaxed) == times)
        }
    }

    @Test func cancelledStatementsLoseAndDoubleNothing() async throws {
        try await Workload(server: server, store: store.url).run(200) {
            for number in 0..<100 {
                try await Task.sleep(for: .milliseconds(30))
                _ = try await sql(
                    """
                    SELECT pg_cancel_backend(pid) FROM pg_stat_activity
                    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state <> 'idle'
                    """
                )
                // Beside the work, as commands do.
                if number.isMultiple(of: 10) { _ = try PostgreSQLStore(store.url) }
            }
        }
    }

    /// It waits for a lock, so that it is known which statement is cancelled.
    @Test func anExportGoesOnAfterACancelledStatement() async throws {
        _ = try await store.enqueue((0..<5).map { StoreFixture.request($0) })
        let other = try PostgreSQLStore(store.url)
        let isLocked = Atomic(false)
        let isDone = DispatchSemaphore(value: 0)
        async let lock: Void = other.commit { db in
            try db.execute("LOCK TABLE thumbnail IN ACCESS EXCLUSIVE MODE")
            isLocked.store(true, ordering: .relaxed)
            _ = isDone.wait(timeout: .now() + 60)
            // The other must not be taken for idle.
            try db.execute("SELECT 1")
        }
        try await eventually("the lock is held") { isLocked.load(ordering: .relaxed) }
        let exporting = Task {
            let kinds = Mutex<[RecordKind: Int]>([:])
            try await store.export(includingBytes: true) { kind, records in
                kinds.withLock { $0[kind, default: 0] += records.count }
            }
            return kinds.withLock { $0[.job] }
        }
        try await eventually("a statement of the export is cancelled") {
            try await sql("SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
                != "0"
        }
        isDone.signal()
        #expect(try await exporting.value == 5)
        try await lock
    }

    @Test func aStatementThatTakesTooLongRunsAgain() async throws {
        let runs = Atomic(0)
        try await store.commit { db in
            guard runs.add(1, ordering: .relaxed).newValue == 1 else { return }
            try db.execute("SELECT set_config('statement_timeout', '20', true)")
            try db.execute("SELECT pg_sleep(60)")
        }
        #expect(runs.load(ordering: .relaxed) == 2)
    }

    @Test func sessionsThatTheServerEndsWhileTheyAreIdleAreReplaced() async throws {
        _ = try await sql(
            "CREATE ROLE idler LOGIN; GRANT cameo TO idler; ALTER ROLE idler SET idle_session_timeout = '100ms'"
        )
        let idle = try PostgreSQLStore(DatabaseURL(server.url(ofSchema: store.url.schema, user: "idler")))
        for number in 0..<3 {
            #expect(try await idle.enqueue([StoreFixture.request(number)])[0].outcome == .accepted)
            #expect(try await idle.status().count(.available) == number + 1)
            try await eventually("the sessions have ended") {
                try await sql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'idler'") == "0"
            }
        }
    }

    /// While the connection is being lost the server counts as away, however long the transaction took before.
    @Test func whatTookLongIsRepeatedToo() async throws {
        let queue = ConnectionQueue(store.url, name: "test", patience: .seconds(2))
        let end = ContinuousClock.now + .seconds(3)
        let runs = Atomic(0)
        let value: Int64 = try await queue.perform {
            try queue.withConnection { connection in
                guard runs.add(1, ordering: .relaxed).newValue == 1 else {
                    return try connection.run("SELECT 1").rows[0][0]
                }
                while ContinuousClock.now < end { try connection.run("SELECT pg_sleep(0.1)") }
                try connection.run("SELECT pg_terminate_backend(pg_backend_pid())")
                return 0
            }
        }
        #expect(value == 1)
    }

    @Test func aDroppedDatabaseIsNamedAtOnce() async throws {
        _ = try await server.psql(["-c", "CREATE DATABASE gone"])
        let url = try DatabaseURL(server.newURL().replacing("/postgres?", with: "/gone?"))
        let store = try PostgreSQLStore(url)
        #expect(try await store.enqueue([StoreFixture.request()])[0].id == 1)
        _ = try await server.psql(["-c", "DROP DATABASE gone WITH (FORCE)"])
        for writes in [true, false] {
            let failure = await #expect(throws: StoreError.self) {
                if writes {
                    _ = try await store.enqueue([StoreFixture.request()])
                } else {
                    _ = try await store.status()
                }
            }
            guard case .cannotOpen(store.location, let reason)? = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
            #expect(reason.contains(#"database "gone" does not exist"#), "\(reason)")
        }
        #expect(!store.isInPlace)
        let opening = #expect(throws: StoreError.self) { try PostgreSQLStore(url) }
        #expect(
            opening?.description.contains(#"database "gone" does not exist"#) == true,
            "\(String(describing: opening))"
        )
    }

    /// A role that may have no more connections, as a server without any left, is waited for, also by who opens a store.
    @Test func aStoreIsOpenedOnceAConnectionIsFree() async throws {
        _ = try await sql("CREATE ROLE few LOGIN CONNECTION LIMIT 1; GRANT cameo TO few")
        let url = try DatabaseURL(server.url(ofSchema: store.url.schema, user: "few"))
        var held = [try Connection(url)]
        let refusal = #expect(throws: DatabaseError.self) { try Connection(url) }
        #expect(refusal?.state == "53300")
        let opening = Task { try PostgreSQLStore(url, .readWrite, patience: .seconds(600)) }
        // Two attempts of each refusal, one of which asks for its reason.
        let log = "\(server.folder)/log"
        try await eventually("it has been refused") {
            try String(contentsOfFile: log, encoding: .utf8).split(separator: "too many connections for role").count > 3
        }
        // An open store waits for a connection no longer than its patience, and may hold several.
        _ = try await sql("ALTER ROLE few CONNECTION LIMIT 20")
        held = []
        #expect(held.isEmpty)
        #expect(try await opening.value.status().count(.available) == 0)
    }
}
