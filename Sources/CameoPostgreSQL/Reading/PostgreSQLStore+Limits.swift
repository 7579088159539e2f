package import CameoModel
internal import CameoQueue
package import CameoStore

extension PostgreSQLStore {
    package func concurrencyLimits() async throws(StoreError) -> [ConcurrencyLimit] {
        try await read { db in try db.concurrencyLimits() }
    }

    package func concurrencyLimit(of key: String) async throws(StoreError) -> ConcurrencyLimit {
        try await read { db in try db.concurrencyLimit(of: key) }
    }
}
