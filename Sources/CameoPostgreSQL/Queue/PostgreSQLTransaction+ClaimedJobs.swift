internal import CameoModel
internal import CameoQueue
internal import CameoStore

// DESIGN. Few of the jobs that are claimed have failed before or come with their picture. What these have is read by
// statements of their own, which others need not pay for.
extension PostgreSQLTransaction {
    /// The last failures of jobs that have failed, by job.
    func lastFailures(of tasks: [ClaimedTask]) throws -> [Int64: JobFailure] {
        let failed = tasks.filter { $0.failed != nil }
        guard !failed.isEmpty else { return [:] }
        let rows = try query(
            """
            SELECT job_id, failure::text FROM unnest($1::bigint[], $2::integer[]) AS last(job, number)
              JOIN earlier_attempt ON job_id = last.job AND earlier_attempt.number = last.number
            """,
            [SQLArray(failed.map(\.id)), SQLArray(failed.map(\.failed))]
        )
        return try Dictionary(
            rows.compactMap { row in try JobFailure.from(stored: try row[1]).map { (try row[0], $0) } },
            uniquingKeysWith: { $1 }
        )
    }

    /// The sizes of uploads, and the blobs that were made from them, by upload.
    func uploads(of tasks: [ClaimedTask]) throws -> [Int64: (bytes: Int?, blob: BlobDigest?)] {
        let uploads = tasks.compactMap(\.upload)
        guard !uploads.isEmpty else { return [:] }
        let rows = try query(
            "SELECT id, octet_length(data), digest FROM upload WHERE id = ANY($1::bigint[])",
            [SQLArray(uploads)]
        )
        return try Dictionary(
            rows.map { row in
                (try row[0], (bytes: try row[1], blob: (try row[2] as String?).flatMap(BlobDigest.init(hex:))))
            },
            uniquingKeysWith: { $1 }
        )
    }
}
