package import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    package func changes(since cursor: Int64, limit: Int) async throws(StoreError) -> [JobChange] {
        try await read { db in
            let statement = try db.cachedStatement(
                sql: "SELECT seq, job_id, state, at FROM change WHERE seq > ? ORDER BY seq LIMIT ?"
            )
            return try Row.fetchAll(statement, arguments: [cursor, limit]).map { row in
                JobChange(
                    cursor: row[0],
                    job: row[1],
                    state: try JobState(code: row[2]),
                    at: Date(milliseconds: row[3])
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
