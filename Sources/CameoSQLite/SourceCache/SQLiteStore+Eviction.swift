internal import CameoHTTPCache
internal import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    package func evictSources(over budget: Int, atMost limit: Int) async throws(StoreError) -> EvictedSources {
        try await commit { db in try Self.evict(over: budget, atMost: limit, sparing: nil, db) }
    }

    static func evict(
        over budget: Int,
        atMost limit: Int,
        sparing kept: CachedSource?,
        _ db: SQLiteTransaction
    ) throws -> EvictedSources {
        let sum = try db.cachedStatement(sql: "SELECT value FROM total WHERE name = 'source_bytes'")
        let total = try Int.fetchOne(sum) ?? 0
        guard total > budget else { return EvictedSources(count: 0, bytes: 0, isWithinBudget: true) }
        let oldest = try db.cachedStatement(
            sql: """
                SELECT rowid, size FROM source INDEXED BY source_use
                WHERE pinned = 0 AND NOT (uri IS ? AND scope IS ? AND variant IS ?)
                ORDER BY last_used_at LIMIT ?
                """
        )
        let rows = try Row.fetchAll(
            oldest,
            arguments: [kept?.key.uri, kept?.key.scopeText, kept?.variant, limit]
        )
        let drop = try db.cachedStatement(sql: "DELETE FROM source WHERE rowid = ?")
        var (count, bytes) = (0, 0)
        for row in rows where total - bytes > budget {
            try drop.execute(arguments: [row["rowid"] as Int64])
            count += 1
            bytes += row["size"] as Int
        }
        let note = try db.cachedStatement(
            sql: """
                UPDATE total SET value = value + CASE name WHEN 'sources_evicted' THEN ? ELSE ? END
                WHERE name IN ('sources_evicted', 'source_bytes_evicted')
                """
        )
        try note.execute(arguments: [count, bytes])
        return EvictedSources(count: count, bytes: bytes, isWithinBudget: total - bytes <= budget || rows.isEmpty)
    }

    package func forgetSource(_ uri: String, _ extent: ForgottenExtent) async throws(StoreError) -> ForgottenSource {
        // A data: URI is identified by the digest of its bytes; thumbnails may also have been made from the cached
        // original.
        let identities = [(try? SourceIdentity(of: uri))?.text ?? uri, CameoURI.source(uri).text]
        let forgotten = try await commit { db in
            let sizes = try Int.fetchAll(db.sqlite, sql: "DELETE FROM source WHERE uri = ? RETURNING size", arguments: [uri])
            try db.execute(sql: "DELETE FROM source_failure WHERE uri = ?", arguments: [uri])
            let failures = db.changesCount
            var thumbnails = 0
            if case .originalsAndThumbnails = extent {
                try db.execute(
                    sql: "DELETE FROM thumbnail WHERE source IN (?, ?)",
                    arguments: StatementArguments(identities)
                )
                thumbnails = db.changesCount
            }
            return ForgottenSource(
                originals: sizes.count,
                failures: failures,
                thumbnails: thumbnails,
                bytes: sizes.reduce(0, +)
            )
        }
        try await dropPartials(of: uri)
        return forgotten
    }
}
