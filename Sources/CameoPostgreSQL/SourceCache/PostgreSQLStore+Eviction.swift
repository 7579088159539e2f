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
        try await commit { db in
            try db.execute("DELETE FROM partial WHERE uri = $1", [Self.partialName(of: uri)])
            return try db.forgetSource(uri, extent)
        }
    }
}
