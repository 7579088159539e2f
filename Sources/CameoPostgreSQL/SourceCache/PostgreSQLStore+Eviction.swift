internal import CameoHTTPCache
internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    package func evictSources(over budget: Int, atMost limit: Int) async throws(StoreError) -> EvictedSources {
        try await commit { db in try db.evict(over: budget, atMost: limit, sparing: nil) }
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
