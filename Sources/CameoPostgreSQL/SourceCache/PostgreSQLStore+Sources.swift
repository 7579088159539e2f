package import CameoHTTPCache
package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation

// DESIGN. The cache of originals. CameoHTTPCache decides what may be kept and served; this room makes three guarantees.
// Answers for different credentials are kept apart, because the scope is part of every key. An answer of an older fetch
// never replaces one of a newer (invariant I4): the condition is part of the upsert, so that it holds for whichever of two
// concurrent workers commits last. And the cache stays within its budget: keeping an answer evicts a few of the least
// recently used ones in the same transaction, so that no step takes long; those that another transaction is changing are
// passed over.

extension PostgreSQLStore {
    /// The maximum number of variants (Vary) kept per key.
    static let variantsOfASource = 16
    /// The maximum number of answers removed per step.
    static let evictionStep = 16
    /// The resolution of the time of last use, in milliseconds.
    static let useInterval: Int64 = 60_000

    package func nextSourceSeen() async throws(StoreError) -> Int64 {
        try await commit(.begun) { db in try db.nextSourceSeen() }
    }

    package func cachedSources(_ key: SourceKey) async throws(StoreError) -> [CachedSource] {
        try await read { db in
            try db.query(
                """
                SELECT \(CachedSource.columns) FROM source WHERE \(SourceRows.ofKey)
                ORDER BY source_seen DESC, responded_at DESC
                """,
                [key.uri, key.scopeText]
            )
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
        let blob = try await prepare(data, digest: source.blob, mediaType: source.mediaType)
        return try await commit(.begun) { db in
            try db.keep(source, blob, budget: budget)
        }
    }

    package func freshen(_ source: CachedSource) async throws(StoreError) -> Bool {
        try await commit(.begun) { db in
            let place = [source.key.uri, source.key.scopeText, source.variant, source.blob.hex]
            return try db.execute(
                """
                UPDATE source SET final_url = $5, status = $6, fields = $7, hops = $8, media_type = $9,
                  text_encoding = $10, requested_at = $11, responded_at = $12, fresh_until = $13, source_seen = $14,
                  last_used_at = $15
                WHERE \(SourceRows.one) AND blob = $4 AND source_seen <= $14
                """,
                place + (try source.headValues) + [db.now]
            ) == 1
        }
    }

    package func touch(_ source: CachedSource) async throws(StoreError) {
        let place = [source.key.uri, source.key.scopeText, source.variant]
        let condition = "\(SourceRows.one) AND last_used_at < $4::bigint - \(Self.useInterval)"
        let isDue = try await read { db in
            try db.value("SELECT EXISTS (SELECT 1 FROM source WHERE \(condition))", place + [db.now]) ?? false
        }
        guard isDue else { return }
        try await commit(.begun) { db in
            _ = try db.execute("UPDATE source SET last_used_at = $4 WHERE \(condition)", place + [db.now])
        }
    }

    package func dropCachedSource(_ source: CachedSource) async throws(StoreError) {
        try await commit(.begun) { db in
            _ = try db.execute(
                "DELETE FROM source WHERE \(SourceRows.one) AND blob = $4 AND source_seen <= $5",
                [source.key.uri, source.key.scopeText, source.variant, source.blob.hex, source.sourceSeen]
            )
        }
    }
}
