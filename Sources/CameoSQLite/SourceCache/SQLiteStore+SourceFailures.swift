package import CameoModel
package import CameoStore
package import Foundation
internal import GRDB

extension SQLiteStore {
    package func remember(
        _ failure: JobFailure,
        of key: SourceKey,
        until: Date,
        seen: Int64,
        peers: [Peer]
    ) async throws(StoreError) {
        let now = nowMilliseconds
        try await commit(.begun) { db in
            let remember = try db.cachedStatement(
                sql: """
                    INSERT INTO source_failure(uri, scope, failure, since, until, source_seen, peers)
                    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
                      WHERE NOT EXISTS (SELECT 1 FROM source WHERE uri = ?1 AND scope = ?2 AND source_seen > ?6)
                    ON CONFLICT(uri, scope) DO UPDATE SET
                      failure = excluded.failure, since = excluded.since, until = excluded.until,
                      source_seen = excluded.source_seen, peers = excluded.peers
                    WHERE excluded.source_seen >= source_failure.source_seen
                    """
            )
            try remember.execute(arguments: [
                key.uri, key.scopeText, try failure.stored, now, until.milliseconds, seen, try peers.stored,
            ])
            // Each addition removes a few expired failures.
            _ = try db.removeFailures(atMost: Self.evictionStep)
        }
    }

    package func rememberedFailure(of key: SourceKey) async throws(StoreError) -> RememberedFailure? {
        let now = nowMilliseconds
        return try await read { db in
            let find = try db.cachedStatement(
                sql: "SELECT failure, since, until, peers FROM source_failure WHERE uri = ? AND scope = ? AND until > ?"
            )
            guard let row = try Row.fetchOne(find, arguments: [key.uri, key.scopeText, now]),
                let failure = try JobFailure.from(stored: row["failure"])
            else { return nil }
            return RememberedFailure(
                failure,
                since: Date(milliseconds: row["since"]),
                until: Date(milliseconds: row["until"]),
                peers: try [Peer].from(stored: row["peers"])
            )
        }
    }
}
