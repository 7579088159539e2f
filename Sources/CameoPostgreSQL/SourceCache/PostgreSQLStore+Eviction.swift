internal import CameoHTTPCache
internal import CameoModel
package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    package func evictSources(over budget: Int, atMost limit: Int) async throws(StoreError) -> EvictedSources {
        try await commit { db in try Self.evict(over: budget, atMost: limit, sparing: nil, db) }
    }

    static func evict(
        over budget: Int,
        atMost limit: Int,
        sparing kept: CachedSource?,
        _ db: Database
    ) throws -> EvictedSources {
        let total: Int = try db.value("SELECT value FROM total_now WHERE name = 'source_bytes'") ?? 0
        guard total > budget else { return EvictedSources(count: 0, bytes: 0, isWithinBudget: true) }
        let candidates = try db.query(
            """
            SELECT uri, scope, variant, size FROM source
            WHERE NOT pinned AND (uri, scope, variant) IS DISTINCT FROM ($1::text, $2::text, $3::text)
            ORDER BY last_used_at LIMIT $4 FOR UPDATE SKIP LOCKED
            """,
            [kept?.key.uri, kept?.key.scopeText, kept?.variant, limit]
        )
        var (count, bytes) = (0, 0)
        for row in candidates where total - bytes > budget {
            let key: [String] = [try row[0], try row[1], try row[2]]
            try db.execute("DELETE FROM source WHERE \(SourceRows.one)", key)
            count += 1
            bytes += try row[3]
        }
        if count > 0 {
            try db.execute(
                "INSERT INTO total_delta VALUES ('sources_evicted', $1), ('source_bytes_evicted', $2)",
                [count, bytes]
            )
        }
        let isWithin = total - bytes <= budget || candidates.isEmpty
        return EvictedSources(count: count, bytes: bytes, isWithinBudget: isWithin)
    }

    package func forgetSource(_ uri: String, _ extent: ForgottenExtent) async throws(StoreError) -> ForgottenSource {
        // A data: URI is identified by the digest of its bytes; thumbnails may also have been made from the cached
        // original.
        let identities = [(try? SourceIdentity(of: uri))?.text ?? uri, CameoURI.source(uri).text]
        return try await commit { db in
            let sizes: [Int] = try db.column("DELETE FROM source WHERE \(SourceRows.ofURI) RETURNING size", [uri])
            let failures = try db.execute("DELETE FROM source_failure WHERE \(SourceRows.ofURI)", [uri])
            var thumbnails = 0
            if case .originalsAndThumbnails = extent {
                thumbnails = try db.execute(
                    """
                    DELETE FROM thumbnail
                    WHERE left(source, 512) IN (left($1::text, 512), left($2::text, 512)) AND source IN ($1, $2)
                    """,
                    identities
                )
            }
            try db.execute("DELETE FROM partial WHERE uri = $1", [Self.partialName(of: uri)])
            return ForgottenSource(
                originals: sizes.count,
                failures: failures,
                thumbnails: thumbnails,
                bytes: sizes.reduce(0, +)
            )
        }
    }
}
