package import CameoModel
package import CameoStore
package import Foundation

// DESIGN. Whoever says that a batch is complete inserts a row into `batch_seal`. No job pays for that: workers look at the open
// seals now and then. A seal remembers one job of the batch that has not ended, the last one that was asked for, so that a look
// costs one step while that one is there, and the search for another goes on below it. A transaction that ends a batch locks its
// open seals first, and then sees all that was committed before any of them. The row of the last one becomes that of the end,
// which is told to a hook as the end of a job is.

extension SchemaWords {
    /// Batches that are sealed, and their ends.
    package var sealTable: String {
        """
        -- Whoever inserts (batch, hook) seals a batch: once none of its jobs is left, it has ended, and the hook is told.
        CREATE TABLE batch_seal(
          seq \(number),
          id \(name) NOT NULL UNIQUE DEFAULT \(fresh),
          batch \(name) NOT NULL CHECK (length(batch) BETWEEN 1 AND 200 AND NOT \(hasControl("batch"))),
          hook \(name) CHECK (\(isLabel("hook"))),
          sealed_at \(big) NOT NULL DEFAULT (\(now)),
          -- The last job that was asked for before, and one of the batch that has not ended.
          last_job \(big),
          waits_for \(big),
          -- Which end of the batch it was, and what became of the jobs; NULL: it has not ended.
          number \(big),
          ended_at \(big),
          \(optionalJSON("report")),
          -- As those of a delivery; 4: there is nothing to deliver.
          status \(small) NOT NULL DEFAULT 4 CHECK (status BETWEEN 0 AND 4),
          at \(big) NOT NULL DEFAULT 0,
          since \(big) NOT NULL DEFAULT 0,
          tries \(whole) NOT NULL DEFAULT 0 CHECK (tries >= 0),
          failures \(whole) NOT NULL DEFAULT 0 CHECK (failures >= 0),
          worker \(name),
          trouble \(prose),
          CONSTRAINT "only an end has a number and a report" CHECK ((ended_at IS NULL) = (number IS NULL)
            AND (ended_at IS NULL) = (report IS NULL) AND (ended_at IS NOT NULL OR status = 4)),
          CONSTRAINT "a running delivery must have a worker" CHECK ((status = 1) = (worker IS NOT NULL))
        )\(manyUpdates);
        CREATE INDEX batch_seal_of ON batch_seal(batch, number);
        CREATE INDEX batch_seal_open ON batch_seal(batch) WHERE ended_at IS NULL;
        CREATE INDEX batch_seal_ended ON batch_seal(ended_at) WHERE ended_at IS NOT NULL;
        CREATE INDEX batch_seal_due ON batch_seal(hook, status, at) WHERE hook IS NOT NULL;
        CREATE INDEX batch_seal_worker ON batch_seal(worker) WHERE worker IS NOT NULL;
        """
    }
}

extension QueueTransaction {
    /// How many ends one transaction removes, and how long they are kept, in milliseconds; the last of a batch is as long as it.
    private static var removals: Int { 10_000 }
    private static var age: Int64 { 30 * 86_400_000 }

    package func add(_ seal: BatchSeal) throws {
        try execute("INSERT INTO batch_seal(batch, hook) VALUES (?1, ?2)", [seal.batch, seal.hook])
    }

    /// The sealed batches after one of which no job is known to be left, and whether all was accepted that was asked for before.
    fileprivate func batchesToLookAt(after last: String, limit: Int) throws -> [(name: String, isReady: Bool)] {
        try query(
            """
            SELECT batch, \(haveArrived("sealed.last_job")) AS ready FROM (
              SELECT batch, max(last_job) AS last_job FROM batch_seal
              WHERE ended_at IS NULL AND batch > ?1 AND NOT EXISTS (SELECT 1 FROM task WHERE task.id = waits_for)
              GROUP BY batch ORDER BY batch LIMIT ?2) AS sealed
            ORDER BY batch
            """,
            [last, limit]
        )
        .map { (try $0["batch"], try $0["ready"]) }
    }

    /// Whether all jobs up to a number were accepted, as SQL.
    private func haveArrived(_ last: String) -> String {
        "NOT EXISTS (SELECT 1 FROM \(dialect.arrivedJobs) WHERE job.id <= \(last))"
    }

    /// Ends a batch if none of its jobs is left. Its seals that are open end together.
    fileprivate func endIfDone(batch name: String) throws {
        let open = try query(
            """
            SELECT seq, id, hook, sealed_at, last_job, waits_for FROM batch_seal WHERE batch = ?1 AND ended_at IS NULL
            ORDER BY seq \(dialect.locking)
            """,
            [name]
        )
        // Otherwise another process has ended it.
        guard let last = open.last, let lastJob = try open.compactMap({ try $0["last_job"] as Int64? }).max(),
            try value("SELECT \(haveArrived("?1"))", [lastJob]) == true
        else { return }
        // Jobs may have come since, or have been retried.
        let known = try open.compactMap { try $0["waits_for"] as Int64? }.min()
        var job = try unfinishedJob(of: name, before: known ?? .max)
        if job == nil, known != nil { job = try unfinishedJob(of: name, before: .max) }
        if let job {
            try execute("UPDATE batch_seal SET waits_for = ?2 WHERE batch = ?1 AND ended_at IS NULL", [name, job])
        } else {
            try end(batch: name, open, last)
        }
    }

    private func unfinishedJob(of batch: String, before last: Int64) throws -> Int64? {
        try value(
            """
            SELECT job_id FROM batch_job
            WHERE batch = (SELECT id FROM batch WHERE name = ?1) AND job_id < ?2
              -- So that no plan begins with all tasks.
              AND (SELECT true FROM task WHERE task.id = job_id)
            ORDER BY job_id DESC LIMIT 1
            """,
            [batch, last]
        )
    }

    private func end(batch name: String, _ open: [QueueRow], _ last: QueueRow) throws {
        let (seq, hook): (Int64, String?) = try (last["seq"], open.compactMap { try $0["hook"] as String? }.last)
        let before = try seal(of: name).end
        if let before, hook == nil || hook == before.hook, try !hasChanged(batch: name, since: before) {
            // Somebody has sealed it again, and there is nothing new to tell.
            try execute("DELETE FROM batch_seal WHERE batch = ?1 AND ended_at IS NULL AND seq <= ?2", [name, seq])
            return
        }
        let thumbnails = try row(
            """
            SELECT count(*) AS count, coalesce(sum(blob.size), 0) AS bytes
            FROM thumbnail_label JOIN thumbnail ON thumbnail.id = thumbnail_label.thumbnail
              JOIN blob ON blob.digest = thumbnail.blob
            WHERE thumbnail_label.label = (SELECT id FROM label WHERE kind = 1 AND name = ?1)
            """,
            [name]
        )
        let end = BatchEnd(
            id: try last["id"],
            batch: name,
            number: (before?.number ?? 0) + 1,
            hook: hook,
            sealedAt: Date(milliseconds: try last["sealed_at"]),
            endedAt: Date(milliseconds: now),
            report: try batchReport(name),
            thumbnails: try (thumbnails?["count"] ?? 0, thumbnails?["bytes"] ?? 0)
        )
        try execute("DELETE FROM batch_seal WHERE batch = ?1 AND ended_at IS NULL AND seq < ?2", [name, seq])
        try execute(
            """
            UPDATE batch_seal SET number = ?2, ended_at = ?3, report = \(dialect.json("?4")), hook = ?5, status = ?6, at = ?3,
              since = ?3, waits_for = NULL
            WHERE seq = ?1
            """,
            [
                seq, end.number, now, String(decoding: try WireFormat.encode(end), as: UTF8.self), hook,
                hook == nil ? 4 : 0,
            ]
        )
        wakeWorkers()
    }

    /// Whether a batch has other jobs than at an end, or some ended once more.
    private func hasChanged(batch name: String, since end: BatchEnd) throws -> Bool {
        if try batchReport(name).jobs.contains(where: { state, count in count != end.jobs[state, default: 0] }) {
            return true
        }
        let later: Bool? = try value(
            """
            SELECT EXISTS (SELECT 1 FROM batch_job JOIN outcome ON outcome.id = job_id
              WHERE batch = (SELECT id FROM batch WHERE name = ?1) AND finalized_at > ?2)
            """,
            [name, end.endedAt.milliseconds]
        )
        return later ?? false
    }

    /// When a batch was sealed, if it has not ended since, and its last end.
    func seal(of batch: String) throws -> (sealedAt: Date?, end: BatchEnd?) {
        let sealed: Int64? = try value(
            "SELECT max(sealed_at) FROM batch_seal WHERE batch = ?1 AND ended_at IS NULL",
            [batch]
        )
        let look = """
            SELECT \(dialect.text("report")) AS report FROM batch_seal WHERE batch = ?1 AND number IS NOT NULL
            ORDER BY number DESC LIMIT 1
            """
        let report: String? = try value(look, [batch])
        return (sealed.map(Date.init(milliseconds:)), try report.map { try BatchEnd(stored: $0) })
    }

    /// - Returns: whether others may be left.
    func removeBatchEnds() throws -> Bool {
        let removed = try execute(
            """
            DELETE FROM batch_seal WHERE seq IN (
              SELECT seq FROM batch_seal AS old WHERE ended_at < ?1 AND status >= 2
                AND (NOT EXISTS (SELECT 1 FROM batch WHERE batch.name = old.batch)
                  OR EXISTS (SELECT 1 FROM batch_seal AS later WHERE later.batch = old.batch AND later.number > old.number))
              LIMIT ?2)
            """,
            [now - Self.age, Self.removals]
        )
        return removed == Self.removals
    }
}

extension BatchEnd {
    init(stored text: String) throws {
        do {
            self = try WireFormat.decode(BatchEnd.self, from: Data(text.utf8))
        } catch {
            throw StoreError.failed("the row of a batch's end is not one: \(error)")
        }
    }
}

extension QueueStore {
    package func add(_ seal: BatchSeal) async throws(StoreError) {
        // A role that may only enqueue writes nothing else; and workers look by themselves.
        try await commit(.claim) { db in try db.add(seal) }
    }

    package func batchEnds(since time: Date, limit: Int) async throws(StoreError) -> [BatchEnd] {
        try await read { db in
            let look = """
                SELECT \(db.dialect.text("report")) AS report FROM batch_seal WHERE ended_at >= ?1 ORDER BY ended_at, seq LIMIT ?2
                """
            return try db.query(look, [time.milliseconds, limit]).map { try BatchEnd(stored: $0["report"]) }
        }
    }

    package func endSealedBatches() async throws(StoreError) {
        var (last, failure) = ("", StoreError?.none)
        while true {
            let after = last
            let page = try await read { db in try db.batchesToLookAt(after: after, limit: 100) }
            guard let end = page.last?.name, !Task.isCancelled else { break }
            for name in page.filter(\.isReady).map(\.name) {
                // One that cannot be ended holds no other up.
                do throws(StoreError) {
                    try await commit(.new) { db in try db.endIfDone(batch: name) }
                } catch {
                    failure = error
                }
            }
            last = end
        }
        if let failure { throw failure }
    }
}
