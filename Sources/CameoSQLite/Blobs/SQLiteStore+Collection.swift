internal import CameoModel
package import CameoStore
package import Foundation
internal import GRDB

// DESIGN. Blobs that nothing names any more are removed, a few at a time (invariant I6). Triggers write down each blob
// that a row stops naming, so nothing is ever scanned for; here it is seen whether another row names it still.
//
// A job names its source and its overlays for as long as its row is there, ended or not: an operator's retry finds them.
//
// A process that stores the same bytes at the same moment makes its file first and names it in a transaction later. So
// the file's age is what protects it: only a file that was made over an hour ago goes, and whoever stores the bytes anew
// makes a new one. Between a look at the age and the removal a new file could take the old one's place: hence the file is
// first moved aside, which nobody can come between, then looked at, and moved back if it is young; all under the write
// lock, so that no row can name the place while it is empty. It never goes back over a file made meanwhile, whose age
// protects its maker. What was moved aside goes for good after the commit. A crash
// leaves it among the unfinished files, which go an hour later, and at worst a row whose bytes are gone and that nothing
// names: the next collection takes it.

/// What one step of collecting did.
package struct CollectedBlobs: Hashable, Sendable {
    package let count: Int
    package let bytes: Int
    /// How many were looked at; fewer than the step allows means that none is left for now.
    package let candidates: Int
}

extension SQLiteStore {
    /// Removes blobs that nothing has named since a time.
    ///
    /// - Parameters:
    ///   - time: at least an hour ago, except in tests.
    ///   - limit: how many are looked at.
    /// - Returns: what went.
    /// - Throws: ``StoreError``; then nothing went.
    package func collectBlobs(
        unreferencedSince time: Date,
        atMost limit: Int
    ) async throws(StoreError) -> CollectedBlobs {
        let (files, time) = (files, time.milliseconds)
        let moved = MovedFiles()
        do throws(StoreError) {
            let collected = try await commit { db in
                moved.beginRun()
                return try Self.collect(before: time, atMost: limit, files, moved, db)
            }
            files.remove(moved)
            return collected
        } catch {
            files.moveBack(moved)
            throw error
        }
    }

    /// What ``collectBlobs(unreferencedSince:atMost:)`` would remove by and by.
    func collectableBlobs(unreferencedSince time: Date) async throws(StoreError) -> (count: Int, bytes: Int) {
        try await read { db in
            let hexes = try String.fetchAll(
                db,
                sql: "SELECT digest FROM orphan WHERE since <= ?",
                arguments: [time.milliseconds]
            )
            return try hexes.compactMap(BlobDigest.init(hex:)).reduce((0, 0)) { sum, digest in
                guard let row = try Self.unnamed(digest, db), (row["created_at"] as Int64) <= time.milliseconds else {
                    return sum
                }
                return (sum.0 + 1, sum.1 + (row["size"] as Int))
            }
        }
    }

    /// For bytes that were stored, and then were not needed: triggers see only what was named once.
    static func noteOrphan(_ digest: BlobDigest, at now: Int64, _ db: Database) throws {
        let note = try db.cachedStatement(sql: "INSERT INTO orphan VALUES (?, ?) ON CONFLICT DO NOTHING")
        try note.execute(arguments: [digest.hex, now])
    }

    private static func collect(
        before time: Int64,
        atMost limit: Int,
        _ files: BlobFiles,
        _ moved: MovedFiles,
        _ db: Database
    ) throws -> CollectedBlobs {
        // What a row that waits for its acceptance is to be made of nobody knows yet.
        guard try !hasArrivals(db) else { return CollectedBlobs(count: 0, bytes: 0, candidates: 0) }
        let candidates = try String.fetchAll(
            db.cachedStatement(sql: "SELECT digest FROM orphan WHERE since <= ? ORDER BY since LIMIT ?"),
            arguments: [time, limit]
        )
        let settle = try db.cachedStatement(sql: "DELETE FROM orphan WHERE digest = ?")
        let wait = try db.cachedStatement(sql: "UPDATE orphan SET since = ? WHERE digest = ?")
        let remove = try db.cachedStatement(sql: "DELETE FROM blob WHERE digest = ?")
        var (count, bytes) = (0, 0)
        for hex in candidates {
            guard let digest = BlobDigest(hex: hex), let row = try unnamed(digest, db) else {
                try settle.execute(arguments: [hex])
                continue
            }
            let createdAt: Int64 = row["created_at"]
            let isInline: Bool = row["is_inline"]
            guard createdAt <= time, try isInline || files.moveAside(digest, madeBefore: time, noting: moved) else {
                try wait.execute(arguments: [max(createdAt, time + 1), hex])
                continue
            }
            try remove.execute(arguments: [hex])
            try settle.execute(arguments: [hex])
            count += 1
            bytes += row["size"] as Int
        }
        return CollectedBlobs(count: count, bytes: bytes, candidates: candidates.count)
    }

    /// Nil for a blob that a row names, that a program put in by itself, or that is gone.
    private static func unnamed(_ digest: BlobDigest, _ db: Database) throws -> Row? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT size, created_at, data IS NOT NULL AS is_inline FROM blob
                WHERE digest = ?1 AND pinned = 0
                  AND NOT EXISTS (SELECT 1 FROM thumbnail WHERE blob = ?1)
                  AND NOT EXISTS (SELECT 1 FROM source WHERE blob = ?1)
                  AND NOT EXISTS (SELECT 1 FROM ingredient WHERE name = ?1)
                """
        )
        return try Row.fetchOne(statement, arguments: [digest.hex])
    }
}
