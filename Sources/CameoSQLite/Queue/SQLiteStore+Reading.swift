package import CameoModel
package import CameoStore
package import Foundation
internal import GRDB

extension SQLiteStore {
    /// One job with all its attempts.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)``
    package func job(_ id: Int64) async throws(StoreError) -> Job {
        try await read { db in try Self.job(id, attempts: Self.attempts(of: id, db), db) }
    }

    /// The job that takes the place of this one, and so on to the last of them; if none does, or retention has taken that
    /// one, the job itself. Whoever waits for a job waits for that one.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)``
    package func jobInPlace(of id: Int64) async throws(StoreError) -> Job {
        try await read { db in
            let place = try Row.fetchOne(db.cachedStatement(sql: Self.lastPlace), arguments: [id])
            let isThere = place?["state"] as String? != nil
            let last = isThere ? place?["id"] as Int64? ?? id : id
            return try Self.job(last, attempts: Self.attempts(of: last, db), db)
        }
    }

    /// Follows the jobs that took each other's place, from a given id to the last. Its state is NULL if retention has
    /// taken it.
    private static let lastPlace = """
        WITH RECURSIVE place(id) AS (
          VALUES (?) UNION SELECT superseded_by FROM outcome JOIN place USING (id) WHERE superseded_by NOT NULL)
        SELECT place.id AS id, job_status.state AS state FROM place LEFT JOIN job_status ON job_status.id = place.id
        WHERE superseded_by IS NULL
        """

    /// Jobs, newest first, without their attempts.
    package func jobs(_ filter: JobFilter) async throws(StoreError) -> [Job] {
        try await read { db in
            try JobSearch(filter).ids(order: .newest, db).map { try Self.job($0, attempts: nil, db) }
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
}
