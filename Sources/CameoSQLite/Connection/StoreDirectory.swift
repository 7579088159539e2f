internal import CLinux
internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Foundation

/// The folder of a store, and the names in it.
package struct StoreDirectory: Hashable, Sendable {
    /// The store's folder as an absolute path without symbolic links; as it was given if that is not UTF-8.
    package let path: String

    package var database: String { path + "/cameo.sqlite" }
    var writeAheadLog: String { database + "-wal" }
    var blobs: String { path + "/blobs" }
    var unfinishedBlobs: String { path + "/blobs/tmp" }
    var workers: String { path + "/workers" }
    var checkpointLock: String { path + "/checkpoint.lock" }
    /// Processes that wait for the write lock show here how long they have waited.
    var waitingLine: String { path + "/waiting.lock" }
    /// Held by the process whose turn it is to claim jobs.
    var claimLock: String { path + "/claim.lock" }
    /// Held by the process that creates or migrates the tables.
    var setUpLock: String { path + "/setup.lock" }

    /// Held by the process that prunes or copies the store.
    var maintenanceLock: String { path + "/maintenance.lock" }

    /// A worker's lock file; nil for an invalid id (``WorkerDescription/isID(_:)``), because a row may contain any text
    /// and `../..` would leave the store.
    func workerLock(_ worker: String) -> String? {
        WorkerDescription.isID(worker) ? "\(workers)/\(worker).lock" : nil
    }

    /// The path of a blob's file, `blobs/ab/cdef…`.
    func blobFile(_ digest: BlobDigest) -> String { "\(blobs)/\(digest.path)" }

    /// A new temporary path for a blob that is being written.
    func unfinishedBlob() -> String { "\(unfinishedBlobs)/\(UUID().uuidString)" }

    /// The path of a blob's file until its removal is committed.
    func removedBlob(_ digest: BlobDigest, by remover: String) -> String {
        "\(unfinishedBlobs)/\(Self.removed)\(digest.hex)-\(remover)"
    }

    private static let removed = "removed-"

    /// Whether a name in `blobs/tmp` is one of Cameo's.
    static func isUnfinishedBlob(_ name: String) -> Bool {
        UUID(uuidString: name) != nil || name.hasPrefix(removed) || isPartial(name)
    }

    /// - Throws: ``StoreError/missing(path:)`` unless `creating`; ``StoreError/networkFileSystem(path:kind:)``.
    init(at path: String, creating: Bool) throws(StoreError) {
        let absolute = FilePaths.absolute(path)
        try Self.prepare(absolute, creating: creating)
        guard let real = realpath(absolute, nil) else { throw .cannotOpen(path: absolute, reason: "\(Errno())") }
        defer { free(real) }
        self.path = String(validatingCString: real) ?? absolute
        if let kind = Self.networkFileSystems[cameo_filesystem_type(self.path)] {
            throw .networkFileSystem(path: self.path, kind: kind)
        }
    }

    /// A folder that will become a store.
    init(unfinished path: String) {
        self.path = path
    }

    private static func prepare(_ path: String, creating: Bool) throws(StoreError) {
        let files = FileManager.default
        if creating {
            do throws(Errno) {
                // Creates one level only, so that a mistyped path does not become a tree of folders.
                guard files.fileExists(atPath: path) || mkdir(path, 0o700) == 0 || errno == EEXIST else {
                    throw Errno()
                }
                for folder in ["blobs", "blobs/tmp", "workers"] { try StoreAccess.makeFolder("\(path)/\(folder)") }
            } catch {
                let parent = (path as NSString).deletingLastPathComponent
                guard error.code == ENOENT, !files.fileExists(atPath: parent) else {
                    throw .cannotOpen(path: path, reason: "\(error)")
                }
                throw .cannotOpen(path: path, reason: "there is no folder \(parent) to create it in")
            }
        } else if !files.fileExists(atPath: path + "/cameo.sqlite") {
            throw access(path + "/.", X_OK) != 0 && errno != ENOENT
                ? StoreError.cannotOpen(path: path, reason: "\(Errno())") : StoreError.missing(path: path)
        }
    }

    /// Creates the database file before SQLite does, because SQLite would make it world-readable. The log inherits its
    /// mode.
    func makeDatabase() throws(Errno) {
        do throws(Errno) {
            _ = try StoreAccess.open(database, O_WRONLY | O_CREAT | O_EXCL)
        } catch {
            // An existing file is not opened, because closing it would drop SQLite's locks.
            guard error.code == EEXIST else { throw error }
        }
    }

    /// Why a database without tables is not a new one; nil if it may be: then nothing in the folder is older than it.
    var emptied: StoreError? {
        let isOld =
            access(claimLock, F_OK) == 0
            || (try? FilePaths.entries(in: blobs + "/.").contains { BlobDigest.isFolder($0.name) }) ?? false
        return isOld ? .damagedDatabase(path: path) : nil
    }

    /// Refuses an emptied database before SQLite opens it, which would delete its log.
    ///
    /// - Throws: ``StoreError/damagedDatabase(path:)``
    func refuseEmptied() throws(StoreError) {
        guard StoreAccess.status(of: database)?.st_size == 0, let emptied else { return }
        throw emptied
    }

    /// File systems whose locks SQLite cannot trust (f_type of statfs(2), linux/magic.h).
    private static let networkFileSystems: [Int64: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2", 0x5346_414F: "AFS", 0x00C3_6400: "Ceph",
    ]
}

/// An entry of a folder; the type is one of `DT_REG` and so on.
typealias FolderEntry = (name: String, type: Int)

// DESIGN. A store is private to its user: folders 0700, files 0600. To share one with a group, an operator creates its
// folder with exactly the mode 2770 before the store exists; everything created in it is then accessible to that group and
// to nobody else, whatever the umask: each user must be able to write what the others created. The folder's set-group-ID
// bit passes its group on; SQLite gives its own files the database's mode.
enum StoreAccess {
    /// Whether the folder's contents are shared with its group. Only this exact mode counts, because nobody gets it by
    /// accident.
    static func isShared(_ folder: String) -> Bool { status(of: folder).map { isShared($0.st_mode) } ?? false }

    static func isShared(_ mode: mode_t) -> Bool { mode & 0o7777 == 0o2770 }

    /// The status of a file, or of a symbolic link itself if links are not followed; nil if there is none. Unlike open and
    /// close this does not affect SQLite's locks.
    static func status(of path: String, followingLinks: Bool = true) -> stat? {
        try? FilePaths.status(of: Array(path.utf8), followingLinks: followingLinks)
    }

    /// The entries of a folder, read from the listing alone: nothing is opened and no link is followed.
    ///
    /// - Throws: `Errno`, including `ENOTDIR` for a link to a folder.
    static func entries(of folder: String) throws(Errno) -> [FolderEntry] {
        try FilePaths.entries(in: folder).map { name, type -> FolderEntry in
            // Some file systems (XFS without `ftype`) do not record types in directories. The shift is `IFTODT`, a macro.
            let status = type == DT_UNKNOWN ? status(of: "\(folder)/\(name)", followingLinks: false) : nil
            return (name, status.map { Int($0.st_mode & S_IFMT) >> 12 } ?? type)
        }
    }

    /// The size of a file in bytes; 0 if there is none.
    static func size(of path: String) -> Int { Int(status(of: path)?.st_size ?? 0) }

    /// Opens a file of the store. A new file gets the access that its folder implies.
    static func open(_ path: String, _ flags: Int32) throws(Errno) -> OpenFile {
        let isShared = isShared(URL(filePath: path).deletingLastPathComponent().path)
        let file = try OpenFile(opened: Glibc.open(path, flags | O_CLOEXEC, isShared ? 0o660 : 0o600))
        // Restores what a umask removed. Another user's file is left as it is.
        if isShared, let status = file.status(), status.st_uid == geteuid(), status.st_mode & 0o777 != 0o660 {
            guard fchmod(file.descriptor, 0o660) == 0 else { throw Errno() }
        }
        return file
    }

    /// Creates a folder in the store unless it exists, with the access that its parent implies.
    static func makeFolder(_ path: String) throws(Errno) {
        let isShared = isShared(URL(filePath: path).deletingLastPathComponent().path)
        guard mkdir(path, isShared ? 0o770 : 0o700) == 0 else {
            if errno == EEXIST { return }
            throw Errno()
        }
        guard isShared, let status = status(of: path), status.st_mode & 0o2770 != 0o2770 else { return }
        guard chmod(path, 0o2770) == 0 else { throw Errno() }
    }
}
