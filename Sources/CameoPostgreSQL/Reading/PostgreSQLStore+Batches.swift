package import CameoModel
internal import CameoQueue
package import CameoStore

extension PostgreSQLStore {
    package func batch(_ name: String) async throws(StoreError) -> BatchReport {
        try await read { db in try db.batch(name) as BatchReport }
    }

    package func batches(before cursor: Int64?, limit: Int) async throws(StoreError) -> BatchPage {
        try await read { db in try db.batches(before: cursor, limit: limit) }
    }
}
