internal import CSQLite
package import CameoModel
package import CameoQueue
package import CameoStore
package import Foundation

// DESIGN. A row inserted into `job` by SQL is only a request. The next Cameo process accepts it: the row either gets a
// task or ends at once as `request.invalid`. Rows are accepted in id order, one page at a time: read and parsed without a
// lock, then written in one transaction, each in its own savepoint, so that none stops another. `accepted` in the table
// `sequence` records the progress. Cameo's own enqueuers write both rows in one transaction, so acceptance skips theirs.
extension SQLiteStore {
    /// A page of unaccepted rows, and the last id that it covers; 0 if there is none.
    typealias Arrivals = (rows: [Arrival], last: Int64)

    @discardableResult
    package func acceptPage() async throws(StoreError) -> Bool {
        let page = try await arrivals()
        guard page.last > 0 else {
            try await endForgottenJobs()
            try await tendAttachments()
            return false
        }
        let acceptances = acceptances
        let refused = try await commit { db in
            try acceptances.measuring(page.rows.count) { try Self.accept(page, db) }
        }
        acceptances.note(refused)
        return true
    }

    /// Reads and parses the next page of unaccepted rows.
    func arrivals(atMost limit: Int = Arrival.page.rows) async throws(StoreError) -> Arrivals {
        // Read as bytes: text that is not UTF-8 would be returned repaired, as a different request.
        let look = """
            SELECT id, created_at, CASE WHEN NOT EXISTS (SELECT 1 FROM accepted WHERE accepted.id = job.id)
              AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = job.id) THEN CAST(request AS BLOB) END AS request
            FROM job WHERE id > (SELECT value FROM sequence WHERE name = 'accepted') ORDER BY id LIMIT ?
            """
        return try await read { db -> Arrivals in
            var (page, bytes): (Arrivals, Int) = (([], 0), 0)
            guard try db.hasArrivals() else { return page }
            try db.connection.run(look, [limit]) { row in
                page.last = try row.number("id") ?? 0
                guard let request: Data = try row["request"] else { return true }
                bytes += request.count
                page.rows.append(Arrival(id: page.last, createdAt: try row["created_at"], request: request))
                return bytes < Arrival.page.bytes
            }
            return page
        }
    }

    /// - Returns: the jobs that were refused.
    static func accept(_ page: Arrivals, _ db: SQLiteTransaction) throws -> [LostJob] {
        guard try acceptedThrough(db) < page.last else { return [] }  // accepted by another process, or none
        let waits = "SELECT EXISTS (SELECT 1 FROM job WHERE \(waitsForAcceptance) AND id = ?1)"
        let refusals = try page.rows.compactMap { arrival -> LostJob? in
            // Another process may have accepted it.
            if try db.value(waits, [arrival.id]) == false { return nil }
            return try db.accept(arrival) { new in try db.accept(new, as: arrival.id, createdAt: arrival.createdAt) }
        }
        try db.flush()
        try noteAccepted(through: page.last, db)
        try db.mirrorAccepted(page.rows.map(\.id))
        if let first = page.rows.first, try db.isForgetting() { try db.endForgottenJobs(acceptedFrom: first.id) }
        return refusals
    }

    static func acceptedThrough(_ db: SQLiteTransaction) throws -> Int64 {
        try db.value("SELECT value FROM sequence WHERE name = 'accepted'") ?? 0
    }

    static func noteAccepted(through id: Int64, _ db: SQLiteTransaction) throws {
        try db.execute("UPDATE sequence SET value = max(value, ?1) WHERE name = 'accepted'", [id])
    }

    /// The condition for unaccepted rows of `job`.
    static let waitsForAcceptance = """
        job.id > (SELECT value FROM sequence WHERE name = 'accepted')
          AND NOT EXISTS (SELECT 1 FROM accepted WHERE accepted.id = job.id)
          AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = job.id)
        """

    package func enqueue(_ new: [CheckedRequest]) async throws(StoreError) -> [EnqueueReceipt] {
        try await enqueueAccepted(new)
    }

    package func enqueue(
        _ request: ThumbnailRequest,
        data: Data?,
        cacheKey: CacheKey?,
        once key: IdempotencyKey?
    ) async throws -> EnqueueReceipt {
        try await enqueueAccepted(request, data: data, cacheKey: cacheKey, once: key)
    }
}

extension SQLiteTransaction {
    /// Adds a request to the queue, or merges it into a job waiting for the same thumbnails.
    ///
    /// - Throws: `InvalidRequest` for an upload that does not exist.
    func accept(_ new: NewJob, as id: Int64, createdAt: Int64) throws {
        let entry = try newTask(new, as: id, createdAt: createdAt)
        try record([entry])
        try letWait(entry.task, from: nil)
    }

    package func objection(_ error: any Error) -> String? {
        let codes = [SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_RANGE, SQLITE_ERROR]
        guard let error = error as? SQLiteError, codes.contains(error.code) else { return nil }
        return error.message
    }

    package func enter(_ new: [CheckedRequest], _ made: MadeThumbnails) throws -> [EnqueueReceipt] {
        let accepted = try SQLiteStore.acceptedThrough(self)
        var last = accepted
        let receipts = try new.enumerated().map { index, draft in
            let receipt = try enter(draft, answer: try made.answer(to: draft, at: index, self))
            if receipt.outcome != .joined, let id = receipt.id { last = max(last, id) }
            return receipt
        }
        try flush()
        // Rows inserted by SQL before these must still be accepted.
        let count: Int64? = try value("SELECT count(*) FROM accepted WHERE id > ?1", [accepted])
        if last > accepted, count == last - accepted { try SQLiteStore.noteAccepted(through: last, self) }
        return receipts
    }

    private func enter(_ new: CheckedRequest, answer thumbnails: [Thumbnail]?) throws -> EnqueueReceipt {
        if let thumbnails { return try answer(new, by: thumbnails) }
        if let duplicate = try waitingJob(for: new.key.text) {
            return try receipt(.joined, new, try join(new, duplicate))
        }
        if new.needsJob, let running = try runningJob(for: new.key.text) {
            return try receipt(.joined, new, running)
        }
        let entry = try newTask(new.job, as: try insertJob(new.text), createdAt: now)
        try record([entry])
        try insert(entry.task)
        move(entry.task, from: nil, to: entry.task.state)
        return try receipt(.accepted, new, entry.task)
    }
}
