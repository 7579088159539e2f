internal import CameoModel
package import CameoStore
internal import Foundation

// DESIGN. Retention removes in small transactions what an index shows to have expired, the oldest first; rows that another
// transaction of PostgreSQL has locked are passed over. So no claim or settlement waits for more than one of these. One
// process at a time does this.
//
// Unreferenced blobs are removed a few at a time (invariant I6). Triggers record each blob that loses a reference, so no
// scan is needed; collection then checks whether another row still references it. A job references its source and overlays
// for as long as its row exists, even after it has ended, so that an operator's retry finds them.

/// What one step of a collection did.
package struct CollectedBlobs: Hashable, Sendable {
    package let count: Int
    package let bytes: Int
    /// How many blobs were examined.
    package let candidates: Int
    /// How many could not be removed, and why the first could not.
    package var failures = 0
    /// How many of those that were removed had been forgotten.
    package var forgotten = 0
    package var failure: StoreError?

    package init(count: Int, bytes: Int, candidates: Int) {
        (self.count, self.bytes, self.candidates) = (count, bytes, candidates)
    }
}

/// How long a blob must have been unreferenced, and what a process left unfinished is kept, in milliseconds (invariant I6).
package let orphanAge: Int64 = 3_600_000

/// The condition that nothing references a row of `blob`, as SQL.
package let isUnreferenced = "\(isUnused) AND NOT EXISTS (SELECT 1 FROM set_aside WHERE set_aside.blob = blob.digest)"

/// How long the bytes of a blob that was forgotten are kept for another process that may be storing the same, in milliseconds.
package let forgottenAge: Int64 = 60_000

/// The condition that a row of `blob` was forgotten and may be removed, as SQL; and that it may be for that or another reason.
package let isGone = "NOT \(isShown) AND NOT EXISTS (SELECT 1 FROM set_aside WHERE set_aside.blob = blob.digest)"
package let isRemovable = "(\(isUnreferenced) OR \(isGone))"

/// The condition that a row of `blob` is kept for nothing but what a repair has set aside, as SQL.
package let isOnlySetAside = "EXISTS (SELECT 1 FROM set_aside WHERE set_aside.blob = blob.digest) AND \(isUnused)"

/// The condition that nothing references a row of `blob` but perhaps what a repair has set aside, as SQL.
let isUnused = """
    NOT pinned
      AND NOT EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.blob = blob.digest)
      AND NOT EXISTS (SELECT 1 FROM source WHERE source.blob = blob.digest)
      AND NOT EXISTS (SELECT 1 FROM ingredient WHERE ingredient.name = blob.digest)
    """

/// The number of blobs examined per transaction.
private let collectionStep = 32

extension QueueStore {
    /// Removes everything that has expired.
    ///
    /// - Throws: ``StoreError``, also if blobs could not be removed, once all else is; `CancellationError` between two
    ///   transactions.
    package func prune(
        _ retention: Retention,
        in turn: MaintenanceTurn,
        pause: Duration,
        report: @escaping (Pruned) async -> Void
    ) async throws -> Pruned {
        defer { withExtendedLifetime(turn) {} }
        try await numberChanges()
        let now = try await read { db in db.now }
        // What a request references is known only once it is accepted.
        while try await acceptPage() {
            try Task.checkCancellation()
            while pause > .zero, acceptances.isResting { try await Task.sleep(for: acceptances.rest) }
        }
        var steps = PruneSteps(store: self, turn: turn, pause: pause, report: report)
        try await giveUpUnclaimedDeliveries(&steps)
        try await hastenRetries(&steps)
        for state in Retention.states {
            guard let limit = retention.limit(state, now: now) else { continue }
            try await removeJobs(endedIn: state, before: limit, &steps)
        }
        let limits = Retention.states.map { retention.limit($0, now: now) }
        if !limits.contains(nil), let limit = limits.compactMap(\.self).min() {
            let last: Int64? = try await read { try $0.value($0.dialect.lastExpiredChange, [limit, now]) }
            if let last {
                try await steps.take { db in
                    let page = db.dialect.changesOfAStep
                    let count = try db.execute(db.dialect.removalOfChanges, [last, page])
                    return PruneStep(isLast: count < page)
                }
            }
        }
        if let limit = try await read({ db in try db.limitOfThumbnails(retention, now: now) }) {
            try await removeThumbnails(notUsedSince: limit, &steps)
        }
        try await removeLeftovers(&steps)
        let limit = Date(milliseconds: now - orphanAge)
        var (failures, failure) = (0, StoreError?.none)
        while true {
            // Renews the right to this: a collection makes transactions of its own.
            try await steps.take { _ in PruneStep(isLast: true) }
            let collected = try await collectBlobs(unreferencedSince: limit, atMost: collectionStep)
            (failures, failure) = (failures + collected.failures, failure ?? collected.failure)
            var removed = Pruned()
            (removed.blobs, removed.blobBytes) = (collected.count, collected.bytes)
            await steps.note(removed)
            if collected.candidates < collectionStep { break }
        }
        try await finishPruning(&steps, now: now)
        if let failure { throw StoreError.unremoved(blobs: failures, reason: "\(failure)") }
        return steps.total
    }

    /// Retries that were put off to another day by a clock that was ahead. Their last attempts began, by the same clock, at a
    /// time that is yet to come.
    private func hastenRetries(_ steps: inout PruneSteps<Self>) async throws {
        try await steps.take { db in
            let areLate = "state = \(JobState.retryable.code) AND attempted_at > ?1 AND due > ?1"
            let late = try db.tasks("WHERE \(areLate) ORDER BY id LIMIT ?2", [db.now, PruneSteps<Self>.size])
            for var task in late {
                task.due = db.now
                try db.update(task)
            }
            return PruneStep(isLast: late.count < PruneSteps<Self>.size)
        }
    }

    package func prunable(_ retention: Retention) async throws(StoreError) -> Pruned {
        if !isReadOnly { try await acceptAll() }
        return try await read { db in
            var total = try db.leftovers()
            let unfinished = try db.unfinishedBatches()
            for state in Retention.states {
                guard let limit = retention.limit(state, now: db.now) else { continue }
                let count: Int? = try db.value(
                    """
                    SELECT count(*) FROM outcome \(db.dialect.indexed(by: "outcome_end"))
                    WHERE state = ?1 AND finalized_at < ?2 AND \(db.isSettled) AND NOT \(db.isOf(batches: "?3"))
                    """,
                    [state.code, limit, unfinished]
                )
                total.note(state, count ?? 0)
            }
            total.thumbnails = try db.unusedThumbnails(retention)
            let blobs = try db.row(
                """
                SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM orphan JOIN blob USING (digest)
                WHERE since <= ?1 AND created_at <= ?1 AND \(isUnreferenced)
                """,
                [db.now - orphanAge]
            )
            (total.blobs, total.blobBytes) = try (blobs?["count"] ?? 0, blobs?["bytes"] ?? 0)
            return total
        }
    }

    /// Removes the jobs that ended in a state before a time, first ended first. Those of a batch that is not finished stay: its
    /// counts and its export need them.
    private func removeJobs(endedIn state: JobState, before time: Int64, _ steps: inout PruneSteps<Self>) async throws {
        let batches = try await read { db -> [Int64]? in
            let look = """
                SELECT id FROM outcome \(db.dialect.indexed(by: "outcome_end"))
                WHERE state = ?1 AND finalized_at < ?2 ORDER BY finalized_at LIMIT 1
                """
            return try db.row(look, [state.code, time]) == nil ? nil : try db.unfinishedBatches()
        }
        guard let batches else { return }
        try await steps.take { (last: IndexEntry<Int64>?, count: Int, db: Transaction) in
            (
                """
                SELECT id, finalized_at AS at, \(db.isSettled) AND NOT \(db.isOf(batches: "?5")) AS is_removable
                FROM outcome \(db.dialect.indexed(by: "outcome_end"))
                WHERE state = ?1 AND finalized_at < ?2 AND finalized_at >= ?3 AND (finalized_at, id) > (?3, ?4)
                ORDER BY finalized_at, id LIMIT ?6
                """,
                [state.code, time, last?.at ?? .min, last?.id ?? .min, batches, count]
            )
        } removing: { ids, db in
            try db.remove(ids, endedIn: state, before: time)
        }
    }

    /// How long a delivery stays due without a worker that takes it, in milliseconds.
    private static var unclaimedAge: Int64 { 7 * 86_400_000 }

    /// Gives up deliveries that no worker knows how to make, so that they do not keep their jobs for ever.
    private func giveUpUnclaimedDeliveries(_ steps: inout PruneSteps<Self>) async throws {
        for table in DeliveryTable.allCases { try await giveUpUnclaimedDeliveries(in: table, &steps) }
    }

    private func giveUpUnclaimedDeliveries(in table: DeliveryTable, _ steps: inout PruneSteps<Self>) async throws {
        let name = table.rawValue
        let hooks: [String] = try await read { db in
            try db.column(
                """
                SELECT hook FROM (\(db.namesOfDeliveries(in: table))) AS names
                WHERE EXISTS (SELECT 1 FROM \(name) WHERE \(name).hook = names.hook AND status = 0 AND at < ?1)
                """,
                [db.now - Self.unclaimedAge]
            )
        }
        for hook in hooks {
            try await steps.take { db in
                let count = try db.execute(
                    """
                    UPDATE \(name) SET status = 3, at = ?1, trouble = 'no worker that knows the hook took it for a week'
                    WHERE seq IN (SELECT seq FROM \(name) WHERE hook = ?2 AND status = 0 AND at < ?3
                      LIMIT ?4 \(db.dialect.skippingLocked))
                    """,
                    [db.now, hook, db.now - Self.unclaimedAge, PruneSteps<Self>.size]
                )
                return PruneStep(isLast: count < PruneSteps<Self>.size)
            }
        }
    }
}

extension QueueTransaction {
    /// Whether a row of `outcome` is of a job that has ended, whose deliveries have all been made or given up, as SQL.
    package var isSettled: String {
        """
        NOT EXISTS (SELECT 1 FROM delivery \(dialect.indexed(by: "delivery_job"))
            WHERE delivery.job_id = outcome.id AND status < 2)
          AND NOT EXISTS (SELECT 1 FROM task WHERE task.id = outcome.id)
        """
    }

    fileprivate func unfinishedBatches() throws -> [Int64] {
        try column("SELECT DISTINCT batch FROM task JOIN batch_job ON batch_job.job_id = task.id")
    }

    /// Whether a row of `outcome` is of a job of one of the batches in a parameter, as SQL.
    fileprivate func isOf(batches parameter: String) -> String {
        """
        EXISTS (SELECT 1 FROM batch_job
            WHERE job_id = outcome.id AND batch \(dialect.isIn(parameter, .integers)))
        """
    }

    /// Removes those of the jobs that are still ended so, with all their dependent rows.
    fileprivate func remove(_ jobs: [Int64], endedIn state: JobState, before limit: Int64) throws -> Pruned {
        let ended = try query(
            """
            SELECT id, queue FROM outcome
            WHERE id \(dialect.isIn("?1", .integers)) AND state = ?2 AND finalized_at < ?3 AND \(isSettled)
            ORDER BY id \(dialect.skippingLocked)
            """,
            [jobs, state.code, limit]
        )
        let all: [Int64] = try ended.map { try $0["id"] }
        let busy = state == .completed ? [] : try mirrorEnds(of: all)
        let ids = all.filter { !busy.contains($0) }
        try execute(
            """
            INSERT INTO batch_removed(batch, state, code, jobs)
            SELECT batch, state, coalesce(code, ''), count(*) FROM batch_job JOIN outcome ON outcome.id = job_id
            WHERE job_id \(dialect.isIn("?1", .integers)) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
            ON CONFLICT (batch, state, code) DO UPDATE SET jobs = batch_removed.jobs + excluded.jobs
            """,
            [ids]
        )
        try execute("DELETE FROM job WHERE id \(dialect.isIn("?1", .integers))", [ids])
        // An outcome without a job, which only another program can have left, would come back in each step.
        try execute("DELETE FROM outcome WHERE id \(dialect.isIn("?1", .integers))", [ids])
        for row in ended where try !busy.contains(row["id"]) { forget(state, in: try row["queue"]) }
        var removed = Pruned()
        removed.note(state, ids.count)
        return removed
    }
}
