internal import CameoModel
internal import CameoStore
internal import Foundation
internal import GRDB

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
