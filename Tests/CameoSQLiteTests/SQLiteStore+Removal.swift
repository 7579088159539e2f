import CameoModel
import CameoQueue
import CameoStore
import GRDB

@testable import CameoSQLite

extension SQLiteStore {
    /// Removes jobs like retention does.
    func removeJobs(_ ids: [Int64]) async throws {
        try await commit { db in
            for id in ids {
                let row = try Row.fetchOne(
                    db.sqlite,
                    sql: "SELECT state, queue FROM outcome WHERE id = ?",
                    arguments: [id]
                )
                try db.execute(sql: "DELETE FROM job WHERE id = ?", arguments: [id])
                if let row { db.forget(try JobState(code: row[0]), in: row[1]) }
            }
            try db.flush()
        }
    }
}
