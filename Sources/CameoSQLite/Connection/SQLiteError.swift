internal import CSQLite
internal import CameoStore
internal import CameoSystem
internal import Foundation

/// What SQLite says of a call that failed.
struct SQLiteError: Error, CustomStringConvertible {
    /// https://www.sqlite.org/rescode.html
    let extendedCode: CInt
    let message: String

    /// The primary result code.
    var code: CInt { extendedCode & 0xFF }
    /// A row refers to one that does not exist.
    var isDanglingReference: Bool { extendedCode == SQLITE_CONSTRAINT | 3 << 8 }

    var description: String { "\(message) (\(extendedCode) (\(String(cString: sqlite3_errstr(extendedCode)))))" }
}

extension StoreError {
    init(_ error: any Error, path: String) {
        switch error {
        case let error as StoreError: self = error
        case let error as SQLiteError: self.init(error, path: path)
        case let error as Errno: self.init(error, path: path)
        default: self = .failed(String(describing: error))
        }
    }

    private init(_ error: SQLiteError, path: String) {
        switch error.code {
        case SQLITE_FULL: self = .full(path: path)
        case SQLITE_READONLY: self = .readOnly(path: path)
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy(path: path)
        case SQLITE_NOTADB: self = .notAStore(path: path)
        case SQLITE_CORRUPT: self = .damagedDatabase(path: path)
        case SQLITE_CANTOPEN: self = .cannotOpen(path: path, reason: error.message)
        case SQLITE_CONSTRAINT: self = .refused(reason: error.message)
        default: self = .failed(error.description)
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
