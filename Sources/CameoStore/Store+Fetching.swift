package import CameoModel
internal import Foundation
internal import GRDB

/// What the store knows when the fetch of a claimed job begins.
package struct BegunFetch: Sendable {
    /// Orders fetches across all workers: a thumbnail of an older fetch never replaces one of a newer (invariant I4).
    package let sourceSeen: Int64
    /// The largest number of a job then: that job and all before it were accepted before the fetch began.
    package let newestJob: Int64
    /// Whether the job was never claimed before, not even before an operator's retry.
    package let isFirstAttempt: Bool
}

extension Store {
    /// Marks the beginning of a fetch: writes down which thumbnails the job makes, and its unique key (one that was
    /// inserted by SQL had neither so far), and notes that the thumbnails it is made of are read.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid.
    package func beginFetch(_ claim: Claim, of request: ThumbnailRequest) async throws -> BegunFetch {
        let all = try WantedThumbnail.all(of: request)
        let (wanted, key) = (try WantedThumbnail.json(of: all), try UniqueKey(request, all))
        let ingredients = request.sourceThumbnails
        let now = nowMilliseconds
        return try await commit(.begun) { db in
            let mark = try db.cachedStatement(
                sql: """
                    UPDATE job SET thumbnails = ?, unique_key = ?
                    WHERE id = ? AND claim_token = ? AND state = 'running'
                    """
            )
            try mark.execute(arguments: [wanted, key.text, claim.jobID, claim.token])
            guard db.changesCount == 1 else { throw StoreError.leaseLost(jobID: claim.jobID) }
            try Self.noteUse(of: ingredients, now: now, db)
            let seen = try Self.nextSourceSeen(db)
            let facts = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT (SELECT max(id) FROM job) AS newest,
                          NOT EXISTS (SELECT 1 FROM attempt WHERE job_id = ? AND number > 1) AS is_first
                        """
                ),
                arguments: [claim.jobID]
            )
            guard let facts else { throw StoreError.failed("a SELECT without FROM has no row") }
            return BegunFetch(sourceSeen: seen, newestJob: facts["newest"], isFirstAttempt: facts["is_first"])
        }
    }

    /// Moves an upload's bytes into a blob and makes that blob the job's source.
    ///
    /// - Returns: the job's request with its new source, as JSON text.
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid.
    package func absorbUpload(_ claim: Claim) async throws(StoreError) -> String {
        let data = try await read { db in
            try Data.fetchOne(
                db,
                sql: "SELECT data FROM upload JOIN job ON job.upload_id = upload.id WHERE job.id = ? AND data NOT NULL",
                arguments: [claim.jobID]
            )
        }
        guard let data else { throw .notFound(uri: "the upload of job \(claim.jobID)") }
        let digest = SHA256.digest(of: data)
        let blob = try await files.prepare(data, digest: digest, mediaType: nil)
        let now = nowMilliseconds
        return try await commit(.begun) { db in
            try blob.insert(in: db, at: now)
            let request = try String.fetchOne(
                db,
                sql: """
                    UPDATE job SET
                      request = json_set(request, '$.source', ?), source_blob = ?
                    WHERE id = ? AND claim_token = ? AND state = 'running'
                    RETURNING request
                    """,
                arguments: [CameoURI.blob(digest).text, digest.hex, claim.jobID, claim.token]
            )
            guard let request else { throw StoreError.leaseLost(jobID: claim.jobID) }
            // The row stays, without its bytes, to tell its producer the job's id.
            try db.execute(
                sql: "UPDATE upload SET data = NULL WHERE id = (SELECT upload_id FROM job WHERE id = ?)",
                arguments: [claim.jobID]
            )
            try db.execute(sql: "UPDATE job SET upload_id = NULL WHERE id = ?", arguments: [claim.jobID])
            return request
        }
    }
}

extension ThumbnailRequest {
    /// Thumbnails among its source and its overlays.
    fileprivate var sourceThumbnails: [ThumbnailID] {
        ([source] + overlaySources).compactMap { text in
            guard case .thumbnail(let id) = CameoURI(text) else { return nil }
            return id
        }
    }
}
