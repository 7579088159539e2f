package import CameoModel
internal import CameoQueue
package import CameoStore

extension SQLiteStore {
    package func batch(_ name: String) async throws(StoreError) -> BatchReport {
        try await read { db in try db.batch(name) }
    }

    package func batches(before cursor: Int64?, limit: Int) async throws(StoreError) -> BatchPage {
        // Counting large batches takes long.
        try await readApart { db in try db.batches(before: cursor, limit: limit) }
    }
}
