internal import CLinux
internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import CameoSystem
internal import Foundation

// DESIGN. The database is copied inside one read transaction, so that workers and producers continue. Blobs are immutable,
// so those that the copied database references can be copied afterwards, each verified against its digest, while the
// maintenance lock prevents removals (``MaintenanceTurn``). Hard links would share damage. The backup is written under
// temporary names of both folder and database, and renamed last, after everything is synced, so that an interrupted
// backup cannot be mistaken for a complete one.
extension SQLiteStore {
    package func backUp(
        to path: String,
        in turn: MaintenanceTurn,
        report: @escaping @Sendable (ByteProgress) -> Void = { _ in }
    ) async throws(StoreError) -> BackupReport {
        defer { withExtendedLifetime(turn) {} }
        let target = FilePaths.absolute(path)
        guard !(target + "/").hasPrefix(directory.path + "/") else {
            throw .invalidBackupTarget(path: target, reason: "it is inside the store itself")
        }
        let isThere = (try? FileManager.default.attributesOfItem(atPath: target)) != nil
        let content = try? FileManager.default.contentsOfDirectory(atPath: target)
        guard !isThere || content?.isEmpty == true else {
            let reason = "it already exists, and a backup overwrites nothing"
            throw .invalidBackupTarget(path: target, reason: reason)
        }
        let unfinished = "\(target).partial-\(UUID().uuidString.prefix(8))"
        do {
            let result = try await makeBackup(in: StoreDirectory(unfinished: unfinished), report: report)
            let note = BackupNote(store: directory.path, takenAt: .now)
            try WireFormat.encode(note).write(to: URL(filePath: BackupNote.file(in: unfinished)))
            // Replaces an empty folder and nothing else.
            guard rename(unfinished, target) == 0 else { throw StoreError(Errno(), path: target) }
            let parent = URL(filePath: target).deletingLastPathComponent().path
            try FilePaths.sync(parent)
            return result
        } catch {
            try? FileManager.default.removeItem(atPath: unfinished)
            throw StoreError(error, path: target)
        }
    }

    private func makeBackup(
        in folder: StoreDirectory,
        report: @escaping @Sendable (ByteProgress) -> Void
    ) async throws -> BackupReport {
        let beside: Int = try await readApart { db in
            try db.value("SELECT coalesce(sum(size), 0) FROM blob WHERE data IS NULL") ?? 0
        }
        let total = try await databaseSize().bytes + beside
        for path in [folder.path, folder.blobs, folder.unfinishedBlobs, folder.workers] {
            guard mkdir(path, 0o700) == 0 else { throw Errno() }
        }
        let copies = BlobFiles(directory: folder)
        guard copies.hasRoom(for: total) else { throw StoreError.full(path: folder.path) }

        let database = folder.database + ".partial"
        try await copyDatabase(to: database) { report((done: $0, total: max(total, $0))) }
        let content = try Self.prepare(copy: database, directory)
        var (done, damaged) = (content.bytes, [String]())
        for digest in content.files {
            do throws(StoreError) {
                let data = try await outsideData(of: digest, size: 0, inParts: false)
                try await copies.copy(data, as: digest)
                done += data.count
                report((done: done, total: max(total, done)))
            } catch {
                guard case .damagedBlob = error else { throw error }
                damaged.append(digest.description)
            }
        }
        guard cameo_sync_filesystem(folder.path) == 0 else { throw Errno() }
        guard rename(database, folder.database) == 0 else { throw Errno() }
        try FilePaths.sync(folder.path)
        return BackupReport(jobs: content.jobs, blobs: content.blobs, bytes: done, damaged: damaged)
    }

    /// The number of pages copied between reports.
    private static let pagesPerStep: CInt = 1_024

    private func copyDatabase(to path: String, report: @escaping @Sendable (Int) -> Void) async throws(StoreError) {
        try await readApart { db in
            // The transaction's snapshot begins with its first read.
            let pageSize: Int = try db.value("PRAGMA page_size") ?? 0
            try db.execute("SELECT count(*) FROM sqlite_schema")
            let copy = try SQLiteConnection(path, .readWrite)
            try db.connection.copy(to: copy, pagesPerStep: Self.pagesPerStep) { pages in report(pages * pageSize) }
            try copy.close()
        }
    }

    /// Prepares a copied database to be opened elsewhere: it gets no workers and no running jobs.
    ///
    /// - Returns: what it has, and the blobs that are in files.
    private static func prepare(
        copy path: String,
        _ directory: StoreDirectory
    ) throws -> (jobs: Int, blobs: Int, bytes: Int, files: [BlobDigest]) {
        let copy = try SQLiteConnection(path, .readWrite)
        try copy.inTransaction(.write) {
            let db = SQLiteTransaction(copy, directory, clock: .system)
            for worker: String in try db.column("SELECT DISTINCT worker FROM task WHERE \(TaskRow.isRunning)") {
                for task in try db.runningTasks(of: worker) { try db.release(task, as: .released) }
            }
            try db.flush()
            for table in DeliveryTable.allCases {
                try db.execute("UPDATE \(table.rawValue) SET status = 0, worker = NULL WHERE status = 1")
            }
            try db.execute("DELETE FROM worker")
            // What is set aside has damaged bytes, which would be missed.
            try db.execute("PRAGMA defer_foreign_keys = ON")
            try db.execute("DELETE FROM blob WHERE \(isOnlySetAside)")
            try db.execute("DELETE FROM set_aside")
        }
        let (jobs, blobs): (Int?, Int?) = try (
            copy.value("SELECT count(*) FROM job"), copy.value("SELECT count(*) FROM blob")
        )
        let files: [String] = try copy.rows("SELECT digest FROM blob WHERE data IS NULL").map { try $0[0] }
        // No other process uses this file, so its log can be emptied and removed.
        try copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try copy.close()
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        return (jobs ?? 0, blobs ?? 0, StoreAccess.size(of: path), files.compactMap(BlobDigest.init(hex:)))
    }
}
