package import CameoModel
package import Foundation

/// A blob whose bytes are durable or go into its row, ready to be referenced by another row.
package struct PreparedBlob: Sendable {
    package let digest: BlobDigest
    package let size: Int
    /// The bytes; nil if they are outside of the database.
    package let data: Data?
    package let mediaType: String?

    package init(digest: BlobDigest, size: Int, data: Data?, mediaType: String?) {
        (self.digest, self.size, self.data, self.mediaType) = (digest, size, data, mediaType)
    }

    /// The statement that inserts the row or makes it young, and its values.
    package func insertion(at now: Int64) -> (sql: String, values: [(any SQLBindable)?]) {
        (
            """
            INSERT INTO blob(digest, size, data, media_type, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (digest) DO UPDATE SET data = excluded.data, created_at = excluded.created_at
            """,
            [digest.hex, size, data, mediaType, now]
        )
    }

    package func insert(_ db: some QueueTransaction) throws {
        let insertion = insertion(at: db.now)
        try db.execute(insertion.sql, insertion.values)
    }

    /// Gives the bytes an unreferenced row, so that collection finds them. An existing row is left unchanged.
    package func leave(_ db: some QueueTransaction) throws {
        try db.execute(
            """
            INSERT INTO blob(digest, size, data, media_type, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (digest) DO NOTHING
            """,
            [digest.hex, size, data, mediaType, db.now]
        )
        try db.noteOrphan(digest)
    }
}

extension QueueTransaction {
    /// Records stored bytes that turned out not to be needed. Triggers only see blobs that were referenced once.
    package func noteOrphan(_ digest: BlobDigest) throws {
        try execute("INSERT INTO orphan VALUES (?1, ?2) ON CONFLICT DO NOTHING", [digest.hex, now])
    }
}
