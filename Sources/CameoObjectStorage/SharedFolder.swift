package import CameoModel
package import CameoStore
internal import CameoSystem
package import Foundation
internal import Glibc

// DESIGN. Bytes are written as in a store's own folder (``DigestFiles``). What differs is that the file system belongs to
// several hosts:
//
// - Where it is not mounted, there may be an empty folder of the same name, into which a host would write for itself alone.
//   So the folder has a mark, made once, and nothing is read, written or listed without it.
// - A host may remember for a while that a file does not exist (nfs(5), lookupcache). Opening the folder asks the server
//   again.
// - A server that does not answer blocks its callers for as long as the mount is told to, so calls have threads of their
//   own.

/// Immutable bytes in a folder of a file system that all hosts share, such as NFS.
package final class SharedFolder: ByteStorage {
    /// The maximum number of calls at a time.
    private static let concurrency = 8

    package let location: String
    private let files: DigestFiles
    private let threads: BlockingThreads<Void>

    /// Opens a folder, which has to exist, because its file system has to be mounted. `creating` tells whether an empty one
    /// becomes a storage. Blocks.
    ///
    /// - Throws: ``StoreError/missing(path:)`` for a folder without the mark; ``StoreError/cannotOpen(path:reason:)``
    package init(at path: String, creating: Bool) throws(StoreError) {
        let absolute = FilePaths.absolute(path)
        guard let real = realpath(absolute, nil) else {
            let error = Errno()
            let missing = "there is no such folder: make it, or mount its file system"
            throw .cannotOpen(path: absolute, reason: error.code == ENOENT ? missing : "\(error)")
        }
        defer { free(real) }
        location = String(cString: real)
        files = DigestFiles(in: location) { $0 & 0o020 != 0 }
        threads = BlockingThreads(limit: Self.concurrency, name: "cameo-folder") {}
        do throws(Errno) {
            if creating { try files.create() }
        } catch {
            guard error.code == ENOTEMPTY else { throw .cannotOpen(path: location, reason: "\(error)") }
            throw .cannotOpen(path: location, reason: "it is neither empty nor a folder of Cameo's bytes")
        }
        guard files.isMarked else { throw .missing(path: location) }
    }

    deinit { threads.shutdown() }

    package func close() { threads.shutdown() }

    package func put(
        _ data: Data,
        as digest: BlobDigest,
        mediaType: String?,
        existing: ExistingBytes
    ) async throws(StoreError) -> PutResult {
        try await perform { files in
            // A file of another size is damaged.
            if existing == .kept, try files.size(of: digest) == data.count {
                // The one who wrote it may not have come so far.
                try files.syncFolder(of: digest)
                return .existed
            }
            try files.write(data, as: digest)
            return .stored
        }
    }

    package func data(of digest: BlobDigest, size: Int) async throws(StoreError) -> Data {
        let data = try await perform { files in
            try Self.read(try Self.open(digest, size, files), 0..<size, of: digest)
        }
        guard BlobDigest(of: data) == digest else { throw .damagedBlob(digest: digest.description) }
        return data
    }

    package func data(of digest: BlobDigest, range: Range<Int>, size: Int) async throws(StoreError) -> Data {
        try await perform { files in try Self.read(try Self.open(digest, size, files), range, of: digest) }
    }

    package func bytes(of digest: BlobDigest, size: Int) async throws(StoreError) -> BlobBytes {
        .file(try await perform { files in try Self.open(digest, size, files) }, count: size)
    }

    package func remove(_ digest: BlobDigest) async throws(StoreError) {
        try await perform { files in try files.remove(digest) }
    }

    package func owner() async throws(StoreError) -> String? { try await perform { files in try files.owner() } }

    package func setOwner(_ mark: String, existing: ExistingBytes) async throws(StoreError) {
        try await perform { files in try files.setOwner(mark, replacing: existing == .replaced) }
    }

    package func list(after cursor: String?, limit: Int) async throws(StoreError) -> StoredObjectPage {
        try await perform { files in try files.page(after: cursor ?? "", limit: min(max(limit, 1), 1_000)) }
    }

    package func removeUnfinished(before time: Date) async throws(StoreError) -> Int {
        try await perform { files in try files.removeUnfinished(before: time) }
    }

    package func temporaryURL(
        of digest: BlobDigest,
        on terms: TemporaryURLTerms
    ) async throws(StoreError) -> TemporaryURL? { nil }

    package func temporaryURLOrigin(at endpoint: Endpoint?) -> String? { nil }

    private static func open(_ digest: BlobDigest, _ size: Int, _ files: DigestFiles) throws -> OpenFile {
        let opened: OpenFile?
        do throws(Errno) {
            opened = try files.open(digest)
        } catch {
            // A link, which Cameo never makes, or a file of another user.
            guard [ELOOP, EACCES, EPERM].contains(error.code) else { throw error }
            throw StoreError.unreadableBlob(path: files.path(of: digest), reason: "\(error)")
        }
        guard let file = opened else { throw StoreError.notFound(uri: CameoURI.blob(digest).text) }
        guard let status = file.status() else { throw Errno() }
        guard status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == size else {
            throw StoreError.damagedBlob(digest: digest.description)
        }
        return file
    }

    private static func read(_ file: OpenFile, _ range: Range<Int>, of digest: BlobDigest) throws -> Data {
        var data = Data(count: range.count)
        let count = try data.withUnsafeMutableBytes { try file.read(into: $0, from: range.lowerBound) }
        guard count == range.count else { throw StoreError.damagedBlob(digest: digest.description) }
        return data
    }

    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable (DigestFiles) throws -> Value
    ) async throws(StoreError) -> Value {
        let files = files
        let result = await threads.run { _, _ in
            Result {
                guard files.isMarked else { throw files.notMounted }
                return try body(files)
            }
        }
        do {
            guard let value = try result?.get() else {
                throw StoreError.unreachable(location: location, reason: "the storage was closed")
            }
            return value
        } catch let error as StoreError {
            throw error
        } catch let error as Errno {
            throw StoreError(error, in: location)
        } catch {
            throw .failed("\(location): \(error)")
        }
    }
}

/// What only a folder of several hosts has: a mark that shows that it is mounted, and a listing.
extension DigestFiles {
    static let mark = "cameo-bytes"
    private static let marking =
        "Cameo keeps bytes here by their SHA-256. This file shows that the folder is mounted.\n"

    /// Whether the folder is the one in which the mark was made.
    var isMarked: Bool { access("\(folder)/\(Self.mark)", F_OK) == 0 }

    var notMounted: StoreError {
        .unreachable(location: folder, reason: "it is without its mark, the file \(Self.mark): is it mounted?")
    }

    /// Marks an empty folder; does nothing in a marked one.
    ///
    /// - Throws: `Errno`: `ENOTEMPTY` for a folder with anything else in it.
    func create() throws(Errno) {
        if isMarked { return }
        // Another host may be creating it too.
        let known: Set = [Self.mark, Self.owner, "tmp", "lost+found", ".snapshot"]
        guard try FilePaths.entries(in: folder).allSatisfy({ known.contains($0.name) || $0.name.hasPrefix(".nfs") })
        else { throw Errno(ENOTEMPTY) }
        try makeFolder(unfinished)
        try write(Data(Self.marking.utf8), to: "\(folder)/\(Self.mark)")
        try FilePaths.sync(folder)
    }

    func remove(_ digest: BlobDigest) throws(Errno) {
        guard unlink(path(of: digest)) == 0 || errno == ENOENT else { throw Errno() }
    }

    /// Opens a file; nil if there is none.
    func open(_ digest: BlobDigest) throws(Errno) -> OpenFile? {
        // The second time after the folder was opened: see DESIGN.
        for isLast in [false, true] {
            if let file = try OpenFile.existing(path(of: digest), O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { return file }
            guard !isLast else { break }
            let parent = Glibc.open("\(folder)/\(digest.hex.prefix(2))", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if parent >= 0 { close(parent) }
        }
        return nil
    }

    /// The size in bytes; nil if there is no file.
    func size(of digest: BlobDigest) throws(Errno) -> Int? {
        guard let file = try open(digest) else { return nil }
        guard let status = file.status() else { throw Errno() }
        return Int(status.st_size)
    }

    /// A page of the files in the order of their digests. What else is in the folder is on the first page, and what else is
    /// in one of its folders stands between that folder's files. The cursor is a file's path within the folder, after which
    /// the page begins; empty for the first page.
    func page(after cursor: String, limit: Int) throws(Errno) -> StoredObjectPage {
        var page = StoredObjectPage()
        var (last, examined) = (cursor, 0)
        for (name, _) in try FilePaths.entries(in: folder) where ![Self.mark, Self.owner, "tmp"].contains(name) {
            guard let entries = try entries(of: name) else {
                if cursor.isEmpty { page.foreign.append(name) }
                continue
            }
            guard name >= cursor.prefix(2) else { continue }
            for path in entries.lazy.map({ "\(name)/\($0)" }) where path > cursor {
                guard examined < limit else {
                    page.next = last
                    return page
                }
                examined += 1
                last = path
                try add(path, to: &page)
            }
        }
        return page
    }

    /// The names in a folder for digests; nil for anything else.
    private func entries(of name: String) throws(Errno) -> [String]? {
        guard BlobDigest.isFolder(name) else { return nil }
        do throws(Errno) {
            return try FilePaths.entries(in: "\(folder)/\(name)").map(\.name)
        } catch {
            guard error.code == ENOTDIR else { throw error }
            return nil
        }
    }

    private func add(_ path: String, to page: inout StoredObjectPage) throws(Errno) {
        var status = stat()
        guard lstat("\(folder)/\(path)", &status) == 0 else {
            // Removed since.
            if errno == ENOENT { return }
            throw Errno()
        }
        guard status.st_mode & S_IFMT == S_IFREG, let digest = BlobDigest(path: path) else {
            page.foreign.append(path)
            return
        }
        let storedAt = Date(modificationOf: status)
        page.objects.append(StoredObject(digest: digest, size: Int(status.st_size), storedAt: storedAt))
    }
}

extension StoreError {
    fileprivate init(_ error: Errno, in folder: String) {
        switch error.code {
        case ENOSPC, EDQUOT: self = .full(path: folder)
        case EROFS: self = .readOnly(path: folder)
        case EACCES, EPERM: self = .denied(location: folder, reason: "\(error)")
        // What a network's file system reports of its server.
        case EIO, ESTALE, ETIMEDOUT, ENOTCONN, ECONNRESET, ECONNREFUSED, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH,
            EREMOTEIO:
            self = .unreachable(location: folder, reason: "\(error)")
        default: self = .failed("\(folder): \(error)")
        }
    }
}
