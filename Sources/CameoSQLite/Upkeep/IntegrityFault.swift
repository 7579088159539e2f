internal import CameoStore
internal import Foundation
internal import GRDB

/// A fault reported by `PRAGMA integrity_check` (https://www.sqlite.org/pragma.html#pragma_integrity_check).
enum IntegrityFault: Hashable, Sendable {
    /// The named index disagrees with the rows of its table, which are sound.
    case index(String, message: String)
    /// A readable row violates a constraint of its table.
    case row(String)
    /// Any other fault; the content of a page may not be readable.
    case page(String)

    var message: String {
        switch self {
        case .index(_, let message), .row(let message), .page(let message): message
        }
    }

    /// SQLite's messages about a single index (`sqlite3Pragma` in pragma.c), followed by its name. Messages about pages
    /// have several lines.
    private static let ofIndexes = [
        " missing from index ", " values differ from index ", " of index ", "wrong # of entries in index ",
        "non-unique entry in index ",
    ]

    init(_ message: String) {
        let ends = Self.ofIndexes.compactMap { message.range(of: $0)?.upperBound }
        if let end = ends.first, !message.contains("\n") {
            self = .index(String(message[end...]), message: message)
        } else if message.contains(#/^(CHECK constraint failed in |(NULL|NUMERIC|TEXT|non-[A-Z]+) value in )/#) {
            self = .row(message)
        } else {
            self = .page(message)
        }
    }

    /// Finds faults of pages, indexes and constraints; pages come first.
    static func found(_ db: Database, atMost limit: Int) throws -> [IntegrityFault] {
        do {
            return try String.fetchAll(db, sql: "PRAGMA integrity_check(\(limit))")
                .filter { $0 != "ok" }.map(Self.init)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return [.page(error.message ?? "its pages cannot be read")]
        }
    }

    /// The indexes that a rebuild would fix; empty if a page is damaged, because a rebuild would read that page.
    static func rebuildableIndexes(_ db: Database) throws -> Set<String> {
        do {
            let messages = try String.fetchCursor(db, sql: "PRAGMA integrity_check(\(Int32.max))")
            var names: Set<String> = []
            // There may be as many messages as rows: one for each row missing from an index.
            while let message = try messages.next() {
                if message == "ok" { continue }
                switch IntegrityFault(message) {
                case .index(let name, _): names.insert(name)
                case .row: break
                case .page: return []
                }
            }
            return names
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return []
        }
    }
}
