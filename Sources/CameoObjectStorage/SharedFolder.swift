package import CameoModel
package import CameoStore
internal import CameoSystem
package import Foundation
internal import Glibc

// DESIGN. As in a store's own folder, bytes are written under a temporary name, synced, renamed to their digest, and the
// folder is synced; a crash leaves at most a file in `tmp`. What differs is that the file system belongs to several hosts:
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
        files = DigestFiles(folder: location)
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
