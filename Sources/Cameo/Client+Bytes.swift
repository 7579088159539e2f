internal import CameoStore
public import Foundation

// The bytes behind a name, in memory or piece by piece.
extension Client {
    /// The most bytes that a load holds in memory: 256 MiB. An original can be larger where a worker may fetch larger ones.
    public static let maximumDataBytes = 268_435_456

    /// Writes the bytes that currently have this name to a file, piece by piece, however many they are. The file appears under
    /// its name, in place of another, after the bytes have been verified against their digest.
    ///
    /// - Throws: ``CameoURLError``; the error of writing the file; `CancellationError`.
    @concurrent
    public func write(_ uri: CameoURI, to file: URL) async throws {
        let name = uri.description
        let content = try await reading(name) { () throws(StoreError) in try await store.content(of: uri) }
        let bytes = try await reading(name) { () throws(StoreError) in try await store.bytes(of: content.digest) }
        guard case .file(let source, let count) = bytes else {
            if case .inMemory(let data) = bytes { try data.write(to: file, options: .atomic) }
            return
        }
        let folder = file.deletingLastPathComponent()
        let temporary = folder.appending(path: ".\(file.lastPathComponent)-\(UUID().uuidString)")
        defer { unlink(temporary.path) }
        do {
            guard try await Self.copy(source, count, to: temporary) == content.digest else {
                throw CameoURLError.damagedData(name)
            }
            guard rename(temporary.path, file.path) == 0 else { throw Errno() }
        } catch let error as Errno {
            throw POSIXError(POSIXErrorCode(rawValue: error.code) ?? .EIO)
        }
    }

    /// The bytes of what a name refers to, and whether they were in memory.
    func bytes(of content: StoredContent, at url: String) async throws(CameoURLError) -> (
        data: Data, isFromMemory: Bool
    ) {
        if let data = memory.bytes(of: content.digest) { return (data, true) }
        let data: Data
        switch try await reading(url, { () throws(StoreError) in try await store.bytes(of: content.digest) }) {
        case .inMemory(let bytes): data = bytes
        case .file(_, let count):
            guard count <= Self.maximumDataBytes else { throw .tooLarge(url, bytes: count) }
            data = try await reading(url) { () throws(StoreError) in try await store.data(of: content.digest) }
        }
        memory.hold(data, as: content.digest)
        return (data, false)
    }

    func reading<Value>(
        _ url: String,
        _ body: () async throws(StoreError) -> Value
    ) async throws(CameoURLError) -> Value {
        do throws(StoreError) {
            return try await body()
        } catch {
            throw CameoURLError(error, url: url)
        }
    }

    /// Copies a file, and lets other tasks run after each piece, which takes milliseconds.
    private static func copy(_ source: OpenFile, _ count: Int, to file: URL) async throws -> BlobDigest {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Errno() }
        let target = OpenFile(adopting: descriptor)
        var hash = SHA256()
        var piece = [UInt8](repeating: 0, count: 1_048_576)
        var done = 0
        while done < count {
            try Task.checkCancellation()
            let read = pread(source.descriptor, &piece, min(piece.count, count - done), off_t(done))
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { break }
            try piece[..<read].withUnsafeBytes { bytes in
                hash.update(bytes)
                try target.write(bytes)
            }
            done += read
            await Task.yield()
        }
        return hash.finalize()
    }
}
