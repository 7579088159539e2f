internal import CLinux
internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import CameoSystem
internal import Foundation

/// A check of the database, the blobs and the machine.
extension SQLiteStore {
    /// Checks the machine's capabilities too.
    package func check(
        report: @Sendable (ByteProgress) -> Void = { _ in }
    ) async throws(StoreError) -> [CheckFinding] {
        let database = [try await read(Self.sqliteVersion), try await journal(), try await integrity()]
        do throws(StoreError) {
            return database + (try await content(report)) + [try await fileSystem(), Self.sandbox()]
        } catch {
            // Content on damaged pages cannot be checked; the damage itself is the finding.
            guard database.contains(where: { $0.severity == .error }) else { throw error }
            return database + [fileSystem(waiting: []), Self.sandbox()]
        }
    }

    private func content(_ report: @Sendable (ByteProgress) -> Void) async throws(StoreError) -> [CheckFinding] {
        let rows = try await readApart { db in
            [
                try Self.foreignKeys(db), try db.checkCounters(and: db.query(Counters.exhaustedNumbers)),
                try Self.limits(db), try Self.places(db), try Self.requests(db), try db.checkAttempts(),
                try db.checkHooks(), try db.checkPromises(),
                try Self.ownTables(db), try Self.guests(db),
            ]
        }
        let blobs = try await checkBlobs(report)
        return rows + blobs + [try await checkAccess(), try await checkWorkers()].compactMap { $0 }
    }

    private static func sqliteVersion(_ db: SQLiteTransaction) throws -> CheckFinding {
        let version = try db.value("SELECT sqlite_version()") ?? "of an unknown version"
        let parts = version.split(separator: ".").compactMap { Int($0) }
        let isFixed = !parts.lexicographicallyPrecedes([3, 51, 3])
        let message =
            isFixed
            ? "SQLite \(version)"
            : "SQLite \(version) has the WAL-reset bug (fixed in 3.51.3). Cameo's processes avoid it by letting only one "
                + "checkpoint at a time; other programs that write to the store must set PRAGMA wal_autocheckpoint=0"
        return CheckFinding("sqlite", .ok, message)
    }

    /// Checks that WAL is on. Opening the store for writing turns it on.
    private func journal() async throws(StoreError) -> CheckFinding {
        // An immutable file has no log, whatever its header says.
        let isOn = readAccess == .immutable ? true : try await read { db in try Schema.isInWALMode(db.connection) }
        return CheckFinding(
            "journal",
            isOn ? [] : ["the write-ahead log is off"],
            ok: "the database has a write-ahead log",
            advice:
                "Another program set PRAGMA journal_mode; the next worker or writing command turns the log on again"
        )
    }

    private static func foreignKeys(_ db: SQLiteTransaction) throws -> CheckFinding {
        CheckFinding(
            "references",
            try danglingRows(db).map { "a row of \($0.table) refers to a missing row of \($0.parent)" },
            ok: "every thumbnail and every cached original has its blob, and every attempt its job",
            advice: "\(repairCommand) removes such rows; what is missing is made again on request"
        )
    }

    private func fileSystem() async throws(StoreError) -> CheckFinding {
        fileSystem(waiting: try await status().workers.filter { !$0.isUnhindered }.compactMap(\.refusal))
    }

    /// Checks for free space, which may be too little for what live workers wait with. A store on a network file system cannot
    /// be opened at all.
    private func fileSystem(waiting: [String]) -> CheckFinding {
        let free = "\(BlobFiles.freeBytes(of: directory) >> 20) MiB are free"
        let problems = files.hasRoom(for: 0) ? waiting.map { "\(free), and \($0)" } : ["only \(free) on its disk"]
        return CheckFinding(
            "disk",
            problems,
            ok: "a local file system, of which \(free)",
            advice: "Free some space or keep less (`cameo-admin prune`, then `cameo-admin vacuum`)",
            severity: .warning
        )
    }

    /// Checks this machine, which need not be the workers'.
    private static func sandbox() -> CheckFinding {
        var missing: [String] = []
        if cameo_landlock_version() < 1 { missing.append("this kernel does not support Landlock") }
        if cameo_has_seccomp_filters() != 1 { missing.append("this kernel does not support seccomp filters") }
        return CheckFinding(
            "sandbox",
            missing,
            ok: "this kernel supports Landlock (version \(cameo_landlock_version())) and seccomp",
            advice:
                "Renderers work without that layer; Linux 5.13 or later has both, unless they were disabled at build or boot",
            severity: .warning
        )
    }

    // Checks that the group can use everything in a shared store (``StoreAccess``). Files may be inaccessible because a
    // program died between creating a file and opening it to the group, because they were copied in, or because the store
    // was private before.

    /// Checks access; no finding for a private store.
    private func checkAccess() async throws(StoreError) -> CheckFinding? {
        let closed = try await files.perform { directory in
            StoreAccess.isShared(directory.path) ? try Self.closedPaths(in: directory) : nil
        }
        guard let closed else { return nil }
        let advice = """
            As root: `chgrp -R --reference=DIR DIR && chmod -R g+rwX DIR && find DIR -type d -exec chmod g+s {} +`
            """
        return CheckFinding(
            "access",
            closed.map { "\($0) is not accessible to the group that shares the store" },
            naming: 3,
            ok: "the group that shares the store can use all of it",
            advice: advice.replacing("DIR", with: directory.path)
        )
    }

    /// - Throws: `Errno`
    private static func closedPaths(in directory: StoreDirectory) throws -> [String] {
        let store = try FilePaths.status(of: Array(directory.path.utf8))
        let locks = [
            directory.checkpointLock, directory.waitingLine, directory.claimLock, directory.setUpLock,
            directory.maintenanceLock,
        ]
        let database = ["", "-wal", "-shm"].map { directory.database + $0 }
        let folders = [directory.workers, directory.blobs].flatMap { [$0] + everything(in: $0) }
        return (database + locks + folders).filter { path in
            // A file that does not exist, or no longer does, is not a problem here.
            guard let status = StoreAccess.status(of: path) else { return false }
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            let needed: mode_t = isFolder ? 0o070 : 0o060
            return status.st_gid != store.st_gid || status.st_mode & needed != needed
        }.map { String($0.dropFirst(directory.path.count + 1)) }
    }

    /// The full paths of everything in a folder. The check of blobs reports folders that cannot be listed.
    private static func everything(in folder: String) -> [String] {
        // Lists `folder/.`, because `blobs/` itself may be a link to another disk.
        let entries = (try? StoreAccess.entries(of: folder + "/.")) ?? []
        return entries.flatMap { entry in
            let path = "\(folder)/\(entry.name)"
            return [path] + (entry.type == DT_DIR ? everything(in: path) : [])
        }
    }

    // MARK: - The content of `blobs/`, in one scan

    func checkBlobs(_ report: @Sendable (ByteProgress) -> Void) async throws(StoreError) -> [CheckFinding] {
        let survey = try await survey(readers: 1, report)
        let blobs = survey.finding("\(repairCommand) restores files found in a wrong folder and")
        let others = try await checkFiles(missing: LostBlobs(survey.damaged))
        return [blobs, try await checkOwner()].compactMap { $0 } + others
    }

    /// Checks whose linked files are; no finding for a folder of the store's own.
    private func checkOwner() async throws(StoreError) -> CheckFinding? {
        guard files.isLinked else { return nil }
        return CheckFinding(
            "owner",
            try await othersBytes().map { [$0.description] } ?? [],
            ok: "the files behind the link blobs/ are this store's",
            advice: "A copy of a store must have files of its own",
            severity: .warning
        )
    }

    private func checkFiles(missing lost: LostBlobs) async throws(StoreError) -> [CheckFinding] {
        var (orphaned, unexpected) = ([String](), [String]())
        for name in try await files.folders() {
            let folder = try await files.folder(name, missing: lost)
            unexpected += folder.problems
            for digest in try await orphanedFiles(among: folder.digests, in: name) {
                let path = BlobFiles.path(of: digest)
                if let missed = folder.misplaced[path] {
                    unexpected.append(BlobFiles.misplaced(path, missed))
                } else {
                    orphaned.append("no row references the file of \(digest)")
                }
            }
        }
        return [
            CheckFinding(
                "files",
                orphaned,
                ok: "every file belongs to a blob",
                advice: """
                    A process died between writing the file and its row, or a repair removed the row; \(repairCommand) removes \
                    such files when they are an hour old, except those that are older than the database
                    """,
                severity: .warning
            ),
            CheckFinding(
                "unexpected",
                unexpected,
                naming: 10,
                ok: "nothing else is in blobs/",
                advice: "\(repairCommand) restores files with the bytes of a blob and leaves the rest to you",
                severity: .warning
            ),
        ]
    }

    /// Moves misplaced files of missing blobs back.
    ///
    /// - Returns: the number of files.
    func putBack(_ damaged: [BlobDigest]) async throws(StoreError) -> Int {
        guard !damaged.isEmpty else { return 0 }
        let lost = LostBlobs(damaged)
        var count = 0
        for name in try await files.folders() {
            let misplaced = try await files.folder(name, missing: lost).misplaced.sorted { $0.key < $1.key }
            for (path, digest) in misplaced where try await putBack(path, as: digest) { count += 1 }
        }
        return count
    }

    /// Moves one file back under the write lock, so that its row is not removed meanwhile. A file that cannot be moved
    /// stays a finding.
    private func putBack(_ path: String, as digest: BlobDigest) async throws(StoreError) -> Bool {
        let files = files
        let isDurable = try await files.perform { directory in
            // Whoever copied it there may not have synced it.
            let file = try? OpenFile(opened: open("\(directory.path)/\(path)", O_RDONLY | O_NOFOLLOW | O_CLOEXEC))
            return file.map { fsync($0.descriptor) == 0 } ?? false
        }
        guard isDurable else { return false }
        return try await commit { db in
            guard try db.hasFile(digest), !files.isSound(digest, inline: nil) else { return false }
            do {
                try files.putBack(path, as: digest)
                return true
            } catch is Errno {
                return false
            }
        }
    }
}

extension SQLiteTransaction {
    /// Whether a row names the file of a blob.
    func hasFile(_ digest: BlobDigest) throws -> Bool {
        try value("SELECT EXISTS (SELECT 1 FROM blob WHERE digest = ?1 AND data IS NULL)", [digest.hex]) ?? false
    }
}
