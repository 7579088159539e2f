package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation

extension PostgreSQLStore {
    package func remember(
        _ failure: JobFailure,
        of key: SourceKey,
        until: Date,
        seen: Int64,
        peers: [Peer]
    ) async throws(StoreError) {
        try await commit(.begun) { db in
            try db.execute(
                """
                INSERT INTO source_failure(uri, scope, failure, since, until, source_seen, peers)
                SELECT $1, $2, $3::json, $4::bigint, $5::bigint, $6::bigint, $7::json
                  WHERE NOT EXISTS (SELECT 1 FROM source WHERE \(SourceRows.ofKey) AND source_seen > $6)
                ON CONFLICT (\(SourceRows.failureConflict)) DO UPDATE SET
                  failure = excluded.failure, since = excluded.since, until = excluded.until,
                  source_seen = excluded.source_seen, peers = excluded.peers
                WHERE excluded.source_seen >= source_failure.source_seen
                """,
                [key.uri, key.scopeText, try failure.stored, db.now, until.milliseconds, seen, try peers.stored]
            )
            // Each addition removes a few expired failures.
            _ = try db.removeFailures(atMost: Self.evictionStep)
        }
    }

    package func rememberedFailure(of key: SourceKey) async throws(StoreError) -> RememberedFailure? {
        try await read { db in
            let rows = try db.query(
                "SELECT failure, since, until, peers FROM source_failure WHERE \(SourceRows.ofKey) AND until > $3",
                [key.uri, key.scopeText, db.now]
            )
            guard let row = rows.first, let failure = try JobFailure.from(stored: row[0]) else { return nil }
            return try RememberedFailure(
                failure,
                since: Date(milliseconds: row[1]),
                until: Date(milliseconds: row[2]),
                peers: [Peer].from(stored: row[3])
            )
        }
    }
}
