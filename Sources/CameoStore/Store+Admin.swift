package import CameoModel
package import Foundation
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
    package func retry(_ id: Int64) async throws(StoreError) -> RetriedJob {
        let now = nowMilliseconds
        return try await commit { db in try Self.retry(id, now: now, db) }
    }

    /// Lets a waiting job wait until a later time, whatever it waited for. One that runs or has ended stays as it is.
    ///
    /// - Returns: the state that the job was in.
    /// - Throws: ``StoreError/noSuchJob(_:)``
    package func snooze(_ id: Int64, until time: Date) async throws(StoreError) -> JobState {
        let due = time.milliseconds
        return try await commit { db in
            let state = try Self.state(of: id, db)
            guard !state.isFinal, state != .running else { return state }
            try db.execute(
                sql: "UPDATE job SET state = 'scheduled', available_at = ?, rank = ? - priority * 60000 WHERE id = ?",
                arguments: [due, due, id]
            )
            return state
        }
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

    static func retry(_ id: Int64, now: Int64, _ db: Database) throws -> RetriedJob {
        let state = try Self.state(of: id, db)
        guard state != .available, state != .running else { return RetriedJob(before: state, settlement: .asAsked) }
        try db.execute(
            sql: """
                UPDATE job SET state = 'available', attempt = 0, crash_count = 0, finalized_at = NULL, failure = NULL,
                  superseded_by = NULL, available_at = ?, rank = ? - priority * 60000
                WHERE id = ?
                """,
            arguments: [now, now, id]
        )
        return RetriedJob(before: state, settlement: try Settlement(of: id, now: now, db))
    }

    private static func state(of id: Int64, _ db: Database) throws -> JobState {
        guard let state = try String.fetchOne(db, sql: "SELECT state FROM job WHERE id = ?", arguments: [id]) else {
            throw StoreError.noSuchJob(id)
        }
        return try JobState(stored: state)
    }
}

/// What a retry by hand found and did.
package struct RetriedJob: Hashable, Sendable {
    /// The state that the job was in.
    package let before: JobState
    package let settlement: Settlement
}
