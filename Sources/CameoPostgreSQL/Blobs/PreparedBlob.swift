internal import CameoModel
internal import CameoQueue

extension PreparedBlob {
    /// Inserts a row before the bytes are in the storage of large blobs. A row of these bytes keeps what it has: it may be
    /// referenced, and the storage may fail.
    func announce(_ db: PostgreSQLTransaction) throws {
        try db.execute(
            """
            INSERT INTO blob(digest, size, media_type, created_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (digest) DO UPDATE SET created_at = excluded.created_at
            """,
            [digest.hex, size, mediaType, db.now]
        )
        try db.noteOrphan(digest)
    }
}
