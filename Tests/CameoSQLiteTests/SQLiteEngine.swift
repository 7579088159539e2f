import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoSQLite

/// The embedded engine, whose store is in a folder of its own.
struct SQLiteEngine: StoreEngine {
    let folder: TemporaryFolder

    /// Creates the engine with a folder in another one; nil is the usual one for temporary files.
    init(in parent: String? = nil) throws { folder = try TemporaryFolder(in: parent) }

    func makeStore(clock: ConformanceClock) async throws -> any Store {
        try SQLiteStore(at: folder.path("store"), clock: clock.storeClock)
    }

    func another(_ store: any Store, clock: ConformanceClock) async throws -> any Store {
        try SQLiteStore(at: store.location, clock: clock.storeClock)
    }

    func reader(of store: any Store, clock: ConformanceClock) async throws -> any Store {
        try SQLiteStore(reading: store.location, clock: clock.storeClock)
    }

    func kill(_ worker: String, in store: any Store) async throws {
        // Closes the lock file, as the kernel does when a process dies.
        try open(store).registrations.withLock { $0[worker] = nil }
    }

    func recordReadings(of store: any Store) async throws { try await open(store).recordReadings() }

    func sql(_ statements: String, in store: any Store) async throws -> String {
        try await Self.sql(statements, at: store.location)
    }

    static func sql(_ statements: String, at path: String) async throws -> String {
        let result = try await run(
            "sqlite3",
            ["-bail", "-cmd", ".timeout 10000", "\(path)/cameo.sqlite"],
            input: Data(statements.utf8)
        )
        guard result.exitStatus == 0 else { throw StoreError.failed(result.errorText) }
        return result.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func upload(_ data: Data, _ request: String, _ columns: [String: String], in store: any Store) async throws {
        let hex = data.map { String(format: "%02x", $0) }.joined()
        let (names, values) = (columns.map { ", \($0.key)" }.joined(), columns.map { ", '\($0.value)'" }.joined())
        let insertion = "INSERT INTO upload(data, request\(names)) VALUES (x'\(hex)', '\(request)'\(values))"
        _ = try await sql(insertion, in: store)
    }

    func acceptArrivals(in store: any Store) async throws {
        while try await open(store).acceptPage() { try Task.checkCancellation() }
    }

    func lose(_ job: Int64, in store: any Store) async throws {
        _ = try await sql(".dbconfig enable_trigger off\nDELETE FROM job WHERE id = \(job);", in: store)
    }

    func enterAgain(in store: any Store) async throws {
        _ = try await sql("UPDATE sequence SET value = 0 WHERE name = 'accepted'", in: store)
    }

    func takeOver(_ store: any Store) async throws { _ = try await sql("PRAGMA user_version = 99", in: store) }

    func remove(_ job: Int64, in store: any Store) async throws { try await open(store).removeJobs([job]) }

    func guestTable(in store: any Store) -> String { "app_users" }

    func faults(in store: any Store) async throws -> [String] {
        try await open(store).check().filter { $0.severity != .ok }.map { "\($0.subject): \($0.message)" }
    }

    private func open(_ store: any Store) throws -> SQLiteStore { try #require(store as? SQLiteStore) }
}

extension SQLiteEngine: ModelEngine {
    private struct Torn: Error {}

    var silenceOfTheDead: Int64? { nil }

    var mayLockOutliveItsWorker: Bool { true }

    func column(_ query: String, of store: any Store) async throws -> [String] {
        try await open(store).read { db in try db.column(query) }
    }

    func insert(_ request: String, at time: Int64, in store: any Store) async throws {
        try await open(store).commit { db in
            try db.execute("INSERT INTO job(request, created_at) VALUES (?, ?)", [request, time])
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
