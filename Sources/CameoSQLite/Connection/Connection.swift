internal import CSQLiteConfig
internal import CameoStore
internal import Foundation
internal import GRDB

// DESIGN. Each connection is a GRDB DatabaseQueue with a thread of its own, not a DatabasePool: a pool sets
// synchronous=NORMAL and writes on every opening, and `PRAGMA data_version` must stay on one connection.
// Every connection of Cameo
//   - waits for a lock by a constant short retry, and in line (``Patience``, ``WaitingLine``): SQLite's own growing
//     sleep starves old waiters;
//   - never checkpoints by itself (``Checkpointer`` does), not even when it is closed;
//   - distrusts the schema and refuses to have it rewritten (DEFENSIVE, trusted_schema=OFF).
enum Connection {
    /// How a connection may use the file.
    enum Access {
        case readWrite
        case readOnly
        /// Read-only, of a file that nobody can change now: no locks, no `-shm`, so that it works on read-only disks.
        case immutable
    }

    /// A page is what the log has of each row that changes. With 8 KiB inline blobs are a little faster, and a job for a
    /// small picture writes nearly twice as much.
    static let pageSize = 4_096

    private static let configuration: Void = cameo_sqlite_configure()

    static func open(_ path: String, _ access: Access, patience: Patience = Patience()) throws -> DatabaseQueue {
        Self.configuration
        var configuration = Configuration()
        configuration.label = "cameo.store"
        configuration.readonly = access != .readWrite
        configuration.publicStatementArguments = false
        configuration.busyMode = .callback { tries in
            patience.lastsAnotherTry(after: tries)
        }
        configuration.prepareDatabase { db in
            let code = cameo_sqlite_harden(UnsafeMutableRawPointer(db.sqliteConnection))
            guard code == 0 else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            if access == .readWrite {
                try db.execute(sql: "PRAGMA synchronous = FULL")
            }
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192; PRAGMA mmap_size = 0")
        }
        switch access {
        case .readWrite, .readOnly:
            return try DatabaseQueue(path: path, configuration: configuration)
        case .immutable:
            let escaped = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
            return try DatabaseQueue(path: "file:\(escaped)?immutable=1", configuration: configuration)
        }
    }
}
