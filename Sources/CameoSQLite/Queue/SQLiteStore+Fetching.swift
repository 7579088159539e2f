package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    package func beginFetch(_ claim: Claim, of request: ThumbnailRequest) async throws(StoreError) -> BegunFetch {
        let ingredients = request.sourceThumbnails
        return try await commit(.begun) { db in
            let task = try db.take(claim)
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
        let data = try await read { db in
            try Data.fetchOne(
                db.sqlite,
                sql: "SELECT data FROM upload WHERE job_id = ? AND data NOT NULL",
                arguments: [claim.jobID]
            )
        }
        guard let data else { throw StoreError.notFound(uri: "the upload of job \(claim.jobID)") }
        let digest = SHA256.digest(of: data)
        var request = try job.parsedRequest()
        request.source = CameoURI.blob(digest).text
        let new = try NewJob(request)
        let blob = try await files.prepare(data, digest: digest, mediaType: nil)
        try await commit(.begun) { db in
            _ = try db.take(claim)
            try blob.insert(db)
            try db.need(digest.hex, for: claim.jobID)
            // The row stays, without its bytes, to tell the producer the job's id.
            let absorb = try db.cachedStatement(sql: "UPDATE upload SET data = NULL, digest = ? WHERE job_id = ?")
            try absorb.execute(arguments: [digest.hex, claim.jobID])
            let name = try db.cachedStatement(sql: "UPDATE accepted SET unique_key = ?, thumbnails = ? WHERE id = ?")
            try name.execute(arguments: [new.key?.text, new.thumbnails, claim.jobID])
            let stand = try db.cachedStatement(sql: "UPDATE task SET unique_key = ? WHERE id = ?")
            try stand.execute(arguments: [new.key?.text, claim.jobID])
        }
        return request
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
