internal import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

package struct DatabaseSize: Hashable, Codable, Sendable {
    package let bytes: Int
    /// Bytes in free pages, which new rows use first.
    package let freeBytes: Int
}

extension SQLiteStore {
    package func databaseSize() async throws(StoreError) -> DatabaseSize {
        try await read { db in
            let page = try Int.fetchOne(db.sqlite, sql: "PRAGMA page_size") ?? 0
            let pages = try Int.fetchOne(db.sqlite, sql: "PRAGMA page_count") ?? 0
            let free = try Int.fetchOne(db.sqlite, sql: "PRAGMA freelist_count") ?? 0
            return DatabaseSize(bytes: page * pages, freeBytes: page * free)
        }
    }

    /// Rewrites the database without its free pages. Other writers wait meanwhile; readers continue.
    ///
    /// - Parameter turn: prevents copying and pruning meanwhile.
    /// - Throws: ``StoreError/full(path:)`` unless the disk has room for two copies of the pages in use: the new
    ///   database and the log.
    package func vacuum(in turn: MaintenanceTurn) async throws(StoreError) {
        defer { withExtendedLifetime(turn) {} }
        let size = try await databaseSize()
        guard files.hasRoom(for: 2 * (size.bytes - size.freeBytes)) else { throw .full(path: directory.path) }
        try await writeOutsideTransaction { db in try db.execute(sql: "VACUUM") }
        try await checkpointNow()
    }
}
