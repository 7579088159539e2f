import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// PgBouncer in transaction mode, with fewer connections to the server than there are clients.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct PoolerTests {
    private static let size = 2

    private let server: PostgreSQLServer
    private let pooler: PgBouncer
    private let url: DatabaseURL

    init() async throws {
        // Its own, because its connections are counted and it restarts.
        server = try await PostgreSQLServer()
        pooler = try await PgBouncer(before: server, size: Self.size)
        url = try DatabaseURL(pooler.url(ofSchema: "pooled"))
    }

    private func sql(_ statements: String) async throws -> String { try await server.sql(statements, schema: "pooled") }

    @Test func manyClientsShareFewConnections() async throws {
        let stores = try (0..<12).map { _ in try PostgreSQLStore(url) }
        for (index, store) in stores.enumerated() {
            try await store.register(
                WorkerDescription(id: "w\(index)", host: "h", pid: 1, version: "1", concurrency: 4)
            )
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, store) in stores.enumerated() {
                group.addTask {
                    for number in 0..<20 {
                        _ = try await store.enqueue([StoreFixture.request("file:///\(index)/\(number)")])
                        for job in try await store.claim(limit: 2, for: "w\(index)") { try await store.complete(job) }
                        _ = try await store.status()
                        try await store.extendLease(of: "w\(index)")
                    }
                    while case let jobs = try await store.claim(limit: 8, for: "w\(index)"), !jobs.isEmpty {
                        for job in jobs { try await store.complete(job) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await sql("SELECT state, count(*), max(attempt) FROM outcome GROUP BY state") == "4|240|1")
        #expect(try await sql("SELECT count(*) FROM task") == "0")
        // The server shows a connection until its process has ended, which is after its client has gone: also psql's.
        let connections = """
            SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> 'psql'
            """
        try await eventually("as many connections as the pooler may have") {
            (1...Self.size).contains(try #require(Int(await sql(connections))))
        }
    }

    @Test func aPoolerWithoutAFreeConnectionIsNamedWithinSeconds() async throws {
        let few = try await PgBouncer(before: server, size: 1, mode: "session")
        let url = try DatabaseURL(few.url(ofSchema: "pooled"))
        let first = try Connection(url)
        let error = #expect(throws: DatabaseError.self) { try Connection(url) }
        #expect(error?.isConnectionLost == true)
        let text = "no answer within 7 seconds. \(Connection.need)"
        #expect(error?.message.contains(text) == true, "\(String(describing: error))")
        // The next attempts share what is left of the patience.
        let queue = ConnectionQueue(url, name: "another", patience: .seconds(13))
        let last = await #expect(throws: DatabaseError.self) {
            try await queue.perform { try queue.withConnection { $0.isUsable } }
        }
        let told = last?.message ?? ""
        #expect(told.contains(Connection.need) && !told.contains("within 7 seconds"), "\(told)")
        #expect(first.isUsable)
    }

    @Test func aPoolerOfStatementsIsNamedWhenTheStoreIsOpened() async throws {
        let pooler = try await PgBouncer(before: server, size: 1, mode: "statement")
        let url = try DatabaseURL(pooler.url(ofSchema: "pooled"))
        let error = #expect(throws: StoreError.self) { try PostgreSQLStore(url) }
        #expect(error?.description.contains("statement pooling mode") == true, "\(String(describing: error))")
    }

    @Test func nothingIsPreparedBehindAPooler() throws {
        _ = try PostgreSQLStore(url)
        let connection = try Connection(url)
        for number in 1...4 {
            #expect(try connection.run("SELECT $1::integer", [number], prepared: true).rows[0][0] == number)
        }
        #expect(try connection.run("SELECT count(*) FROM pg_prepared_statements").rows[0][0] == 0)
    }

    @Test func jobsAreFoundWithoutListening() async throws {
        let store = try PostgreSQLStore(url)
        let direct = try Connection(DatabaseURL(server.url(ofSchema: "pooled")))
        #expect(!direct.isPooled)
        var wakeUps = store.wakeUps { .milliseconds(1) }.makeAsyncIterator()
        await wakeUps.next()
        while !store.listener.isPooled {
            try Task.checkCancellation()
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await sql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'") == "0")
        // The first look of the stream has a version to compare with.
        try await Task.sleep(for: .milliseconds(600))
        for number in 0..<3 {
            _ = try await sql(
                "INSERT INTO job(request) VALUES ('{\"source\":\"file:///\(number)\",\"renditions\":[{\"width\":9}]}')"
            )
            await wakeUps.next()
        }
    }

    @Test func aPoolersRestartLosesAndDoublesNothing() async throws {
        _ = try PostgreSQLStore(url)
        try await Workload(server: server, store: url).run(200) {
            for _ in 0..<3 {
                try await Task.sleep(for: .milliseconds(200))
                try await pooler.stop()
                try await Task.sleep(for: .milliseconds(200))
                try await pooler.start()
            }
        }
    }

    @Test(arguments: [PostgreSQLServer.Stop.fast, .immediate])
    func aServersRestartBehindItLosesAndDoublesNothing(how: PostgreSQLServer.Stop) async throws {
        _ = try PostgreSQLStore(url)
        try await Workload(server: server, store: url).run(100) {
            try await Task.sleep(for: .milliseconds(200))
            try await server.stop(how)
            try await Task.sleep(for: .milliseconds(200))
            try await server.start()
        }
    }
}

/// Pgpool-II, which sends what only reads to a standby.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct PgpoolTests {
    @Test func jobsAreFoundAndDone() async throws {
        let server = try await PostgreSQLServer()
        let pooler = try await Pgpool(before: server)
        defer { withExtendedLifetime(pooler) {} }
        let url = try DatabaseURL(pooler.url(ofSchema: "pooled"))
        let store = try PostgreSQLStore(url)
        try await Workload(server: server, store: url).run(40) {
            #expect(try await store.status().schemaVersion == Schema.currentVersion)
            _ = try await store.version()
        }
    }

    /// The standby lacks what came last: a reader that has it is told, and goes on where the two part.
    @Test func aPromotedStandbyIsAnotherEpochOfTheFeed() async throws {
        let server = try await PostgreSQLServer()
        let pooler = try await Pgpool(before: server)
        let store = try PostgreSQLStore(DatabaseURL(server.url(ofSchema: "epochs")))
        for index in 0..<3 { _ = try await store.enqueue([Fixture.request(index)]) }
        let seen = try await store.changes(since: FeedCursor(0), limit: 9)
        #expect(seen.changes.count == 3 && seen.gap == nil)
        let url = try DatabaseURL(pooler.standby(ofSchema: "epochs"))
        try await eventually("the standby has them") {
            (try? await PostgreSQLStore(url, .readOnly).changes(since: FeedCursor(0), limit: 9).next) == seen.next
        }
        try await pooler.promote()
        // What the server has now is lost.
        for index in 3..<5 { _ = try await store.enqueue([Fixture.request(index)]) }
        let vain = try await store.changes(since: seen.next, limit: 9).next
        #expect(vain == FeedCursor(5, in: seen.next.epoch))

        let promoted = try PostgreSQLStore(url)
        _ = try await promoted.enqueue([Fixture.request(9)])
        let page = try await promoted.changes(since: seen.next, limit: 9)
        #expect(page.gap == nil && page.changes.map(\.cursor) == [4] && page.next.epoch != seen.next.epoch)
        let told = try await promoted.changes(since: vain, limit: 9)
        #expect(told.gap == 4...5 && told.changes.map(\.cursor) == [4] && told.next == page.next)
        // Counted since the promotion.
        #expect(try await promoted.metrics().counters[.changes] == 1)
    }
}

/// The main promises of a store, kept through PgBouncer.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct PoolerConformanceTests {
    private static let started = Task {
        let server = try await PostgreSQLServer.shared()
        return (server: server, pooler: try await PgBouncer(before: server, size: 3))
    }

    @Test(arguments: TestLength.few(ConformanceCase.main, whole: 20))
    func keeps(_ promise: ConformanceCase) async throws {
        let (server, pooler) = try await Self.started.value
        let engine = PostgreSQLEngine(server: server) { clock in
            let schema = try DatabaseURL(server.newURL()).schema
            return try PostgreSQLStore(DatabaseURL(pooler.url(ofSchema: schema)), clock: clock)
        }
        try await promise.run(try await Fixture(engine))
    }
}
