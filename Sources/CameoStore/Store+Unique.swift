internal import CameoModel
internal import Foundation
internal import GRDB

// DESIGN. While a job waits it stands for its unique key (`joinable`), and the partial unique index `job_unique` lets one
// stand for each. A new request joins it; a job that is to wait again while another stands ends `cancelled`, superseded by
// that one. A row that a producer's INSERT or a worker of an older version left waiting stands for nothing yet; the next
// claim or enqueue of this version names its key and lets it stand, or ends it as the twin of the one that does.
extension Store {
    /// States in which a job may be joined; to be repeated literally, or the partial indexes do not serve.
    static let waiting = "state IN ('scheduled', 'available', 'retryable')"

    /// Lets one job stand for each key.
    static let standingIndex = "job_unique"

    /// Rows given their keys before a claim or an enqueue, at most.
    private static let namings = 500

    /// What a job brings along when it, or its request, joins another.
    struct Joining {
        let priority: Int
        /// When it wants to run; nil for what only waits for its back-off.
        let availableAt: Int64?
        let refresh: Refresh
        let batches: [String]
    }

    /// The job that stands for a key.
    static func standing(for key: UniqueKey, _ db: Database) throws -> Int64? {
        let statement = try db.cachedStatement(
            sql: "SELECT id FROM job INDEXED BY job_unique WHERE joinable = 1 AND \(waiting) AND unique_key = ?"
        )
        return try Int64.fetchOne(statement, arguments: [key.text])
    }

    /// Raises a waiting job to what joins it: the higher priority, the earlier time, the more thorough refresh, and every
    /// batch. A back-off stays: it is the source's, not the producer's.
    static func join(_ id: Int64, _ joining: Joining, now: Int64, _ db: Database) throws {
        let look = try db.cachedStatement(
            sql:
                "SELECT state, priority, available_at, json_extract(request, '$.refresh') AS refresh FROM job WHERE id = ?"
        )
        guard let row = try Row.fetchOne(look, arguments: [id]) else { throw StoreError.noSuchJob(id) }
        var state = try JobState(stored: row["state"])
        let before = (state: state, priority: row["priority"] as Int, time: row["available_at"] as Int64)
        let priority = max(before.priority, joining.priority)
        var time = before.time
        if state != .retryable, let wanted = joining.availableAt { time = min(time, wanted) }
        if state == .scheduled, time <= now { state = .available }
        if (state, priority, time) != before {
            let raise = try db.cachedStatement(
                sql: "UPDATE job SET state = ?, priority = ?, available_at = ?, rank = ? - ? * 60000 WHERE id = ?"
            )
            try raise.execute(arguments: [state.rawValue, priority, time, time, priority, id])
        }
        let refresh = (row["refresh"] as String?).flatMap(Refresh.init) ?? .ifChanged
        if refresh.joined(with: joining.refresh) != refresh {
            let change = try db.cachedStatement(
                sql: "UPDATE job SET request = json_set(request, '$.refresh', ?) WHERE id = ?"
            )
            try change.execute(arguments: [joining.refresh.rawValue, id])
        }
        let enter = try db.cachedStatement(sql: "INSERT OR IGNORE INTO batch_job(batch, job_id) VALUES (?, ?)")
        for batch in joining.batches { try enter.execute(arguments: [batch, id]) }
    }

    /// Lets a job that waits now stand for its key, or ends it if another does. To be called wherever a job comes to wait
    /// again; one whose key nobody has computed yet is left for ``nameWaitingJobs()``.
    ///
    /// - Returns: the job that superseded it, if one did.
    @discardableResult
    static func standOrYield(_ id: Int64, now: Int64, _ db: Database) throws -> Int64? {
        let find = try db.cachedStatement(
            sql: """
                SELECT twin.id FROM job CROSS JOIN job AS twin INDEXED BY job_unique
                WHERE job.id = ? AND twin.unique_key = job.unique_key AND twin.joinable = 1 AND twin.\(waiting)
                """
        )
        if let twin = try Int64.fetchOne(find, arguments: [id]) {
            if twin != id { try supersede(id, by: twin, now: now, db) }
            return twin == id ? nil : twin
        }
        let stand = try db.cachedStatement(sql: "UPDATE job SET joinable = 1 WHERE id = ? AND unique_key IS NOT NULL")
        try stand.execute(arguments: [id])
        return nil
    }

    /// Ends a waiting job in favour of another, which takes on what it was to do, and its batches.
    private static func supersede(_ id: Int64, by twin: Int64, now: Int64, _ db: Database) throws {
        let look = try db.cachedStatement(
            sql:
                "SELECT state, priority, available_at, json_extract(request, '$.refresh') AS refresh FROM job WHERE id = ?"
        )
        guard let row = try Row.fetchOne(look, arguments: [id]) else { throw StoreError.noSuchJob(id) }
        let batches = try String.fetchAll(
            db.cachedStatement(sql: "SELECT batch FROM batch_job WHERE job_id = ?"),
            arguments: [id]
        )
        let joining = Joining(
            priority: row["priority"],
            availableAt: (row["state"] as String) == JobState.retryable.rawValue ? nil : row["available_at"],
            refresh: (row["refresh"] as String?).flatMap(Refresh.init) ?? .ifChanged,
            batches: batches
        )
        try join(twin, joining, now: now, db)
        // Its batches count the job that does the work, not the one that was called off for it.
        try db.cachedStatement(sql: "DELETE FROM batch_job WHERE job_id = ?").execute(arguments: [id])
        let failure = JobFailure(.jobSuperseded, at: .request, "job \(twin) was waiting for the same thumbnails")
        let end = try db.cachedStatement(
            sql: "UPDATE job SET state = 'cancelled', finalized_at = ?, failure = ?, superseded_by = ? WHERE id = ?"
        )
        try end.execute(arguments: [now, failure.stored, twin, id])
    }

    /// Gives waiting jobs that have none their unique keys: those that were inserted by SQL (SQLite has no SHA-256), and
    /// those that a worker of an older version put back.
    func nameWaitingJobs() async throws(StoreError) {
        let rows = try await read { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT id, request, unique_key FROM job INDEXED BY job_unjoined
                    WHERE joinable = 0 AND upload_id IS NULL AND \(Self.waiting) ORDER BY id LIMIT ?
                    """
            )
            return try Row.fetchAll(statement, arguments: [Self.namings]).map { row in
                (id: row["id"] as Int64, request: row["request"] as String, key: row["unique_key"] as String?)
            }
        }
        guard !rows.isEmpty else { return }
        // The digests are computed outside of the transaction: they need no lock.
        let named = rows.map { row in (id: row.id, key: row.key ?? Self.key(of: row.request, id: row.id).text) }
        let now = nowMilliseconds
        try await commit { db in
            let name = try db.cachedStatement(
                sql: "UPDATE job SET unique_key = ? WHERE id = ? AND \(Self.waiting)"
            )
            for row in named {
                try name.execute(arguments: [row.key, row.id])
                // Otherwise it was claimed or has ended meanwhile.
                if db.changesCount == 1 { try Self.standOrYield(row.id, now: now, db) }
            }
        }
    }

    private static func key(of text: String, id: Int64) -> UniqueKey {
        do {
            let request = try ThumbnailRequest(parsing: text.utf8)
            return try UniqueKey(request, WantedThumbnail.all(of: request))
        } catch {
            return UniqueKey(ofInvalid: id)  // its worker will say what is wrong with it
        }
    }
}
