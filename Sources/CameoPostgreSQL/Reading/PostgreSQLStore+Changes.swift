package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
internal import Synchronization

extension PostgreSQLStore {
    /// Whether the store was opened for more than reading, by a role that may write what workers do.
    var canNumberChanges: Bool { upkeep != nil && rights.works }

    /// Numbers all changes that are committed, unless the store was opened for reading, by a role that may not, or is a
    /// standby: then the feed ends with what others have numbered.
    package func numberChanges() async throws(StoreError) {
        guard canNumberChanges else { return }
        guard try await read({ db in try ChangeFeed.hasNewChanges(db) }) else { return }
        while try await transaction({ db in try ChangeFeed.number(.waits, db) }) {}
    }

    /// Numbers changes that nobody has read for a while, after the return of the call, so that programs that only read
    /// the store see them, and that nobody finds many.
    func numberChangesSoon() {
        guard isNumbering.exchange(true, ordering: .relaxed) == false else { return }
        errands.start { [self] in
            do throws(StoreError) {
                while try await transaction({ db in try ChangeFeed.number(.leavesItToOthers, db) }) {}
            } catch {
                // Nobody waits for it, and the next sweep of any worker tries again.
            }
            isNumbering.store(false, ordering: .relaxed)
        }
    }
}

extension PostgreSQLTransaction {
    package func changes(since cursor: Int64, limit: Int) throws -> [JobChange] {
        // The names of batches have no line feeds.
        try query(
            """
            SELECT seq, change.job_id, change.state, at,
              (SELECT name FROM queue WHERE id = coalesce(accepted.queue,
                (SELECT outcome.queue FROM outcome WHERE outcome.id = change.job_id))) AS queue,
              (SELECT string_agg(name, E'\\n' ORDER BY batch) FROM batch_job JOIN batch ON batch.id = batch_job.batch
                WHERE batch_job.job_id = change.job_id) AS batches
            FROM changes_since($1, $2) AS change LEFT JOIN accepted ON accepted.id = change.job_id
            ORDER BY seq
            """,
            [cursor, limit]
        )
        .map { try JobChange($0) }
    }

    package func lastChange() throws -> Int64 { try value("SELECT last FROM feed") ?? 0 }
}
