internal import CLinux
internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import CameoSystem
package import Foundation

// DESIGN. Copying a backup over a store by hand damages it: the log of the old database would be applied to the new one.
// So the copy is made beside the store, opened and checked there, and the folders change places only then. The old one is
// kept. Meanwhile a lock on all of the old database keeps every program out, and shows whether one has it open: SQLite
// holds a shared lock on a database with a write-ahead log for as long as a connection lasts.

/// What a backup was taken of.
package struct BackupNote: Codable, Sendable {
    package let store: String
    package let takenAt: Date

    static func file(in folder: String) -> String { "\(folder)/backup.json" }
}

/// What a restore did.
package struct RestoreReport: Codable, Sendable {
    /// The content of the restored store, and the blobs that it lacks because the backup does.
    package let content: BackupReport
    /// What the backup was taken of, if it says so.
    package let note: BackupNote?
    /// Where the store of before is now; nil if there was none.
    package let aside: String?
}

extension SQLiteStore {
    /// Puts a backup in the place of a store that no program uses, which is moved aside if it exists. The backup is a folder
    /// that ``backUp(to:in:report:)`` has made, or a store that no program uses; it is only read.
    ///
    /// - Throws: ``StoreError/refused(reason:)`` if a program uses either; ``StoreError/damagedDatabase(path:)``.
    package static func restore(
        _ backup: String,
        to path: String,
        report: @escaping @Sendable (ByteProgress) -> Void = { _ in }
    ) async throws(StoreError) -> RestoreReport {
        let source = try StoreDirectory(at: backup, creating: false)
        let absolute = FilePaths.absolute(path)
        let real = realpath(absolute, nil)
        defer { free(real) }
        let target = real.map { String(cString: $0) } ?? absolute
        guard !"\(target)/".hasPrefix("\(source.path)/"), !"\(source.path)/".hasPrefix("\(target)/") else {
            throw .refused(reason: "\(source.path) and \(target) are one folder, or one is in the other")
        }
        let unfinished = StoreDirectory(unfinished: "\(target).partial-\(UUID().uuidString.prefix(8))")
        do {
            let locks = try await [
                lockUnused(source.path, mayBeReadOnly: true), lockUnused(target, mayBeReadOnly: false),
            ]
            defer { withExtendedLifetime(locks) {} }
            try copy(source, to: unfinished, like: target, report)
            let content = try await checked(unfinished, report)
            try giveAccess(of: target, to: unfinished.path)
            guard cameo_sync_filesystem(unfinished.path) == 0 else { throw Errno() }
            let aside = try moveAside(target)
            guard rename(unfinished.path, target) == 0 else {
                let error = Errno()
                if let aside { rename(aside, target) }
                throw error
            }
            cameo_sync_directory(URL(filePath: target).deletingLastPathComponent().path)
            let note = (try? Data(contentsOf: URL(filePath: BackupNote.file(in: source.path)))).flatMap {
                try? WireFormat.decode(BackupNote.self, from: $0)
            }
            return RestoreReport(content: content, note: note, aside: aside)
        } catch {
            try? FileManager.default.removeItem(atPath: unfinished.path)
            throw StoreError(error, path: target)
        }
    }

    /// Locks the database of a folder against every other program. Waits a second for those that only look.
    ///
    /// - Returns: nil if the folder has none.
    private static func lockUnused(_ folder: String, mayBeReadOnly: Bool) async throws -> OpenFile? {
        let database = StoreDirectory(unfinished: folder).database
        // A lock to write needs a descriptor that can write; what may only be read has nobody who writes it.
        let descriptor = open(database, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT || mayBeReadOnly && [EROFS, EACCES].contains(errno) else { throw Errno() }
            return nil
        }
        let file = OpenFile(adopting: descriptor)
        for _ in 0..<20 {
            if cameo_ofd_lock(descriptor) == 0 { return file }
            guard errno == EAGAIN else { throw Errno() }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw StoreError.refused(
            reason: "\(folder) is in use: stop its workers and every other program that has \(database) open"
        )
    }

    private static func copy(
        _ source: StoreDirectory,
        to copy: StoreDirectory,
        like target: String,
        _ report: (ByteProgress) -> Void
    ) throws {
        guard mkdir(copy.path, 0o700) == 0 else { throw Errno() }
        if StoreAccess.isShared(target), chmod(copy.path, 0o2770) != 0 { throw Errno() }
        for folder in [copy.blobs, copy.unfinishedBlobs, copy.workers] { try StoreAccess.makeFolder(folder) }
        // With its log, if it was not closed well: the two are one database.
        var files = [source.database, source.writeAheadLog].filter { path in access(path as String, F_OK) == 0 }
            .map { path in (path, copy.path + path.dropFirst(source.path.count)) }
        for prefix in try FilePaths.entries(in: "\(source.blobs)/.") where BlobDigest.isFolder(prefix.name) {
            try StoreAccess.makeFolder("\(copy.blobs)/\(prefix.name)")
            files += try StoreAccess.entries(of: "\(source.blobs)/\(prefix.name)").filter { $0.type == DT_REG }
                .map { ("\(source.blobs)/\(prefix.name)/\($0.name)", "\(copy.blobs)/\(prefix.name)/\($0.name)") }
        }
        let sizes = files.map { StoreAccess.size(of: $0.0) }
        let total = sizes.reduce(0, +)
        guard BlobFiles(directory: copy).hasRoom(for: total) else { throw StoreError.full(path: copy.path) }
        var done = 0
        for (file, size) in zip(files, sizes) {
            try FileManager.default.copyItem(atPath: file.0, toPath: file.1)
            done += size
            report((done: done, total: 2 * total))
        }
    }

    /// Opens a copy as a store, which brings its tables up to date, and reads all of it.
    private static func checked(
        _ copy: StoreDirectory,
        _ report: @escaping @Sendable (ByteProgress) -> Void
    ) async throws -> BackupReport {
        let store = try SQLiteStore(at: copy.path, creating: false)
        guard try await store.integrity().severity != .error else {
            throw StoreError.damagedDatabase(path: copy.path)
        }
        let survey = try await store.survey(readers: 1) {
            report((done: $0.total + $0.done, total: 2 * $0.total))
        }
        let (jobs, bytes) = try await store.read { db in
            (try db.value("SELECT count(*) FROM job") ?? 0, try db.totals()["blob_bytes"] ?? 0)
        }
        let name = "0.\(UInt32.random(in: 0...UInt32.max))"
        try await store.commit { db in try db.beginEpoch(name, after: db.lastChange(), resettingCounters: true) }
        store.close()
        return BackupReport(
            jobs: jobs,
            blobs: survey.count,
            bytes: bytes,
            damaged: survey.damaged.map(\.description)
        )
    }

    /// Gives the folder and everything in it to the owner and group of the store of before, if this user may.
    private static func giveAccess(of target: String, to folder: String) throws {
        guard let status = StoreAccess.status(of: target) else { return }
        let mode: mode_t = StoreAccess.isShared(target) ? 0o660 : 0o600
        let inside = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        for path in [folder] + inside.map({ "\(folder)/\($0)" }) {
            var own = stat()
            guard lstat(path, &own) == 0 else { throw Errno() }
            if own.st_mode & S_IFMT == S_IFREG { chmod(path, mode) }
            if own.st_uid != status.st_uid || own.st_gid != status.st_gid {
                guard lchown(path, status.st_uid, status.st_gid) == 0 else { throw Errno() }
            }
        }
    }

    private static func moveAside(_ target: String) throws -> String? {
        guard access(target, F_OK) == 0 else { return nil }
        let style = Date.ISO8601FormatStyle(timeSeparator: .omitted, includingFractionalSeconds: true)
        let aside = "\(target).before-\(Date.now.formatted(style.dateSeparator(.omitted)))"
        guard access(aside, F_OK) != 0 else { throw Errno(EEXIST) }
        guard rename(target, aside) == 0 else { throw Errno() }
        return aside
    }
}
