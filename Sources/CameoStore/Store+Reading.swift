package import CameoModel
package import Foundation
internal import GRDB

extension Store {
    /// One job with all its attempts.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)``
    package func job(_ id: Int64) async throws(StoreError) -> Job {
        try await read { db in try Self.job(id, db) }
    }

    /// The job that takes the place of this one, and so on to the last of them; if none does, or retention has taken that
    /// one, the job itself. Whoever waits for a job waits for that one.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)``
    package func jobInPlace(of id: Int64) async throws(StoreError) -> Job {
        try await read { db in
            let place = try Row.fetchOne(db.cachedStatement(sql: Self.lastPlace), arguments: [id])
            let isThere = place?["state"] as String? != nil
            return try Self.job(isThere ? place?["id"] ?? id : id, db)
        }
    }

    private static func job(_ id: Int64, _ db: Database) throws -> Job {
        guard let row = try Row.fetchOne(db, sql: "SELECT * FROM job WHERE id = ?", arguments: [id]) else {
            throw StoreError.noSuchJob(id)
        }
        let attempts = try Row.fetchAll(
            db,
            sql: "SELECT * FROM attempt WHERE job_id = ? ORDER BY number",
            arguments: [id]
        )
        return try Job(
            row: row,
            thumbnails: Self.thumbnails(of: row, db),
            attempts: attempts.map(JobAttempt.init(row:))
        )
    }

    /// Follows the jobs that took each other's place, from a given id to the last. Its state is NULL if retention has
    /// taken it.
    private static let lastPlace = """
        WITH RECURSIVE place(id) AS (
          VALUES (?) UNION SELECT superseded_by FROM job JOIN place USING (id) WHERE superseded_by NOT NULL)
        SELECT place.id AS id, state FROM place LEFT JOIN job USING (id) WHERE superseded_by IS NULL
        """

    /// Jobs, newest first, without their attempts.
    package func jobs(_ filter: JobFilter) async throws(StoreError) -> [Job] {
        try await read { db in
            var (condition, arguments) = filter.condition
            arguments += [filter.limit]
            let rows = try Row.fetchAll(
                db,
                sql: "SELECT * FROM job WHERE \(condition) ORDER BY id DESC LIMIT ?",
                arguments: arguments
            )
            return try rows.map { try Job(row: $0, thumbnails: Self.thumbnails(of: $0, db), attempts: nil) }
        }
    }

    /// What became of these jobs so far: of one that was superseded, the state of the job that took its place. Ids that
    /// do not exist are left out.
    package func states(of ids: [Int64]) async throws(StoreError) -> [Int64: JobState] {
        try await read { db in
            let statement = try db.cachedStatement(sql: Self.lastPlace)
            return try ids.reduce(into: [:]) { states, id in
                if let state = try Row.fetchOne(statement, arguments: [id])?["state"] as String? {
                    states[id] = try JobState(stored: state)
                }
            }
        }
    }

    /// A thumbnail by its id.
    ///
    /// - Throws: ``StoreError/notFound(uri:)`` if it was not made yet.
    package func thumbnail(_ id: ThumbnailID) async throws(StoreError) -> Thumbnail {
        try await read { db in
            guard let thumbnail = try Self.thumbnail(id, db) else {
                throw StoreError.notFound(uri: CameoURI.thumbnail(id).text)
            }
            return thumbnail
        }
    }

    /// A blob's bytes, verified against the digest that names them (invariant I6).
    ///
    /// - Throws: ``StoreError/notFound(uri:)``, ``StoreError/damagedBlob(digest:)``,
    ///   ``StoreError/unreadableBlob(path:reason:)``
    package func data(of digest: BlobDigest) async throws(StoreError) -> Data {
        let inline = try await read { db in
            let statement = try db.cachedStatement(sql: "SELECT data FROM blob WHERE digest = ?")
            guard let row = try Row.fetchOne(statement, arguments: [digest.hex]) else {
                throw StoreError.notFound(uri: CameoURI.blob(digest).text)
            }
            return row["data"] as Data?
        }
        let data: Data
        if let inline { data = inline } else { data = try await files.read(digest) }
        guard SHA256.digest(of: data) == digest else { throw .damagedBlob(digest: digest.description) }
        return data
    }

    /// The bytes that a `cameo:` URI names now.
    package func data(of uri: CameoURI) async throws(StoreError) -> Data {
        switch uri {
        case .blob(let digest): try await data(of: digest)
        case .thumbnail(let id): try await data(of: try await thumbnail(id).blob)
        case .source(let source): try await data(of: try await cachedSource(source).blob)
        }
    }

    private static func thumbnails(of row: Row, _ db: Database) throws -> [RequestedThumbnail] {
        let wanted: [WantedThumbnail]
        if let stored = row["thumbnails"] as String? {
            wanted = try WantedThumbnail.list(from: stored)
        } else if row["upload_id"] == nil,
            let request = try? ThumbnailRequest(parsing: (row["request"] as String).utf8)
        {
            // Inserted by SQL and not yet seen by a worker. An invalid request asks for nothing.
            wanted = try WantedThumbnail.all(of: request)
        } else {
            wanted = []
        }
        return try wanted.map { wanted in
            let id = try wanted.id
            return RequestedThumbnail(name: wanted.name, id: id, thumbnail: try thumbnail(id, db))
        }
    }
}

extension Job {
    fileprivate init(row: Row, thumbnails: [RequestedThumbnail], attempts: [JobAttempt]?) throws {
        self.init(
            id: row["id"],
            state: try JobState(stored: row["state"]),
            queue: row["queue"],
            priority: row["priority"],
            batch: row["batch"],
            attempt: row["attempt"],
            maxAttempts: row["max_attempts"],
            crashCount: row["crash_count"],
            createdAt: Date(milliseconds: row["created_at"]),
            availableAt: Date(milliseconds: row["available_at"]),
            attemptedAt: (row["attempted_at"] as Int64?).map(Date.init(milliseconds:)),
            finalizedAt: (row["finalized_at"] as Int64?).map(Date.init(milliseconds:)),
            worker: row["worker"],
            failure: try JobFailure.from(stored: row["failure"]),
            supersededBy: row["superseded_by"],
            // A text that is JSON to SQLite but not to us (a duplicate key) is shown as the string that it is.
            request: (try? JSONValue(parsing: row["request"] as String)) ?? .string(row["request"]),
            thumbnails: thumbnails,
            attempts: attempts
        )
    }
}

extension JobAttempt {
    fileprivate init(row: Row) throws {
        var timings = AttemptTimings()
        timings.fetchMilliseconds = row["fetch_ms"]
        timings.renderMilliseconds = row["render_ms"]
        timings.storeMilliseconds = row["store_ms"]
        timings.sourceBytes = row["source_bytes"]
        timings.outputBytes = row["output_bytes"]
        self.init(
            number: row["number"],
            worker: row["worker"],
            startedAt: Date(milliseconds: row["started_at"]),
            finishedAt: (row["finished_at"] as Int64?).map(Date.init(milliseconds:)),
            outcome: Outcome(rawValue: row["outcome"]) ?? .unknown,
            failure: try JobFailure.from(stored: row["failure"]),
            timings: timings
        )
    }
}
