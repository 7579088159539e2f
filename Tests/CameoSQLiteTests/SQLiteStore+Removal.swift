import CameoModel
import CameoQueue
import CameoStore

@testable import CameoSQLite

extension SQLiteStore {
    /// Removes jobs like retention does.
    func removeJobs(_ ids: [Int64]) async throws {
        try await commit { db in
            for id in ids {
                let row = try db.row("SELECT state, queue FROM outcome WHERE id = ?", [id])
                try db.execute("DELETE FROM job WHERE id = ?", [id])
                if let row { try db.forget(JobState(code: row["state"]), in: row["queue"]) }
            }
            try db.flush()
        }
    }
}
