import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// The engine for fleets, whose stores are schemas of one server.
struct PostgreSQLEngine: StoreEngine {
    let server: PostgreSQLServer
    private let make: @Sendable (StoreClock) async throws -> PostgreSQLStore

    /// - Parameters:
    ///   - server: the server of the stores.
    ///   - make: another way to a new store of the server, such as through a pooler.
    init(server: PostgreSQLServer, make: (@Sendable (StoreClock) async throws -> PostgreSQLStore)? = nil) {
        self.server = server
        self.make = make ?? { try PostgreSQLStore(DatabaseURL(server.newURL()), clock: $0) }
    }

    func makeStore(clock: ConformanceClock) async throws -> any Store { try await make(clock.storeClock) }

    func another(_ store: any Store, clock: ConformanceClock) async throws -> any Store {
        try PostgreSQLStore(open(store).url, clock: clock.storeClock)
    }

    func reader(of store: any Store, clock: ConformanceClock) async throws -> any Store {
        try PostgreSQLStore(open(store).url, .readOnly, clock: clock.storeClock)
    }

    func kill(_ worker: String, in store: any Store) async throws {
        // As if it had been silent for two leases, which makes it count as dead.
        _ = try await sql("UPDATE worker SET lease_until = 0 WHERE id = '\(worker)'", in: store)
    }

    func recordReadings(of store: any Store) async throws { try await open(store).recordReadings() }

    func sql(_ statements: String, in store: any Store) async throws -> String {
        try await server.sql(statements, schema: open(store).url.schema)
    }

    func upload(_ data: Data, _ request: String, _ columns: [String: String], in store: any Store) async throws {
        let hex = data.map { String(format: "%02x", $0) }.joined()
        let (names, values) = (columns.map { ", \($0.key)" }.joined(), columns.map { ", '\($0.value)'" }.joined())
        let insertion = #"INSERT INTO upload(data, request\#(names)) VALUES ('\x\#(hex)', '\#(request)'\#(values))"#
        _ = try await sql(insertion, in: store)
    }

    func acceptArrivals(in store: any Store) async throws { try await open(store).acceptAll() }

    func lose(_ job: Int64, in store: any Store) async throws {
        _ = try await sql("SET session_replication_role = replica; DELETE FROM job WHERE id = \(job)", in: store)
    }

    func enterAgain(in store: any Store) async throws {
        _ = try await sql("INSERT INTO arrival SELECT id FROM job", in: store)
    }

    func takeOver(_ store: any Store) async throws {
        _ = try await sql("UPDATE schema_version SET version = version + 1", in: store)
    }

    func remove(_ job: Int64, in store: any Store) async throws {
        try await open(store).transaction { db in
            let (queue, state) = ("SELECT queue FROM outcome WHERE id = $1", "SELECT state FROM outcome WHERE id = $1")
            guard let queue: Int64 = try db.value(queue, [job]), let code: Int = try db.value(state, [job]) else {
                return
            }
            try db.execute("DELETE FROM job WHERE id = $1", [job])
            db.forget(try JobState(code: code), in: queue)
        }
    }

    /// The counts that disagree with the rows that they count, and attempts without jobs.
    func guestTable(in store: any Store) async throws -> String {
        let schema = "\(try open(store).url.schema)_guest"
        _ = try await sql("CREATE SCHEMA IF NOT EXISTS \(schema)", in: store)
        return "\(schema).users"
    }

    func faults(in store: any Store) async throws -> [String] {
        let states = JobState.allCases.map { state in
            """
            SELECT 'queue ' || queue.name || ' \(state.rawValue)', \(state.rawValue),
              (SELECT count(*) FROM \(state.isFinal ? "outcome" : "task") AS row
                WHERE row.queue = queue.id AND row.state = \(state.code))
            FROM queue JOIN queue_total ON queue_total.queue = queue.id
            """
        }
        let totals = [
            ("blobs", "count(*) FROM blob"), ("blob_bytes", "coalesce(sum(size), 0) FROM blob"),
            ("thumbnails", "count(*) FROM thumbnail"), ("sources", "count(*) FROM source WHERE NOT pinned"),
            ("source_bytes", "coalesce(sum(size), 0) FROM source WHERE NOT pinned"),
        ]
        .map { name, actual in "SELECT '\(name)', value, (SELECT \(actual)) FROM total_now WHERE name = '\(name)'" }
        let attempts =
            "SELECT 'attempts without jobs', count(*), 0 FROM attempt WHERE job_id NOT IN (SELECT id FROM job)"
        let wrong = try await sql(
            """
            SELECT * FROM (\((states + totals + [attempts]).joined(separator: " UNION ALL ")))
              AS count(name, counted, actual)
            WHERE counted <> actual
            """,
            in: store
        )
        return wrong.split(separator: "\n").map(String.init)
    }

    private func open(_ store: any Store) throws -> PostgreSQLStore { try #require(store as? PostgreSQLStore) }
}

extension PostgreSQLEngine: ModelEngine {
    private struct Torn: Error {}

    var silenceOfTheDead: Int64? { Lease.betweenMachines }

    var mayLockOutliveItsWorker: Bool { false }

    func column(_ query: String, of store: any Store) async throws -> [String] {
        try await open(store).read { db in try db.column(query) }
    }

    func insert(_ request: String, at time: Int64, in store: any Store) async throws {
        _ = try await open(store).transaction { db in
            // As another program does, whose rows the next Cameo process accepts.
            try db.execute("INSERT INTO job(request, created_at) VALUES ($1, $2)", [request, time])
        }
    }

    func tear(_ change: BulkChange, of job: Int64, in store: any Store) async throws {
        try await open(store).commit { db in
            switch change {
            case .cancel: _ = try db.cancel(job)
            case .retry: _ = try db.retry(job)
            }
            try db.flush()
            throw Torn()
        }
    }
}
