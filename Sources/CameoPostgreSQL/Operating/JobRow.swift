internal import CameoModel
internal import CameoQueue
internal import CameoStore

/// What is known of an accepted job, locked until the end of the transaction.
enum JobRow {
    case unfinished(TaskRow)
    case ended(JobState)

    /// Finds a job; nil if there is none.
    static func find(_ id: Int64, _ db: Database) throws -> JobRow? {
        // Between two statements another transaction may end the job or retry it. One that retries a job just ended would
        // have to commit between each two of these.
        for _ in 0..<3 {
            if let task = try TaskRow.find(id, db) { return .unfinished(task) }
            let code: Int? = try db.value("SELECT state FROM outcome WHERE id = $1 FOR UPDATE", [id])
            if let code { return .ended(try JobState(code: code)) }
        }
        return nil
    }
}
