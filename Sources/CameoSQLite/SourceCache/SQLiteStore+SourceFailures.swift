package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation

extension SQLiteStore {
    package func remember(
        _ failure: JobFailure,
        of key: SourceKey,
        until: Date,
        seen: Int64,
        peers: [Peer]
    ) async throws(StoreError) {
        try await commit(.begun) { db in
            try db.remember(failure, of: key, until: until, seen: seen, peers: peers)
        }
    }

    package func rememberedFailure(of key: SourceKey) async throws(StoreError) -> RememberedFailure? {
        try await read { db in try db.rememberedFailure(of: key) }
    }
}
