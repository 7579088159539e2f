internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Foundation

// DESIGN. Syncing blocks, so files are written and read on threads of their own, not in the cooperative pool. What writers
// that died have left is removed when a worker starts an hour later.

/// The large blobs of a store in its folder.
final class BlobFiles: Sendable {
    /// The largest blob kept in the database, in bytes; up to about this size SQLite is faster than files
    /// (https://www.sqlite.org/fasterthanfs.html).
    static let inlineLimit = 100 * 1_024
    /// Disk space in bytes that blobs leave free, so that a job that fails because the disk is full can still be
    /// recorded.
    static let margin = 4 * 1_048_576

    let directory: StoreDirectory
    let bytes: DigestFiles
    private let threads = BlockingThreads(limit: 32, name: "cameo-blobs") {}

    init(directory: StoreDirectory) {
        self.directory = directory
        bytes = DigestFiles(in: directory.blobs, sharedBy: StoreAccess.isShared)
    }

    deinit { threads.shutdown() }

    func read(_ digest: BlobDigest) async throws(StoreError) -> Data {
        try await perform { directory in
            let path = directory.blobFile(digest)
            do {
                guard let data = try Self.contents(of: path) else {
                    throw StoreError.damagedBlob(digest: digest.description, isMissing: true)
                }
                return data
            } catch let error as CocoaError {
                throw StoreError.unreadableBlob(path: path, reason: error.localizedDescription)
            }
        }
    }

    /// Opens a blob's file, which must have this size in bytes.
    func file(of digest: BlobDigest, size: Int) async throws(StoreError) -> OpenFile {
        try await perform { directory in
            let path = directory.blobFile(digest)
            let opened = Result { () throws(Errno) in try OpenFile.existing(path, O_RDONLY | O_NOFOLLOW) }
                .mapError { StoreError.unreadableBlob(path: path, reason: "\($0)") }
            guard let file = try opened.get() else {
                throw StoreError.damagedBlob(digest: digest.description, isMissing: true)
            }
            guard let status = file.status(), status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == size else {
                throw StoreError.damagedBlob(digest: digest.description)
            }
            return file
        }
    }

    /// Whether a blob can be read and matches its digest. Blocks; for the rare transactions that must know.
    func isSound(_ digest: BlobDigest, inline: Data?) -> Bool {
        let data = inline ?? (try? Self.contents(of: directory.blobFile(digest)))
        return data.map { BlobDigest(of: $0) == digest } ?? false
    }

    /// The contents of a file; nil if it does not exist.
    static func contents(of path: String) throws -> Data? {
        do {
            return try Data(contentsOf: URL(filePath: path))
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        }
    }

    /// Writes a new blob file without syncing, for a copy that is later synced as a whole.
    func copy(_ data: Data, as digest: BlobDigest) async throws(StoreError) {
        try await perform { directory in
            let path = directory.blobFile(digest)
            let folder = URL(filePath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let file = try StoreAccess.open(path, O_WRONLY | O_CREAT | O_EXCL)
            try data.withUnsafeBytes { try file.write($0) }
        }
    }

    /// Removes unfinished files of writers that died.
    func removeUnfinished(olderThan limit: Date) {
        guard others() == nil else { return }
        _ = try? bytes.removeUnfinished(before: limit, where: StoreDirectory.isUnfinishedBlob)
    }

    /// Whether the disk has room for this many bytes plus the margin.
    func hasRoom(for bytes: Int) -> Bool { Self.freeBytes(of: directory) >= bytes + Self.margin }

    static func freeBytes(of directory: StoreDirectory) -> Int {
        var status = statvfs()
        guard statvfs(directory.path, &status) == 0 else { return .max }  // writing will report the problem
        return Int(status.f_bavail) * Int(status.f_frsize)
    }

    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (StoreDirectory) throws -> Value
    ) async throws(StoreError) -> Value {
        let directory = directory
        let result = await threads.run { _, _ in Result { try body(directory) } }
        do {
            guard let value = try result?.get() else { throw StoreError.failed("\(directory.path) was closed") }
            return value
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }

    // DESIGN. `blobs/` may be a link, to a folder on another disk. A copy of the store's folder then has a link to the same
    // files, and its retention or repair would remove what the original needs. So a linked folder has the mark of one store:
    // where its database is, and which file that is. A moved store is known by the file, one restored in its place by the
    // path; a copy is neither. It reads there, keeps new bytes in its own rows, and removes nothing.

    /// Whose the files are, if `blobs/` is a link and they are another store's. Leaves this store's mark where there is
    /// none. Blocks.
    func others(leavingMark: Bool = true) -> OthersBytes? {
        guard isLinked, let known = (try? bytes.owner()) ?? (leavingMark ? leaveMark() : nil),
            !known.hasPrefix(placePrefix), !known.hasSuffix(fileSuffix)
        else { return nil }
        return OthersBytes(location: directory.blobs, owner: known)
    }

    var isLinked: Bool {
        StoreAccess.status(of: directory.blobs, followingLinks: false).map { $0.st_mode & S_IFMT == S_IFLNK } ?? false
    }

    /// Leaves this store's mark in place of any other.
    ///
    /// - Throws: `Errno`
    func adopt() throws { try bytes.setOwner(mine, replacing: true) }

    /// - Returns: the mark that is there now, which another store may have left first.
    private func leaveMark() -> String? {
        guard (try? bytes.setOwner(mine, replacing: false)) != nil else { return nil }
        return try? bytes.owner()
    }

    private var mine: String { placePrefix + fileSuffix }

    private var placePrefix: String { "store \(directory.path), " }

    private var fileSuffix: String {
        let status = StoreAccess.status(of: directory.database) ?? stat()
        return "file \(status.st_dev):\(status.st_ino)"
    }
}
