internal import CameoEngine
internal import CameoSQLite
internal import CameoStore
public import Foundation

/// A store, opened by a program: enqueues requests, tells what became of them, and reads what was made.
///
/// One client serves any number of tasks. It needs no worker in its process: workers on the same store do the work.
public final class Client: Sendable {
    let store: any Store
    let changes: StoreChanges

    /// Opens the store in this folder, and makes it if there is none.
    ///
    /// - Parameter path: a folder on a local disk.
    /// - Throws: ``CameoError/storeUnavailable(reason:)``
    public convenience init(store path: String) throws(CameoError) {
        do throws(StoreError) {
            try self.init(Engine.open(path))
        } catch {
            throw CameoError(error)
        }
    }

    /// Opens a store to read only: nothing of it is changed, and it may lie on a read-only disk.
    ///
    /// - Throws: ``CameoError/storeUnavailable(reason:)``
    public convenience init(reading path: String) throws(CameoError) {
        do throws(StoreError) {
            try self.init(Engine.open(reading: path))
        } catch {
            throw CameoError(error)
        }
    }

    private init(_ store: any Store) {
        self.store = store
        changes = StoreChanges(store: store)
    }

    /// The store's folder, absolute and without links.
    public var path: String { store.location }

    /// Stores bytes and gives them a URL, without the program writing a file: up to 100 KiB stand in the database, more
    /// in a file beside it.
    ///
    /// - Parameters:
    ///   - data: 1 byte to 100 MiB.
    ///   - mediaType: of what is no picture; a picture's own first bytes tell what it is.
    /// - Returns: `cameo://blob/sha256-<digest>`, the same for the same bytes.
    /// - Throws: ``CameoError/storeFull(reason:)``, or ``CameoError/invalidRequest(field:reason:)`` for a size that is
    ///   not allowed or a media type that could not stand in a header.
    public func store(_ data: Data, mediaType: String? = nil) async throws(CameoError) -> CameoURI {
        guard (1...StoreLimits.uploadBytes).contains(data.count) else {
            let reason = "must have 1 to \(StoreLimits.uploadBytes) bytes, not \(data.count)"
            throw .invalidRequest(field: "data", reason: reason)
        }
        if let mediaType, !MediaType.isWellFormed(mediaType) {
            throw .invalidRequest(field: "mediaType", reason: "\"\(mediaType)\" is not a media type such as text/plain")
        }
        let digest = try await asking { () throws(StoreError) in try await store.store(data, mediaType: mediaType) }
        return .blob(digest)
    }

    /// The bytes that a name stands for now, verified against their digest.
    public func data(for uri: CameoURI) async throws(CameoURLError) -> Data {
        do throws(StoreError) {
            let data = try await store.data(of: uri)
            store.noteReading(of: uri)
            return data
        } catch {
            throw CameoURLError(error, url: uri.description)
        }
    }

    /// Ends what earlier calls have left to be done after they returned: readings of thumbnails are noted, and a long
    /// write-ahead log is moved into the database, unless a reader or another process is in the way. For a program that is
    /// about to end; the client can be used on.
    ///
    /// Without it nothing breaks and no job is lost: the next program on the store does it, and until then the log keeps
    /// its length on the disk. Where no worker runs, that may be for long.
    public func finish() async {
        await store.finish()
    }

    /// What only a store in a folder has.
    func embedded() throws(CameoError) -> SQLiteStore {
        guard let embedded = store as? SQLiteStore else {
            throw .storeUnavailable(reason: "\(path) lies in no folder: use its own engine's tools")
        }
        return embedded
    }

    func asking<Value>(_ body: () async throws(StoreError) -> Value) async throws(CameoError) -> Value {
        do throws(StoreError) {
            return try await body()
        } catch {
            throw CameoError(error)
        }
    }
}
