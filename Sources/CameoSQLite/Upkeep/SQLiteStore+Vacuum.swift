internal import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

/// The size of a store's database.
package struct DatabaseSize: Hashable, Codable, Sendable {
    package let bytes: Int
    /// Of these, bytes in pages that hold nothing: new rows take them first.
    package let freeBytes: Int
}

extension SQLiteStore {
    package func databaseSize() async throws(StoreError) -> DatabaseSize {
        try await read { db in
            let page = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            return DatabaseSize(bytes: page * pages, freeBytes: page * free)
        }
    }

    /// Writes the database anew without its free pages. All other writers wait for as long; readers go on.
    ///
    /// - Parameter turn: that nobody copies or prunes meanwhile.
    /// - Throws: ``StoreError/full(path:)`` unless the disk has room for two more copies of what is in use: one that is
    ///   made, and one in the log.
    package func vacuum(in turn: MaintenanceTurn) async throws(StoreError) {
        defer { withExtendedLifetime(turn) {} }
        let size = try await databaseSize()
        guard files.hasRoom(for: 2 * (size.bytes - size.freeBytes)) else { throw .full(path: directory.path) }
        try await writeOutsideTransaction { db in try db.execute(sql: "VACUUM") }
        try await checkpointNow()
    }
}
