package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation

extension PostgreSQLStore {
    package func cancel(_ id: Int64) async throws(StoreError) -> JobState {
        try await changeJob(id) { db in try db.cancel(id) }
    }

    package func retry(_ id: Int64) async throws(StoreError) -> RetriedJob {
        try await changeJob(id) { db in try db.retry(id) }
    }

    package func snooze(_ id: Int64, until time: Date) async throws(StoreError) -> JobState {
        try await changeJob(id) { db in try db.snooze(id, until: time) }
    }

    /// Commits a change of a job, which must have been accepted.
    private func changeJob<Value: Sendable>(
        _ id: Int64,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        while try await read({ db in try Self.isArrival(id, db) }) { try await acceptArrivals() }
        return try await commit(.new, body)
    }

    /// Whether a job has not been accepted yet.
    private static func isArrival(_ id: Int64, _ db: Database) throws -> Bool {
        try db.value("SELECT EXISTS (SELECT 1 FROM arrival WHERE id = $1)", [id]) ?? false
    }
}
