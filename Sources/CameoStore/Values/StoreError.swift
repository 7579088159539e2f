internal import CameoModel

/// What can go wrong at the store's face.
package enum StoreError: Error, Hashable, Sendable {
    /// There is no store in this folder (and the caller did not ask to create one).
    case missing(path: String)
    case cannotOpen(path: String, reason: String)
    /// The store's name is an URL of an engine that this build does not have.
    case unknownEngine(name: String, scheme: String)
    /// The folder has a database that Cameo did not make.
    case notAStore(path: String)
    case newerSchema(path: String, found: Int, supported: Int)
    /// Nothing that only reads may bring it up to date.
    case olderSchema(path: String, found: Int, needed: Int)
    /// SQLite's locks do not work there.
    case networkFileSystem(path: String, kind: String)
    case readOnly(path: String)
    case full(path: String)
    /// Another process held the write lock for longer than the busy timeout.
    case busy(path: String)
    /// The claim's job was given to somebody else, cancelled or finished meanwhile: nothing was written.
    case leaseLost(jobID: Int64)
    case noSuchJob(Int64)
    case noSuch(Named, String)
    case notFound(uri: String)
    /// The stored bytes do not have the digest that names them; they are never returned.
    case damagedBlob(digest: String)
    /// The file of a blob is not to be read by this user, or is no file; whether its bytes are sound nobody can tell.
    case unreadableBlob(path: String, reason: String)
    /// No copy of the store can be made there.
    case noPlace(path: String, reason: String)
    /// What was to be written breaks a rule of the tables: trying again changes nothing.
    case refused(reason: String)
    /// Pages or indexes of the database are.
    case damagedDatabase(path: String)
    case failed(String)

    /// What has a name that people type.
    package enum Named: String, Sendable {
        case queue, batch, worker
    }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing(let path):
            "there is no store at \(path); enqueue something or start a worker with --store \(path) to create it"
        case .cannotOpen(let path, let reason): "the store at \(path) cannot be opened: \(reason)"
        case .unknownEngine(let name, let scheme):
            "this build has no engine for \(scheme): stores, as \(Self.withoutPassword(name)) is; name a folder, or "
                + "sqlite:///path/to/folder"
        case .notAStore(let path): "\(path)/cameo.sqlite is not a Cameo store"
        case .newerSchema(let path, let found, let supported):
            "the store at \(path) has schema version \(found), made by a newer Cameo; this one knows up to \(supported)"
        case .olderSchema(let path, let found, let needed):
            "the store at \(path) has schema version \(found), made by an older Cameo; this one reads \(needed). End the older "
                + "workers, then start one of this version or run `cameo-admin check --store \(path)`: both bring it up to date"
        case .networkFileSystem(let path, let kind):
            "the store at \(path) is on \(kind), a network file system, where SQLite's locks are not safe; use a local disk"
        case .readOnly(let path): "the store at \(path) is on a read-only disk or in a folder that may not be written"
        case .full(let path): "store.full: no space is left on the disk of the store at \(path)"
        case .busy(let path): "another process held the write lock of the store at \(path) for too long"
        case .leaseLost(let id): "job \(id) is no longer this worker's; its result was dropped"
        case .noSuchJob(let id): "there is no job \(id)"
        case .noSuch(let kind, let name): "there is no \(kind.rawValue) \(name)"
        case .notFound(let uri): "there is nothing at \(uri)"
        case .damagedBlob(let digest): "the stored bytes of \(digest) are damaged: they do not have their digest"
        case .unreadableBlob(let path, let reason): "\(path) cannot be read: \(reason)"
        case .noPlace(let path, let reason): "no backup can be made at \(path): \(reason)"
        case .refused(let reason): "the store refused what was to be written: \(reason)"
        case .damagedDatabase(let path): "the store failed: the database in \(path) is damaged. \(Self.mendingDatabase)"
        case .failed(let reason): "the store failed: \(reason)"
        }
    }

    /// Messages end in logs.
    private static func withoutPassword(_ name: String) -> String {
        name.replacing(#/://[^/@]*@/#, with: "://…@")
    }

    /// What is left to do for a database whose pages are damaged.
    package static let mendingDatabase =
        "End all of Cameo's programs and restore a backup, or recover what can be read: by `.dump` of sqlite3, or `.recover` "
        + "where it has that (README, Damaged tables)"
}
