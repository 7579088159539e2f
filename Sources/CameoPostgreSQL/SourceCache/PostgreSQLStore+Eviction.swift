internal import CameoHTTPCache
internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    package func forgetSource(_ uri: String, _ extent: ForgottenExtent) async throws(StoreError) -> ForgottenSource {
        try await commit { db in
            try db.execute("DELETE FROM partial WHERE uri = $1", [Self.partialName(of: uri)])
            return try db.forgetSource(uri, extent)
        }
    }
}
