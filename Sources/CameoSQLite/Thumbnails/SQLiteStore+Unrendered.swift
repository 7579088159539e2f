package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
internal import GRDB

// Jobs that complete without rendering.
extension SQLiteStore {
    package func have(_ thumbnails: [ThumbnailID], as seen: Revalidation?) async throws(StoreError) -> Bool {
        guard let seen else { return try await have(thumbnails) }
        return try await have(thumbnails, as: seen)
    }

    /// Whether all these thumbnails exist with undamaged bytes, whatever they were made from.
    package func have(_ thumbnails: [ThumbnailID]) async throws(StoreError) -> Bool {
        let blobs = try await read { db in try thumbnails.map { id in try db.thumbnail(id)?.blob } }
        for blob in blobs {
            guard let blob, try await isWhole(blob) else { return false }
        }
        return true
    }

    /// Whether all these thumbnails exist with undamaged bytes and were made from the same bytes by the same renderer.
    package func have(_ thumbnails: [ThumbnailID], as seen: Revalidation) async throws(StoreError) -> Bool {
        let files = files
        return try await read { db in
            let find = try db.cachedStatement(
                sql: """
                    SELECT blob.digest, blob.data FROM thumbnail JOIN blob ON blob.digest = thumbnail.blob
                    WHERE \(Self.isSame)
                    """
            )
            return try zip(thumbnails, seen.overlayDigests).allSatisfy { id, overlay in
                guard let row = try Row.fetchOne(find, arguments: seen.arguments(for: id, overlay)),
                    let digest = BlobDigest(hex: row["digest"] as String)
                else { return false }
                return files.isSound(digest, inline: row["data"])
            }
        }
    }

    /// Completes a job whose thumbnails exist, made from the revalidated bytes (`seen`) or, with nil, from any bytes.
    /// For retention this counts as a use.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)``; ``StoreError/notFound(uri:)`` if a thumbnail has been removed. Then
    ///   nothing was written.
    package func complete(
        _ claim: Claim,
        keeping thumbnails: [ThumbnailID],
        seen: Revalidation?,
        timings: AttemptTimings
    ) async throws(StoreError) {
        let now = nowMilliseconds
        try await commitCounting { db in
            try db.complete(claim, timings: timings)
            for id in thumbnails where try db.thumbnail(id) == nil {
                throw StoreError.notFound(uri: CameoURI.thumbnail(id).text)
            }
            try db.noteUse(of: thumbnails)
            guard let seen else { return }
            // A thumbnail replaced by a newer fetch is left alone.
            let renew = try db.cachedStatement(
                sql: """
                    UPDATE thumbnail SET source_seen = max(source_seen, ?5), job_id = ?6, updated_at = ?7
                    WHERE \(Self.isSame)
                    """
            )
            for (id, overlay) in zip(thumbnails, seen.overlayDigests) {
                let rest: StatementArguments = [seen.sourceSeen, claim.jobID, now]
                try renew.execute(arguments: seen.arguments(for: id, overlay) + rest)
            }
        }
    }

    private static let isSame = """
        id = ?1 AND source_digest = ?2 AND overlay_digest IS ?3 AND renderer_version = ?4
        """
}

extension Revalidation {
    fileprivate func arguments(for id: ThumbnailID, _ overlay: BlobDigest?) -> StatementArguments {
        [id.text, sourceDigest.hex, overlay?.hex, rendererVersion]
    }
}
