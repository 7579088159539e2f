internal import CameoModel
package import CameoQueue
package import CameoStore
internal import Foundation

/// Who maintains a store, what ends a removal of old jobs, and making the database smaller.
extension SQLiteStore {
    package func finishPruning(_ steps: inout PruneSteps<SQLiteStore>, now: Int64) async throws {
        let files = files
        let limit = Date(milliseconds: now - orphanAge)
        try await files.perform { _ in files.removeUnfinished(olderThan: limit) }
        // One that a reader kept long stays so after the reader has gone, until much more is written.
        try await checkpointNow(onlyIfLong: true)
    }

    package func maintenanceTurn() throws(StoreError) -> MaintenanceTurn? {
        guard writes != nil else { throw .readOnly(path: directory.path) }
        return try mapping { try FileLock.ifFree(directory.maintenanceLock).map { MaintenanceTurn($0) } }
    }

    package func databaseSize() async throws(StoreError) -> DatabaseSize {
        try await read { db in try db.databaseSize() }
    }

    /// Rewrites the database without its free pages. Other writers wait meanwhile; readers continue. The turn prevents copying
    /// and pruning.
    ///
    /// - Throws: ``StoreError/full(path:)`` unless the disk has room for two copies of the pages in use: the new
    ///   database and the log.
    package func vacuum(in turn: MaintenanceTurn) async throws(StoreError) {
        defer { withExtendedLifetime(turn) {} }
        let size = try await databaseSize()
        guard files.hasRoom(for: 2 * (size.bytes - size.freeBytes)) else { throw .full(path: directory.path) }
        try await writeOutsideTransaction { db in try db.execute("VACUUM") }
        try await checkpointNow()
    }
}

extension SQLiteTransaction {
    package func lockNames() -> Bool { true }

    package func holdClaims() {}

    func databaseSize() throws -> DatabaseSize {
        let (page, pages, free): (Int?, Int?, Int?) = try (
            value("PRAGMA page_size"), value("PRAGMA page_count"), value("PRAGMA freelist_count")
        )
        return DatabaseSize(bytes: (page ?? 0) * (pages ?? 0), freeBytes: (page ?? 0) * (free ?? 0))
    }
}

package struct DatabaseSize: Hashable, Codable, Sendable {
    package let bytes: Int
    /// Bytes in free pages, which new rows use first.
    package let freeBytes: Int
}
