internal import CameoModel

/// The errors of a store.
package enum StoreError: Error, Hashable, Sendable {
    /// There is no store in this folder (and the caller did not ask to create one).
    case missing(path: String)
    case cannotOpen(path: String, reason: String)
    /// The store's name is a URL of an engine that this build does not include.
    case unknownEngine(name: String, scheme: String)
    /// Only a store in a folder has this operation, and for others there is something else.
    case needsFolder(name: String, instead: String)
    /// The folder contains a database that Cameo did not create.
    case notAStore(path: String)
    case newerSchema(path: String, found: Int, supported: Int)
    /// The store needs a migration, which a read-only open must not do.
    case olderSchema(path: String, found: Int, needed: Int)
    /// The store is on a network file system, where SQLite's locks are not safe.
    case networkFileSystem(path: String, kind: String)
    case readOnly(path: String)
    case full(path: String)
    /// Another process held the write lock for longer than the busy timeout.
    case busy(path: String)
    /// The server cancelled a statement, and again whenever it was repeated.
    case cancelled(path: String)
    /// A server or a shared disk that the store needs did not answer, or asked for patience too often. Trying again later
    /// may succeed.
    case unreachable(location: String, reason: String)
    /// Whether a write was committed is not known. Repeating it is safe where it would be if it was.
    case uncertain(location: String, reason: String)
    /// A server that the store needs refuses its credentials, or grants them too little.
    case denied(location: String, reason: String)
    /// The claim is no longer valid: the job was claimed by another worker, cancelled or finished. Nothing was written.
    case leaseLost(jobID: Int64)
    case noSuchJob(Int64)
    case noSuch(Named, String)
    /// All jobs of the batch were removed; thumbnails that they made are there.
    case batchWithoutJobs(String)
    case notFound(uri: String)
    /// The stored bytes do not match their digest, and are never returned; or they are not there.
    case damagedBlob(digest: String, isMissing: Bool = false)
    /// The blob's file cannot be read by this user or is not a regular file, so its bytes cannot be verified.
    case unreadableBlob(path: String, reason: String)
    /// The store cannot be backed up to this path.
    case invalidBackupTarget(path: String, reason: String)
    /// The write violates a constraint of the tables; retrying does not help.
    case refused(reason: String)
    /// Pages or indexes of the database are damaged.
    case damagedDatabase(path: String)
    /// Expired blobs whose bytes could not be removed, and the reason for the first; all else that had expired was.
    case unremoved(blobs: Int, reason: String)
    case failed(String)

    /// The kinds of thing that people refer to by name.
    package enum Named: String, Sendable {
        case queue, batch, worker, attachment
    }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing(let path):
            "there is no store at \(path); enqueue something or start a worker with --store \(path) to create it"
        case .cannotOpen(let path, let reason): "the store at \(path) cannot be opened: \(reason)"
        // A URL that nothing here can take apart may have a password anywhere, so it is not shown.
        case .unknownEngine(_, let scheme):
            "this build has no engine for \(scheme): stores such as \(scheme)://…; name a folder or "
                + "sqlite:///path/to/folder\(scheme.hasPrefix("postgres") ? ", or use a build for fleets" : "")"
        case .needsFolder(let name, let instead): "\(name) is not a store in a folder; \(instead)"
        case .notAStore(let path):
            path.contains("://")
                ? "the schema of \(path) has other tables than a Cameo store's: name another, or an empty one, by ?schema="
                : "\(path)/cameo.sqlite is not a Cameo store"
        case .newerSchema(let path, let found, let supported):
            "the store at \(path) has schema version \(found), made by a newer Cameo; this one knows up to \(supported)"
        case .olderSchema(let path, let found, let needed):
            "the store at \(path) has schema version \(found), made by an older Cameo; this one reads \(needed). End the older "
                + "workers, then start one of this version or run `cameo-admin check --store \(path)`: both bring it up to date"
        case .networkFileSystem(let path, let kind):
            "the store at \(path) is on \(kind), a network file system, where SQLite's locks are not safe; use a local disk"
        case .readOnly(let path): "the store at \(path) is on a read-only disk or in a folder that may not be written"
        case .full(let path):
            """
            store.full: no space is left on the disk of the store at \(path), or a numbering of its tables has come to its \
            end (`cameo-admin check` says)
            """
        case .busy(let path): "another process held the write lock of the store at \(path) for too long"
        case .cancelled(let path):
            "store.cancelled: the server at \(path) cancelled a statement four times (by hand or by statement_timeout)"
        case .unreachable(let location, let reason): "\(location) cannot be reached: \(reason)"
        case .uncertain(let location, let reason):
            "perhaps accepted, because the outcome of a commit in \(location) is not known: \(reason)"
        case .denied(let location, let reason): "\(location) denies access: \(reason)"
        case .leaseLost(let id): "job \(id) is no longer this worker's; its result was dropped"
        case .noSuchJob(let id): "there is no job \(id)"
        case .noSuch(let kind, let name): "there is no \(kind.rawValue) \(name)"
        case .batchWithoutJobs(let name):
            "the jobs of the batch \(name) were removed, but not its thumbnails: see `cameo-status thumbs --batch NAME` and "
                + "`cameo-status export FOLDER --batch NAME`"
        case .notFound(let uri): "there is nothing at \(uri)"
        case .damagedBlob(let digest, let isMissing):
            "the stored bytes of \(digest) are \(isMissing ? "missing" : "damaged: they do not match their digest")"
        case .unreadableBlob(let path, let reason): "\(path) cannot be read: \(reason)"
        case .invalidBackupTarget(let path, let reason): "no backup can be made at \(path): \(reason)"
        case .refused(let reason): "the store refused the write: \(reason)"
        case .damagedDatabase(let path):
            "the store failed: the database in \(path) is damaged. \(Self.damagedDatabaseAdvice)"
        case .unremoved(let blobs, let reason):
            "\(blobs) expired blobs could not be removed and are tried again in an hour; all else was. The first: \(reason)"
        case .failed(let reason): "the store failed: \(reason)"
        }
    }

    /// Advice for a database with damaged pages.
    package static let damagedDatabaseAdvice =
        "Stop all of Cameo's programs and restore a backup, or recover what can be read with sqlite3's `.dump`, or `.recover` "
        + "if it has that (Operating, Damaged tables)"
}
