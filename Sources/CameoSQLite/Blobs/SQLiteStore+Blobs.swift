package import CameoModel
package import CameoStore
package import Foundation
internal import GRDB

// Bytes that a program puts in by itself, without a job.
extension SQLiteStore {
    package func store(_ data: Data, mediaType: String?) async throws(StoreError) -> BlobDigest {
        let digest = SHA256.digest(of: data)
        guard writes != nil else { throw .readOnly(path: directory.path) }
        let blob = try await files.prepare(data, digest: digest, mediaType: mediaType)
        let now = nowMilliseconds
        try await commit { db in
            try blob.insert(in: db, at: now)
            // No row need name them. And bytes may have come first by a way that knows no type: an upload.
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
}
