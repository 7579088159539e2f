internal import CameoEngine
internal import CameoStore
internal import CameoSystem
public import Foundation

/// An open store: enqueues requests, reports their status and reads thumbnails.
///
/// A client may be used by any number of tasks. It needs no worker in its process: any worker on the same store does the
/// work.
public final class Client: Sendable {
    let store: any Store
    let changes: StoreChanges
    /// Recently read bytes, shared by all sessions of the client.
    let memory: BlobMemory

    /// How much a client holds in memory unless it is told otherwise: 32 MiB.
    public static let standardMemoryCapacity = BlobMemory.standardCapacity

    /// Opens the store in this folder, or creates it.
    ///
    /// - Parameters:
    ///   - path: a folder on a local disk.
    ///   - memoryCapacity: the maximum size in bytes of recently read pictures that are held in memory; 0 holds none.
    /// - Throws: ``CameoError/storeUnavailable(reason:)``
    public convenience init(store path: String, memoryCapacity: Int = standardMemoryCapacity) throws(CameoError) {
        try self.init(memoryCapacity) { () throws(StoreError) in try Engine.open(path) }
    }

    /// Opens a store for reading only. It is never changed, and may be on a read-only disk.
    ///
    /// - Parameters:
    ///   - path: the store's folder.
    ///   - memoryCapacity: as for ``init(store:memoryCapacity:)``.
    /// - Throws: ``CameoError/storeUnavailable(reason:)``
    public convenience init(reading path: String, memoryCapacity: Int = standardMemoryCapacity) throws(CameoError) {
        try self.init(memoryCapacity) { () throws(StoreError) in try Engine.open(reading: path) }
    }

    private init(_ memoryCapacity: Int, _ open: () throws(StoreError) -> any Store) throws(CameoError) {
        store = try Result(catching: open).mapError { CameoError($0) }.get()
        memory = BlobMemory(capacity: memoryCapacity)
        changes = StoreChanges(store: store)
    }

    /// The absolute path of the store's folder, without links.
    public var path: String { store.location }

    /// What is held in memory, and how often it was what a read asked for.
    public var memoryUse: MemoryUse { memory.use }

    /// Stores bytes under a URL. Up to 100 KiB are stored in the database, more in a file beside it.
    ///
    /// - Parameters:
    ///   - data: 1 byte to 100 MiB.
    ///   - mediaType: the type of data that is not a picture; pictures are recognized by their first bytes.
    /// - Returns: `cameo://blob/sha256-<digest>`, the same for the same bytes.
    /// - Throws: ``CameoError/storeFull(reason:)``, or ``CameoError/invalidRequest(field:reason:)`` for an invalid size or
    ///   media type.
    public func store(_ data: Data, mediaType: String? = nil) async throws(CameoError) -> CameoURI {
        guard (1...StoreLimits.uploadBytes).contains(data.count) else {
            let reason = "must have 1 to \(StoreLimits.uploadBytes) bytes, not \(data.count)"
            throw .invalidRequest(field: "data", reason: reason)
        }
        if let mediaType, !MediaType.isWellFormed(mediaType) {
            throw .invalidRequest(field: "mediaType", reason: "\"\(mediaType)\" is not a media type such as text/plain")
        }
        return .blob(try await asking { try await store.store(data, mediaType: mediaType) })
    }

    /// The bytes that currently have this name, verified against their digest.
    ///
    /// - Throws: ``CameoURLError/tooLarge(_:bytes:)`` for more than ``maximumDataBytes``, and the other cases.
    public func data(for uri: CameoURI) async throws(CameoURLError) -> Data {
        let name = uri.description
        let content = try await reading(name) { () throws(StoreError) in try await store.content(of: uri) }
        return try await bytes(of: content, at: name).data
    }

    /// The WebVTT file of a storyboard (`Rendition.Storyboard`), as players of videos read it to show tiles above their seek
    /// bar.
    ///
    /// - Parameters:
    ///   - uri: a thumbnail's.
    ///   - sheet: the address at which the player finds the thumbnail.
    /// - Returns: nil if the thumbnail is no storyboard of a video.
    /// - Throws: ``CameoURLError/noDataAvailable(_:)`` if it has not been made yet.
    public func webVTT(for uri: CameoURI, sheet: String) async throws(CameoURLError) -> String? {
        try await reading(uri.text) { () throws(StoreError) in try await store.webVTT(of: uri, sheet: sheet) }
    }

    /// Completes deferred work before a program ends: records when thumbnails were read, and moves a long write-ahead log into
    /// the database, unless a reader or another process prevents it. The client can still be used afterwards.
    ///
    /// The call is optional, and without it no job is lost: the next program on the store does the work. Until then, which may
    /// be long if no worker runs, the log keeps its size on disk.
    public func finish() async {
        await store.finish()
    }

    /// What the store answers, with its errors, and those of the model, as this module's.
    func asking<Value>(_ body: () async throws -> Value) async throws(CameoError) -> Value {
        do {
            return try await body()
        } catch {
            throw CameoError(erased: error)
        }
    }
}

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
        let target = try OpenFile(opened: open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666))
        var hash = SHA256()
        let length = 1_048_576
        for start in stride(from: 0, to: count, by: length) {
            try Task.checkCancellation()
            try source.bytes(in: start..<min(start + length, count)).withUnsafeBytes { bytes in
                hash.update(bytes)
                try target.write(bytes)
            }
            await Task.yield()
        }
        return hash.finalize()
    }
}

extension ThumbnailRequest {
    /// A request whose source is a stored picture.
    public init(source: CameoURI, renditions: [Rendition]) {
        self.init(source: source.text, renditions: renditions)
    }

    /// A request for a picture whose bytes are enqueued with it by ``Client/enqueue(_:data:cacheKey:)``.
    public init(renditions: [Rendition]) {
        self.init(source: "data:,", renditions: renditions)
    }
}
