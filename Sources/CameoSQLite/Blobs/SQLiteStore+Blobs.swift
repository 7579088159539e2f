package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation
internal import GRDB

// Blobs that a program stores directly, without a job.
extension SQLiteStore {
    package func store(_ data: Data, mediaType: String?) async throws(StoreError) -> BlobDigest {
        let digest = SHA256.digest(of: data)
        guard writes != nil else { throw .readOnly(path: directory.path) }
        let blob = try await files.prepare(data, digest: digest, mediaType: mediaType)
        try await commit { db in
            try blob.insert(db)
            // A pinned blob needs no reference. An earlier upload of the same bytes may have given no media type.
            let describe = try db.cachedStatement(
                sql: "UPDATE blob SET pinned = 1, media_type = coalesce(media_type, ?) WHERE digest = ?"
            )
            try describe.execute(arguments: [mediaType, digest.hex])
        }
        return digest
    }

    package func mediaType(of digest: BlobDigest) async throws(StoreError) -> String? {
        try await read { db in
            let statement = try db.cachedStatement(sql: "SELECT media_type FROM blob WHERE digest = ?")
            guard let row = try Row.fetchOne(statement, arguments: [digest.hex]) else {
                throw StoreError.notFound(uri: CameoURI.blob(digest).text)
            }
            return row["media_type"]
        }
    }

    // The bytes are in the store's folder, which nobody else reads.
    package func temporaryURL(
        of digest: BlobDigest,
        on terms: TemporaryURLTerms
    ) async throws(StoreError) -> TemporaryURL? { nil }

    package func temporaryURLOrigin(at endpoint: Endpoint?) -> String? { nil }
}
