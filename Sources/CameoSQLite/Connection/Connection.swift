internal import CSQLiteConfig
internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Foundation
internal import GRDB

// DESIGN. Each connection is a GRDB DatabaseQueue with its own thread, not a DatabasePool: a pool sets
// synchronous=NORMAL and writes at every opening, and `PRAGMA data_version` must stay on one connection.
// Every connection of Cameo
//   - waits for a lock with constant short retries, and in line (``Patience``, ``WaitingLine``), because SQLite's own
//     growing sleep starves old waiters;
//   - never checkpoints by itself (``Checkpointer`` does), not even when it is closed;
//   - distrusts the schema and refuses to rewrite it (DEFENSIVE, trusted_schema=OFF).
enum Connection {
    enum Access {
        case readWrite
        case readOnly
        /// Read-only access to a file that cannot change: no locks and no `-shm`, so that it works on read-only disks.
        case immutable
    }

    /// The page size in bytes. The log stores a whole page for each changed row: 8 KiB makes inline blobs a little
    /// faster, but a job for a small picture then writes nearly twice as much.
    static let pageSize = 4_096

    private static let configuration: Void = cameo_sqlite_configure()

    static func open(_ path: String, _ access: Access, patience: Patience = Patience()) throws -> DatabaseQueue {
        Self.configuration
        var configuration = Configuration()
        configuration.label = "cameo.store"
        configuration.readonly = access != .readWrite
        configuration.publicStatementArguments = false
        configuration.busyMode = .callback { tries in patience.lastsAnotherTry(after: tries) }
        configuration.prepareDatabase { db in
            let code = cameo_sqlite_harden(UnsafeMutableRawPointer(db.sqliteConnection))
            guard code == 0 else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            if access == .readWrite { try db.execute(sql: "PRAGMA synchronous = FULL") }
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192; PRAGMA mmap_size = 0")
        }
        guard access == .immutable else { return try DatabaseQueue(path: path, configuration: configuration) }
        let escaped = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
        return try DatabaseQueue(path: "file:\(escaped)?immutable=1", configuration: configuration)
    }
}

extension StoreError {
    init(_ error: any Error, path: String) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError: self.init(error, path: path)
        case let error as Errno: self.init(error, path: path)
        default: self = .failed(String(describing: error))
        }
    }

    private init(_ error: DatabaseError, path: String) {
        switch error.resultCode {
        case .SQLITE_FULL: self = .full(path: path)
        case .SQLITE_READONLY: self = .readOnly(path: path)
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy(path: path)
        case .SQLITE_NOTADB: self = .notAStore(path: path)
        case .SQLITE_CORRUPT: self = .damagedDatabase(path: path)
        case .SQLITE_CANTOPEN: self = .cannotOpen(path: path, reason: error.message ?? "unknown reason")
        case .SQLITE_CONSTRAINT: self = .refused(reason: error.message ?? "unknown reason")
        default: self = .failed("\(error.message ?? "unknown reason") (\(error.extendedResultCode))")
        }
    }

    init(_ error: Errno, path: String) {
        switch error.code {
        case ENOSPC, EDQUOT: self = .full(path: path)
        case EROFS, EACCES: self = .readOnly(path: path)
        case _ where error.isShortage: self = .cannotOpen(path: path, reason: error.description)
        default: self = .failed("\(path): \(error)")
        }
    }
}
