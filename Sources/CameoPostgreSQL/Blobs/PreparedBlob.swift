internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

/// A blob whose bytes are durable or go into its row, ready to be referenced by another row.
struct PreparedBlob: Sendable {
    let digest: BlobDigest
    let size: Int
    /// The bytes; nil if they are in the storage of large blobs.
    let data: Data?
    let mediaType: String?

    /// Inserts a row before the bytes are in the storage of large blobs. A row of these bytes keeps what it has: it may be
    /// referenced, and the storage may fail.
    func announce(_ db: Database) throws {
        try db.execute(
            """
            INSERT INTO blob(digest, size, media_type, created_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (digest) DO UPDATE SET created_at = excluded.created_at
            """,
            [digest.hex, size, mediaType, db.now]
        )
        try db.noteOrphan(digest)
    }

    func insert(_ db: Database) throws { try db.execute([insertion(at: db.now)]) }

    func insertion(at now: Int64) -> Connection.Statement {
        .init(
            """
            INSERT INTO blob(digest, size, data, media_type, created_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (digest) DO UPDATE SET data = excluded.data, created_at = excluded.created_at
            """,
            [digest.hex, size, data, mediaType, now],
            prepared: true
        )
    }

    /// Gives the bytes an unreferenced row, so that collection finds them. An existing row is left unchanged.
    func leave(_ db: Database) throws {
        try db.execute(
            """
            INSERT INTO blob(digest, size, data, media_type, created_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (digest) DO NOTHING
            """,
            [digest.hex, size, data, mediaType, db.now]
        )
        try db.noteOrphan(digest)
    }
}

extension Database {
    /// Records stored bytes that turned out not to be needed. Triggers only see blobs that were referenced once.
    func noteOrphan(_ digest: BlobDigest) throws {
        try execute("INSERT INTO orphan VALUES ($1, $2) ON CONFLICT DO NOTHING", [digest.hex, now])
    }
}
