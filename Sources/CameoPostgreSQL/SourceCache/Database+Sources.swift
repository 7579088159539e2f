internal import CameoHTTPCache
internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

extension Database {
    /// Keeps an answer in place of an older one, and removes a failure remembered under its key.
    func keep(_ source: CachedSource, _ blob: PreparedBlob, budget: Int?) throws -> KeptSource {
        try blob.insert(self)
        let key: [(any SQLBindable)?] = [source.key.uri, source.key.scopeText, source.variant]
        let own: [(any SQLBindable)?] = [blob.digest.hex, blob.size, source.isPinned, try source.peers.stored]
        let count = try execute(
            """
            INSERT INTO source(uri, scope, variant, blob, size, pinned, peers, final_url, status, fields, hops, media_type,
              text_encoding, requested_at, responded_at, fresh_until, source_seen, stored_at, last_used_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $18)
            ON CONFLICT (\(SourceRows.sourceConflict)) DO UPDATE SET
              blob = excluded.blob, size = excluded.size, pinned = excluded.pinned, peers = excluded.peers,
              final_url = excluded.final_url, status = excluded.status, fields = excluded.fields, hops = excluded.hops,
              media_type = excluded.media_type, text_encoding = excluded.text_encoding,
              requested_at = excluded.requested_at, responded_at = excluded.responded_at,
              fresh_until = excluded.fresh_until, source_seen = excluded.source_seen,
              stored_at = excluded.stored_at, last_used_at = excluded.last_used_at
            WHERE source.source_seen <= excluded.source_seen
            """,
            key + own + (try source.headValues) + [now]
        )
        guard count == 1 else {
            // The bytes may already be stored; with a row, the next collection finds and removes them.
            try noteOrphan(blob.digest)
            return .superseded
        }
        try execute(
            "DELETE FROM source_failure WHERE \(SourceRows.ofKey) AND source_seen <= $3",
            [source.key.uri, source.key.scopeText, source.sourceSeen]
        )
        try dropExcessVariants(of: source.key)
        if let budget { _ = try evict(over: budget, atMost: PostgreSQLStore.evictionStep, sparing: source) }
        return .kept
    }

    private func dropExcessVariants(of key: SourceKey) throws {
        try execute(
            """
            DELETE FROM source WHERE ctid = ANY (ARRAY(
              SELECT ctid FROM source WHERE \(SourceRows.ofKey) ORDER BY source_seen DESC OFFSET $3 FOR UPDATE))
            """,
            [key.uri, key.scopeText, PostgreSQLStore.variantsOfASource]
        )
    }

    /// Removes up to `limit` least recently used answers while all exceed the budget.
    func evict(over budget: Int, atMost limit: Int, sparing kept: CachedSource?) throws -> EvictedSources {
        let total: Int = try value("SELECT value FROM total_now WHERE name = 'source_bytes'") ?? 0
        guard total > budget else { return EvictedSources(count: 0, bytes: 0, isWithinBudget: true) }
        let candidates = try query(
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
            try execute("DELETE FROM source WHERE \(SourceRows.one)", key)
            count += 1
            bytes += try row[3]
        }
        if count > 0 {
            try execute(
                "INSERT INTO total_delta VALUES ('sources_evicted', $1), ('source_bytes_evicted', $2)",
                [count, bytes]
            )
        }
        let isWithin = total - bytes <= budget || candidates.isEmpty
        return EvictedSources(count: count, bytes: bytes, isWithinBudget: isWithin)
    }
}
