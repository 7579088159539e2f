package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    package func beginFetch(_ claim: Claim, of request: ThumbnailRequest) async throws(StoreError) -> BegunFetch {
        let ingredients = request.sourceThumbnails
        return try await settle(.holds(claim)) { db in
            let task = try db.task(of: claim)
            try db.noteUse(of: ingredients)
            return BegunFetch(
                sourceSeen: try db.nextSourceSeen(),
                after: task.fetchAfter,
                isFirstAttempt: task.tries == 1
            )
        }
    }

    package func absorbUpload(_ job: ClaimedJob) async throws -> ThumbnailRequest {
        let claim = job.claim
        let stored: Data? = try await read { db in
            try db.value("SELECT data FROM upload WHERE job_id = $1 AND data IS NOT NULL", [claim.jobID])
        }
        guard let data = stored else { throw StoreError.notFound(uri: "the upload of job \(claim.jobID)") }
        let digest = SHA256.digest(of: data)
        var request = try job.parsedRequest()
        request.source = CameoURI.blob(digest).text
        let new = try NewJob(request)
        let blob = try await prepare(data, digest: digest, mediaType: nil)
        try await settle(.holds(claim)) { db in
            _ = try db.task(of: claim)
            try blob.insert(db)
            try db.need(digest.hex, for: claim.jobID)
            let key = new.key?.text
            // The row of the upload stays, without its bytes, to tell the producer the job's id.
            try db.execute([
                .init("UPDATE upload SET data = NULL, digest = $1 WHERE job_id = $2", [digest.hex, claim.jobID]),
                .init(
                    "UPDATE accepted SET unique_key = $1, thumbnails = $2 WHERE id = $3",
                    [key, new.thumbnails, claim.jobID]
                ),
                .init("UPDATE task SET unique_key = $1 WHERE id = $2", [key, claim.jobID]),
            ])
            db.ledger.claimed[claim.token]?.uniqueKey = key
        }
        return request
    }
}

extension Database {
    /// The number of a fetch that begins now: higher than those of all that have begun.
    func nextSourceSeen() throws -> Int64 {
        guard let number: Int64 = try value("SELECT nextval('source_seen')") else {
            throw StoreError.failed("no number of a fetch")
        }
        return number
    }
}

extension ThumbnailRequest {
    fileprivate var sourceThumbnails: [ThumbnailID] {
        ([source] + overlaySources).compactMap { text in
            guard case .thumbnail(let id) = CameoURI(text) else { return nil }
            return id
        }
    }
}
