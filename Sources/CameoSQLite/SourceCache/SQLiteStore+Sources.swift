package import CameoHTTPCache
package import CameoModel
package import CameoStore
package import Foundation
internal import GRDB

// DESIGN. The cache of originals. CameoHTTPCache decides what may be kept and served; this room makes three guarantees.
// Answers for different credentials are kept apart, because the scope is part of every key. An answer of an older fetch
// never replaces one of a newer (invariant I4). And the cache stays within its budget: keeping an answer evicts a few
// of the least recently used ones in the same transaction, so that no step takes long.

extension SQLiteStore {
    /// The maximum number of variants (Vary) kept per key.
    static let variantsOfASource = 16
    /// The maximum number of answers removed per step.
    static let evictionStep = 16
    /// The resolution of the time of last use, in milliseconds.
    static let useInterval: Int64 = 60_000

    package func nextSourceSeen() async throws(StoreError) -> Int64 {
        try await commit(.begun) { db in try Self.nextSourceSeen(db) }
    }

    static func nextSourceSeen(_ db: SQLiteTransaction) throws -> Int64 {
        let next = try db.cachedStatement(
            sql: "UPDATE sequence SET value = value + 1 WHERE name = 'source_seen' RETURNING value"
        )
        guard let seen = try Int64.fetchOne(next) else {
            throw StoreError.failed("the sequence source_seen is missing")
        }
        return seen
    }

    package func cachedSources(_ key: SourceKey) async throws(StoreError) -> [CachedSource] {
        try await read { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT * FROM source WHERE uri = ? AND scope = ? ORDER BY source_seen DESC, responded_at DESC
                    """
            )
            return try Row.fetchAll(statement, arguments: [key.uri, key.scopeText])
                .map { try CachedSource(row: $0, key: key) }
        }
    }

    package func cachedSource(_ uri: String) async throws(StoreError) -> CachedSource {
        guard let source = try await cachedSources(SourceKey(uri: uri, scope: nil)).first else {
            throw .notFound(uri: CameoURI.source(uri).text)
        }
        return source
    }

    @discardableResult
    package func keep(_ source: CachedSource, data: Data, budget: Int?) async throws(StoreError) -> KeptSource {
        if let budget, !source.isPinned, source.bytes > budget { return .tooLarge }
        let blob = try await files.prepare(data, digest: source.blob, mediaType: source.mediaType)
        return try await commit(.begun) { db in try Self.keep(source, blob, budget: budget, in: db) }
    }

    static func keep(
        _ source: CachedSource,
        _ blob: PreparedBlob,
        budget: Int?,
        in db: SQLiteTransaction
    ) throws -> KeptSource {
        let key: StatementArguments = [source.key.uri, source.key.scopeText, source.variant]
        let find = try db.cachedStatement(
            sql: "SELECT source_seen FROM source WHERE uri = ? AND scope = ? AND variant = ?"
        )
        if let known = try Int64.fetchOne(find, arguments: key), known > source.sourceSeen {
            // The file may already be written; with a row, the next collection finds and removes it.
            try blob.insert(in: db)
            try noteOrphan(blob.digest, db)
            return .superseded
        }
        try blob.insert(in: db)
        let upsert = try db.cachedStatement(
            sql: """
                INSERT INTO source(uri, scope, variant, blob, size, pinned, peers, final_url, status, fields, hops, media_type,
                  text_encoding, requested_at, responded_at, fresh_until, source_seen, stored_at, last_used_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT(uri, scope, variant) DO UPDATE SET
                  blob = excluded.blob, size = excluded.size, pinned = excluded.pinned, peers = excluded.peers,
                  final_url = excluded.final_url, status = excluded.status, fields = excluded.fields, hops = excluded.hops,
                  media_type = excluded.media_type, text_encoding = excluded.text_encoding,
                  requested_at = excluded.requested_at, responded_at = excluded.responded_at,
                  fresh_until = excluded.fresh_until, source_seen = excluded.source_seen,
                  stored_at = excluded.stored_at, last_used_at = excluded.last_used_at
                """
        )
        let own: [(any DatabaseValueConvertible)?] = [
            blob.digest.hex, blob.size, source.isPinned, try source.peers.stored,
        ]
        try upsert.execute(
            arguments: key + StatementArguments(own) + StatementArguments(try source.headArguments) + [db.now, db.now]
        )
        let forget = try db.cachedStatement(
            sql: "DELETE FROM source_failure WHERE uri = ? AND scope = ? AND source_seen <= ?"
        )
        try forget.execute(arguments: [source.key.uri, source.key.scopeText, source.sourceSeen])
        try dropExcessVariants(of: source.key, db)
        if let budget { _ = try evict(over: budget, atMost: evictionStep, sparing: source, db) }
        return .kept
    }

    private static func dropExcessVariants(of key: SourceKey, _ db: SQLiteTransaction) throws {
        let drop = try db.cachedStatement(
            sql: """
                DELETE FROM source WHERE rowid IN (
                  SELECT rowid FROM source WHERE uri = ? AND scope = ? ORDER BY source_seen DESC LIMIT -1 OFFSET ?)
                """
        )
        try drop.execute(arguments: [key.uri, key.scopeText, variantsOfASource])
    }

    package func freshen(_ source: CachedSource) async throws(StoreError) -> Bool {
        let now = nowMilliseconds
        return try await commit(.begun) { db in
            let update = try db.cachedStatement(
                sql: """
                    UPDATE source SET final_url = ?, status = ?, fields = ?, hops = ?, media_type = ?, text_encoding = ?,
                      requested_at = ?, responded_at = ?, fresh_until = ?, source_seen = ?, last_used_at = ?
                    WHERE uri = ? AND scope = ? AND variant = ? AND blob = ? AND source_seen <= ?
                    """
            )
            let place: StatementArguments = [
                now, source.key.uri, source.key.scopeText, source.variant, source.blob.hex, source.sourceSeen,
            ]
            try update.execute(arguments: StatementArguments(try source.headArguments) + place)
            return db.changesCount == 1
        }
    }

    package func touch(_ source: CachedSource) async throws(StoreError) {
        let now = nowMilliseconds
        let place: StatementArguments = [
            source.key.uri, source.key.scopeText, source.variant, now - Self.useInterval,
        ]
        let condition = "uri = ? AND scope = ? AND variant = ? AND last_used_at < ?"
        let isDue = try await read { db in
            let find = try db.cachedStatement(sql: "SELECT 1 FROM source WHERE \(condition)")
            return try Bool.fetchOne(find, arguments: place) ?? false
        }
        guard isDue else { return }
        try await commit(.begun) { db in
            let note = try db.cachedStatement(sql: "UPDATE source SET last_used_at = ? WHERE \(condition)")
            try note.execute(arguments: [now] + place)
        }
    }

    package func dropCachedSource(_ source: CachedSource) async throws(StoreError) {
        try await commit(.begun) { db in
            let drop = try db.cachedStatement(
                sql: "DELETE FROM source WHERE uri = ? AND scope = ? AND variant = ? AND blob = ? AND source_seen <= ?"
            )
            try drop.execute(arguments: [
                source.key.uri, source.key.scopeText, source.variant, source.blob.hex, source.sourceSeen,
            ])
        }
    }
}
