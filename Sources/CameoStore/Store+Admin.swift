package import CameoModel
internal import Foundation
internal import GRDB

extension Store {
    /// Calls a job off. A running one loses its claim: its worker stops it, and nothing of it appears.
    ///
    /// - Returns: the state that the job was in; a job that had ended stays as it is.
    /// - Throws: ``StoreError/noSuchJob(_:)``
    package func cancel(_ id: Int64) async throws(StoreError) -> JobState {
        let now = nowMilliseconds
        return try await commit { db in try Self.cancel(id, now: now, db) }
    }

    /// Makes a job that ended, or waits for its back-off, available at once, with all its attempts before it again.
    /// Its history stays.
    ///
    /// - Returns: the state that the job was in; `available` and `running` jobs stay as they are.
    /// - Throws: ``StoreError/noSuchJob(_:)``
    package func retry(_ id: Int64) async throws(StoreError) -> JobState {
        let now = nowMilliseconds
        return try await commit { db in try Self.retry(id, now: now, db) }
    }

    static func cancel(_ id: Int64, now: Int64, _ db: Database) throws -> JobState {
        let state = try Self.state(of: id, db)
        guard !state.isFinal else { return state }
        try db.execute(
            sql: """
                UPDATE attempt SET outcome = 'cancelled', finished_at = ?
                WHERE claim_token = (SELECT claim_token FROM job WHERE id = ?)
                """,
            arguments: [now, id]
        )
        try db.execute(
            sql: """
                UPDATE job SET state = 'cancelled', finalized_at = ?, claim_token = NULL, worker = NULL WHERE id = ?
                """,
            arguments: [now, id]
        )
        return state
    }

    static func retry(_ id: Int64, now: Int64, _ db: Database) throws -> JobState {
        let state = try Self.state(of: id, db)
        guard state != .available, state != .running else { return state }
        try db.execute(
            sql: """
                UPDATE job SET state = 'available', attempt = 0, crash_count = 0, finalized_at = NULL, failure = NULL,
                  available_at = ?, rank = ? - priority * 60000
                WHERE id = ?
                """,
            arguments: [now, now, id]
        )
        return state
    }

    private static func state(of id: Int64, _ db: Database) throws -> JobState {
        guard let state = try String.fetchOne(db, sql: "SELECT state FROM job WHERE id = ?", arguments: [id]) else {
            throw StoreError.noSuchJob(id)
        }
        return try JobState(stored: state)
    }
}
