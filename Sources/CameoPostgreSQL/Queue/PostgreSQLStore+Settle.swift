package import CameoModel
package import CameoQueue
package import CameoStore

/// How completions are committed, with the thumbnails that they store.
extension PostgreSQLStore {
    package func complete(
        _ claim: Claim,
        storing thumbnails: [PreparedThumbnail],
        from provenance: Provenance,
        timings: @escaping @Sendable () -> AttemptTimings
    ) async throws(StoreError) {
        // Whether bytes outside of the database are sound cannot be found out inside the transaction.
        var checked: [BlobDigest: Bool] = [:]
        let use = ClaimUse(claim: claim, timings: storage == nil ? timings : nil)
        while true {
            let known = checked
            let unknown = try await writes.commit(.begun, using: use) { db -> [BlobDigest] in
                // Of two jobs of a group for the same thumbnail, the first one's stands.
                if db.isStoring(thumbnails.map(\.thumbnail.id)) { try db.flush() }
                let same = try db.same(as: thumbnails.map(\.thumbnail), provenance, known)
                if let first = same.unknown.first {
                    // Without a storage, the job has been completed beforehand, and this throws.
                    _ = try self.bytesStorage(for: first)
                    return same.unknown
                }
                try db.complete(claim, timings: timings())
                try db.store(thumbnails, renewing: same.sound, from: provenance, jobID: claim.jobID)
                return []
            }
            if unknown.isEmpty { return }
            let lost = try await damaged(unknown)
            for digest in unknown { checked[digest] = !lost.contains(digest) }
        }
    }

    /// Completes a job without rendering.
    package func complete(
        _ claim: Claim,
        keeping thumbnails: [ThumbnailID],
        seen: Revalidation?,
        timings: AttemptTimings
    ) async throws(StoreError) {
        let use = ClaimUse(claim: claim, timings: { timings })
        try await writes.commit(.begun, using: use) { db in
            try db.complete(claim, timings: timings)
            guard !thumbnails.isEmpty else { return }
            if db.isStoring(thumbnails) { try db.flush() }
            let known = try db.existing(thumbnails)
            if let missing = thumbnails.first(where: { !known.contains($0.text) }) {
                throw StoreError.notFound(uri: CameoURI.thumbnail(missing).text)
            }
            try db.noteUse(of: thumbnails)
            guard let seen else { return }
            // A thumbnail replaced by a newer fetch is left alone.
            for (id, overlay) in zip(thumbnails, seen.overlayDigests) {
                db.store(
                    """
                    UPDATE thumbnail SET source_seen = greatest(source_seen, $5), job_id = $6, updated_at = $7
                    WHERE id = $1 AND source_digest = $3 AND overlay_digest IS NOT DISTINCT FROM $2 AND renderer_version = $4
                    """,
                    [
                        id.text, overlay?.hex, seen.sourceDigest.hex, seen.rendererVersion, seen.sourceSeen,
                        claim.jobID, db.now,
                    ],
                    in: id
                )
            }
        }
    }
}

// DESIGN. Nearly all jobs end by completion, so one statement does all that this takes: it removes the tasks whose claims
// are valid (invariant I1), and writes their history out of what the tasks have. Nothing is looked up before, and only
// what the rest of the transaction needs is returned.
extension PostgreSQLTransaction {
    /// The statement that completes jobs; none if there are no jobs. `now` is the time in milliseconds since 1970; nil: the
    /// server's.
    static func completing(
        _ completions: [(claim: Claim, timings: AttemptTimings)],
        now: Int64?
    ) -> [Connection.Statement] {
        guard !completions.isEmpty else { return [] }
        // In the same order in every transaction: each locks the rows until its end.
        let sorted = completions.sorted { $0.claim.jobID < $1.claim.jobID }
        return [
            .init(
                "SELECT * FROM complete_and_charge(\((1...12).map { "$\($0)" }.joined(separator: ", ")))",
                [SQLArray(sorted.map(\.claim.jobID)), SQLArray(sorted.map(\.claim.token)), now]
                    + RowLists.values(sorted.map(\.timings.values)) + [SQLArray(sorted.map { Cost.of($0.timings) })],
                prepared: true
            )
        ]
    }

    /// Records the ends of the jobs that the statement has completed, for ``complete(_:timings:)``.
    func note(completed tasks: QueryResult) throws {
        for row in tasks.rows {
            let queue: Int64 = try row["queue"]
            if try row["limited"] == true { unwritten.limitedQueues.insert(queue) }
            unwritten.completed.insert(try row["token"])
            let task = TaskRow(id: try row["id"], queue: queue, key: try row["key"], isHooked: try row["hooked"])
            try enter(End(.completed), of: task, from: .running)
        }
    }

    /// Completes the job of a claim (invariant I1), unless that was done beforehand.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)``
    func complete(_ claim: Claim, timings: @autoclosure () -> AttemptTimings) throws {
        guard unwritten.completed.remove(claim.token) == nil else { return }
        let task = try take(claim)
        unwritten.completions.append((claim, timings()))
        try enter(End(.completed), of: task, from: .running)
    }

    // DESIGN. Few of the jobs that are claimed have failed before or come with their picture. What these have is read by
    // statements of their own, which others need not pay for.

    /// The last failures of jobs that have failed, by job.
    func lastFailures(of jobs: [QueueRow]) throws -> [Int64: JobFailure] {
        let failed = try jobs.filter { try $0["failed"] as Int? != nil }
        guard !failed.isEmpty else { return [:] }
        let rows = try query(
            """
            SELECT job_id, failure FROM unnest($1::bigint[], $2::integer[]) AS last(job, number)
              JOIN earlier_attempt ON job_id = last.job AND earlier_attempt.number = last.number
            """,
            [SQLArray(try failed.map { try $0["id"] as Int64 }), SQLArray(try failed.map { try $0["failed"] as Int? })]
        )
        return try rows.reduce(into: [:]) { try $0[$1["job_id"]] = JobFailure.from(stored: $1["failure"]) }
    }

    /// The sizes of uploads, and the sources that they became, by upload.
    func uploads(of jobs: [QueueRow]) throws -> [Int64: (bytes: Int?, source: String?)] {
        let uploads = try jobs.compactMap { try $0["upload"] as Int64? }
        guard !uploads.isEmpty else { return [:] }
        let rows = try query(
            "SELECT id, octet_length(data) AS bytes, digest, cachekey FROM upload WHERE id = ANY($1::bigint[])",
            [SQLArray(uploads)]
        )
        return try rows.reduce(into: [:]) { found, row in
            found[try row["id"]] = (bytes: try row["bytes"], source: try row.sourceOfUpload)
        }
    }
}
