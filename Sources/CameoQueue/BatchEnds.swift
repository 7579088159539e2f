package import CameoModel
package import CameoStore
package import Foundation

// DESIGN. Whoever says that a batch is complete inserts a row into `batch_seal`. No job pays for that: workers look at the open
// seals in their sweeps. A seal remembers one job of the batch that has not ended, the last one that was asked for, so that a look
// costs one step while that one is there, and the search for another goes on below it. The row of a seal becomes that of its end,
// which is told to a hook as the end of a job is.

extension SchemaWords {
    /// Batches that are sealed, and their ends.
    package var sealTable: String {
        """
        -- Whoever inserts (batch, hook) seals a batch: once none of its jobs is left, it has ended, and the hook is told.
        CREATE TABLE batch_seal(
          seq \(number),
          id \(name) NOT NULL UNIQUE DEFAULT \(fresh),
          batch \(name) NOT NULL CHECK (batch <> ''),
          hook \(name) CHECK (hook <> ''),
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
          trouble \(prose)
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
    /// How many batches one transaction looks at, and how long their ends are kept once they have no jobs, in milliseconds.
    private static var batchesAtOnce: Int { 100 }
    private static var age: Int64 { 30 * 86_400_000 }

    package func add(_ seal: BatchSeal) throws {
        try execute("INSERT INTO batch_seal(batch, hook) VALUES (?1, ?2)", [seal.batch, seal.hook])
    }

    /// The sealed batches that may have ended: none of their jobs is known to be left.
    private func batchesToLookAt(limit: Int) throws -> [QueueRow] {
        try query(
            """
            SELECT batch, min(waits_for) AS waits_for FROM batch_seal
            WHERE ended_at IS NULL AND NOT EXISTS (SELECT 1 FROM task WHERE task.id = waits_for)
              AND NOT EXISTS (SELECT 1 FROM \(dialect.arrivedJobs) WHERE job.id <= batch_seal.last_job)
            GROUP BY batch ORDER BY batch LIMIT ?1
            """,
            [limit]
        )
    }

    fileprivate func maySealedBatchesEnd() throws -> Bool { try !batchesToLookAt(limit: 1).isEmpty }

    /// - Returns: whether others may be left.
    fileprivate func endSealedBatches() throws -> Bool {
        let rows = try batchesToLookAt(limit: Self.batchesAtOnce)
        for row in rows {
            let (name, last): (String, Int64?) = try (row["batch"], row["waits_for"])
            // Jobs may have come since, or have been retried.
            var job = try unfinishedJob(of: name, before: last ?? .max)
            if job == nil, last != nil { job = try unfinishedJob(of: name, before: .max) }
            if let job {
                try execute("UPDATE batch_seal SET waits_for = ?2 WHERE batch = ?1 AND ended_at IS NULL", [name, job])
            } else {
                try end(batch: name)
            }
        }
        return rows.count == Self.batchesAtOnce
    }

    private func unfinishedJob(of batch: String, before last: Int64) throws -> Int64? {
        try value(
            """
            SELECT job_id FROM batch_job JOIN task ON task.id = job_id
            WHERE batch = (SELECT id FROM batch WHERE name = ?1) AND job_id < ?2 ORDER BY job_id DESC LIMIT 1
            """,
            [batch, last]
        )
    }

    /// All seals of a batch that are open end together.
    private func end(batch name: String) throws {
        let open = try query(
            "SELECT seq, id, hook, sealed_at FROM batch_seal WHERE batch = ?1 AND ended_at IS NULL ORDER BY seq \(dialect.locking)",
            [name]
        )
        // Another process has ended it.
        guard let last = open.last else { return }
        let hook = try open.compactMap { try $0["hook"] as String? }.last
        var report: BatchReport?
        do {
            report = try batchReport(name)
        } catch StoreError.noSuch(.batch, _) {} catch StoreError.batchWithoutJobs {}
        let number: Int? = try value("SELECT max(number) FROM batch_seal WHERE batch = ?1", [name])
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
            number: (number ?? 0) + 1,
            hook: hook,
            sealedAt: Date(milliseconds: try last["sealed_at"]),
            endedAt: Date(milliseconds: now),
            report: report,
            thumbnails: try (thumbnails?["count"] ?? 0, thumbnails?["bytes"] ?? 0)
        )
        let seq: Int64 = try last["seq"]
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

    func removeBatchEnds() throws {
        try execute(
            """
            DELETE FROM batch_seal WHERE ended_at < ?1 AND status >= 2
              AND NOT EXISTS (SELECT 1 FROM batch WHERE batch.name = batch_seal.batch)
            """,
            [now - Self.age]
        )
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
        guard try await read({ db in try db.maySealedBatchesEnd() }) else { return }
        while try await commit(.new, { db in try db.endSealedBatches() }) {}
    }
}
