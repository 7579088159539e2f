package import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    package func changes(since cursor: Int64, limit: Int) async throws(StoreError) -> [JobChange] {
        try await read { db in
            // The names of batches have no line feeds.
            let statement = try db.cachedStatement(
                sql: """
                    SELECT seq, job_id, state, at,
                      (SELECT name FROM queue WHERE id = coalesce(
                        (SELECT queue FROM accepted WHERE accepted.id = job_id),
                        (SELECT queue FROM outcome WHERE outcome.id = job_id))),
                      (SELECT group_concat(name, char(10)) FROM batch_job INDEXED BY batch_job_id
                        JOIN batch ON batch.id = batch_job.batch WHERE batch_job.job_id = change.job_id)
                    FROM change WHERE seq > ? ORDER BY seq LIMIT ?
                    """
            )
            return try Row.fetchAll(statement, arguments: [cursor, limit]).map { row in
                JobChange(
                    cursor: row[0],
                    job: row[1],
                    state: try JobState(code: row[2]),
                    at: Date(milliseconds: row[3]),
                    queue: row[4],
                    batches: (row[5] as String?)?.split(separator: "\n").map(String.init)
                )
            }
        }
    }

    package func lastChange() async throws(StoreError) -> Int64 {
        try await read { db in
            try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(seq) FROM change")) ?? 0
        }
    }
}
