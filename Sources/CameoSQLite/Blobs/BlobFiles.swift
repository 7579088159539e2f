internal import CLinux
internal import CameoModel
internal import CameoStore
internal import Foundation
internal import GRDB
internal import Synchronization

// DESIGN. Bytes are durable before the transaction that names them (invariant I2): a large blob is written under a
// temporary name, synced, renamed to its digest, and its folder synced. A crash in between leaves a file that no row
// names; one with a temporary name is removed when a worker starts an hour later. Writing over a blob that exists is
// harmless (same bytes) and renews its age, which keeps the collector away from it.
//
// Threads: syncing blocks, so files are written and read on a queue of this room's own, not in the cooperative pool.
final class BlobFiles: Sendable {
    /// Bytes up to which a blob stands in the database; SQLite is faster than files up to about there
    /// (https://www.sqlite.org/fasterthanfs.html).
    static let inlineLimit = 100 * 1_024
    /// Bytes of the disk that blobs leave free: a job that fails because the disk is full must find room to say so.
    static let margin = 4 * 1_048_576

    let directory: StoreDirectory
    /// Folders whose own names are known to be durable.
    private let syncedFolders = Mutex<Set<String>>([])
    private let queue = DispatchQueue(label: "cameo.blob-files", attributes: .concurrent)

    init(directory: StoreDirectory) {
        self.directory = directory
    }

    /// Makes the bytes durable unless they are to stand in their row.
    func prepare(_ data: Data, digest: BlobDigest, mediaType: String?) async throws(StoreError) -> PreparedBlob {
        guard hasRoom(for: data.count) else { throw .full(path: directory.path) }
        let isInline = data.count <= Self.inlineLimit
        if !isInline {
            try await perform { [self] directory in try write(data, as: digest, in: directory) }
            KillPoint.afterBlobSync.pass()
        }
        return PreparedBlob(
            digest: digest,
            size: data.count,
            data: isInline ? data : nil,
            mediaType: mediaType
        )
    }

    func read(_ digest: BlobDigest) async throws(StoreError) -> Data {
        try await perform { directory in
            let path = directory.blobFile(digest)
            do {
                guard let data = try Self.contents(of: path) else {
                    throw StoreError.damagedBlob(digest: digest.description)
                }
                return data
            } catch let error as CocoaError {
                throw StoreError.unreadableBlob(path: path, reason: error.localizedDescription)
            }
        }
    }

    /// The file of a blob with so many bytes.
    func file(of digest: BlobDigest, size: Int) async throws(StoreError) -> OpenFile {
        try await perform { directory in
            let path = directory.blobFile(digest)
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else {
                let error = Errno()
                guard error.code != ENOENT else { throw StoreError.damagedBlob(digest: digest.description) }
                throw StoreError.unreadableBlob(path: path, reason: "\(error)")
            }
            let file = OpenFile(adopting: descriptor)
            guard let status = file.status(), status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == size else {
                throw StoreError.damagedBlob(digest: digest.description)
            }
            return file
        }
    }

    /// Whether the blob of a row can be read and is what its digest says. Blocks; for the rare places where a
    /// transaction must know.
    func isSound(_ digest: BlobDigest, inline: Data?) -> Bool {
        let data = inline ?? (try? Self.contents(of: directory.blobFile(digest)))
        return data.map { SHA256.digest(of: $0) == digest } ?? false
    }

    /// Nil if there is no such file.
    static func contents(of path: String) throws -> Data? {
        do {
            return try Data(contentsOf: URL(filePath: path))
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        }
    }

    /// Writes a blob's file where none is, for a folder that is synced as a whole before it counts.
    func copy(_ data: Data, as digest: BlobDigest) async throws(StoreError) {
        try await perform { directory in
            let path = directory.blobFile(digest)
            let folder = URL(filePath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let file = try StoreAccess.open(path, O_WRONLY | O_CREAT | O_EXCL)
            try data.withUnsafeBytes { try file.write($0) }
        }
    }

    /// Removes what writers left that died in the middle of a file.
    func removeUnfinished(olderThan limit: Date) {
        let files = FileManager.default
        let names = (try? files.contentsOfDirectory(atPath: directory.unfinishedBlobs)) ?? []
        for name in names where StoreDirectory.isUnfinishedBlob(name) {
            let path = "\(directory.unfinishedBlobs)/\(name)"
            let changed = (try? files.attributesOfItem(atPath: path))?[.modificationDate] as? Date
            if let changed, changed < limit { unlink(path) }
        }
    }

    /// Whether the disk takes so many bytes more and leaves its margin.
    func hasRoom(for bytes: Int) -> Bool { Self.freeBytes(of: directory) >= bytes + Self.margin }

    static func freeBytes(of directory: StoreDirectory) -> Int {
        var status = statvfs()
        guard statvfs(directory.path, &status) == 0 else { return .max }  // writing will tell what is wrong
        return Int(status.f_bavail) * Int(status.f_frsize)
    }

    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (StoreDirectory) throws -> Value
    ) async throws(StoreError) -> Value {
        let directory = directory
        let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { try body(directory) }) }
        }
        do {
            return try result.get()
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }

    private func write(_ data: Data, as digest: BlobDigest, in directory: StoreDirectory) throws {
        let temporary = directory.unfinishedBlob()
        let destination = directory.blobFile(digest)
        do {
            try Self.writeAndSync(data, to: temporary)
            try move(temporary, to: destination)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Puts a file that is synced into its place, where it is durable on return.
    func move(_ path: String, to place: String) throws {
        let folder = URL(filePath: place).deletingLastPathComponent().path
        try StoreAccess.makeFolder(folder, sharedAs: 0o770)
        // Also for a folder that is there already: whoever made it may not have come to syncing it.
        if !syncedFolders.withLock({ $0.contains(folder) }) {
            guard cameo_sync_directory(directory.blobs) == 0 else { throw Errno() }
            _ = syncedFolders.withLock { $0.insert(folder) }
        }
        guard rename(path, place) == 0 else { throw Errno() }
        guard cameo_sync_directory(folder) == 0 else { throw Errno() }
    }

    private static func writeAndSync(_ data: Data, to path: String) throws {
        let file = try StoreAccess.open(path, O_WRONLY | O_CREAT | O_EXCL)
        try data.withUnsafeBytes { try file.write($0) }
        guard fsync(file.descriptor) == 0 else { throw Errno() }
    }
}

/// A blob whose bytes are safe, ready to be named by a row.
struct PreparedBlob: Sendable {
    let digest: BlobDigest
    let size: Int
    /// Nil when they stand in a file.
    let data: Data?
    let mediaType: String?

    func insert(in db: Database, at now: Int64) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO blob(digest, size, data, media_type, created_at) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT(digest) DO UPDATE SET data = excluded.data, created_at = excluded.created_at
                """
        )
        try statement.execute(arguments: [digest.hex, size, data, mediaType, now])
    }
    /// Gives the bytes a row that nothing names, so that the collector finds them; one that is there stays as it is.
    func leave(in db: Database, at now: Int64) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO blob(digest, size, data, media_type, created_at) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT(digest) DO NOTHING
                """
        )
        try statement.execute(arguments: [digest.hex, size, data, mediaType, now])
        try SQLiteStore.noteOrphan(digest, at: now, db)
    }
}
