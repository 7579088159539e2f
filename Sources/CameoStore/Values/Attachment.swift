package import CameoModel
package import Foundation

/// What a column of pictures holds.
package enum AttachedKind: String, Hashable, Sendable, CaseIterable {
    /// URLs: `https:`, `http:`, `data:` and `initials:`.
    case url
    /// Paths of files that a worker can read.
    case path
    /// The pictures themselves.
    case bytes
    /// `cameo:` URIs.
    case cameo
}

/// A column of a program's table, whose rows enqueue jobs and forget thumbnails in their own transactions.
package struct Attachment: Hashable, Sendable {
    /// The table as the engine's statements name it, quoted, and its schema and name.
    package var table: String
    package var schema: String?
    package var tableName: String
    /// The column that has the pictures, and the one that names the rows.
    package var column, key: String
    package var kind: AttachedKind
    /// Where relative values begin and others must: a URL or a folder with a slash at its end; or empty.
    package var base = ""
    /// A column whose values are a further label of the row's thumbnails.
    package var label: String?
    package var queue = ThumbnailRequest.defaultQueue
    package var renditions: [Rendition]
    /// The database that has the table, if it is not the store's: the path of an SQLite file.
    package var place: String?
    /// Why its rows are not followed at present; nil if they are.
    package var trouble: String?
    /// Whether all rows that existed were read.
    package var isFilled = false

    package init(
        table: String,
        schema: String?,
        tableName: String,
        column: String,
        key: String,
        kind: AttachedKind,
        renditions: [Rendition]
    ) {
        (self.table, self.schema, self.tableName) = (table, schema, tableName)
        (self.column, self.key, self.kind, self.renditions) = (column, key, kind, renditions)
    }

    /// The name by which it is detached, and the label of its thumbnails: `users.picture`.
    package var name: String {
        let file = place?.split(separator: "/").last?.split(separator: ".").first.map(String.init)
        let schema = (schema ?? file).map { "\($0)." } ?? ""
        return "\(schema)\(tableName.hasPrefix("app_") ? String(tableName.dropFirst(4)) : tableName).\(column)"
    }
    /// What reads the state of its rows, and what the names of its triggers begin with.
    package var view: String { "app_cameo_\(name.replacing(".", with: "_"))" }

    /// The table that shows the state of its rows in another database.
    package var mirror: String { "cameo_\(tableName)_\(column)" }

    /// What the names of a rendition's columns in the view begin with.
    package static func column(of rendition: Rendition) -> String {
        String(rendition.name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    /// The columns of the view, besides the key.
    package var columns: [String] {
        ["state", "failure_code", "failure_message", "job_id"]
            + renditions.flatMap { rendition in
                Self.columnsOfRendition.map { "\(Self.column(of: rendition))_\($0)" }
            }
    }
    package static let columnsOfRendition = ["uri", "width", "height", "type", "bytes", "placeholder", "color"]

    /// What a relative value is appended to, as a source has it.
    package var root: String {
        kind == .path ? "file://\(PercentEncoding.encoded(base.utf8, keeping: [UInt8(ascii: "/")]))" : base
    }

    /// Why a table with these columns is not followed; nil if it has those that are needed.
    package func objection(to columns: [String]) -> String? {
        if columns.isEmpty { return "the table \(tableName) is gone" }
        return [column, key, label].compactMap(\.self).first { !columns.contains($0) }
            .map { "the column \($0) of \(tableName) is gone" }
    }

    /// For people and programs.
    package var json: JSONValue {
        [
            "name": .string(name), "table": .string(table), "column": .string(column), "key": .string(key),
            "as": .string(kind.rawValue), "base": .string(base), "label": label.map(JSONValue.string) ?? .null,
            "in": place.map(JSONValue.string) ?? .null, "queue": .string(queue),
            "renditions": .array(renditions.map(\.json)), "view": .string(view),
            "trouble": trouble.map(JSONValue.string) ?? .null, "filled": .bool(isFilled),
        ]
    }
}

/// A column to follow, as people name it.
package struct WantedAttachment: Sendable {
    package let table, column, key: String
    package let kind: AttachedKind
    package let base: String
    package let label: String?
    package let queue: String
    package let renditions: [Rendition]
    /// The path of the database that has the table, if it is not the store's, and the table as it is there.
    package var place: (path: String, table: FollowedTable)?

    package init(
        table: String,
        column: String,
        key: String,
        kind: AttachedKind,
        base: String = "",
        label: String? = nil,
        queue: String = ThumbnailRequest.defaultQueue,
        renditions: [Rendition]
    ) {
        (self.table, self.column, self.key, self.kind) = (table, column, key, kind)
        (self.base, self.label, self.queue, self.renditions) = (base, label, queue, renditions)
    }
}

/// A table that is to be followed, as it was found.
package struct FollowedTable: Sendable {
    /// As statements name it.
    package let target: String
    /// Nil if it needs none to be found.
    package let schema: String?
    package let name: String
    /// The types of its columns.
    package let types: [String: String]
    /// The columns of which each tells all rows apart.
    package let keys: Set<String>

    package init(target: String, schema: String?, name: String, types: [String: String], keys: Set<String>) {
        (self.target, self.schema, self.name, self.types, self.keys) = (target, schema, name, types, keys)
    }
}

/// What a row of a followed table has now.
package struct FollowedRow: Sendable {
    /// The number of the change, if it is one.
    package let change: Int64?
    package let key: String
    package let number: Int64?
    /// Text that names a picture, or the picture itself; neither: the row has none, or is gone.
    package let value: String?
    package let picture: Data?
    package let label: String?

    /// Whether it was changed; otherwise it is only read again.
    package let isChange: Bool

    package init(
        change: Int64? = nil,
        key: String,
        number: Int64? = nil,
        value: String? = nil,
        picture: Data? = nil,
        label: String? = nil,
        isChange: Bool
    ) {
        (self.change, self.key, self.number, self.value) = (change, key, number, value)
        (self.picture, self.label, self.isChange) = (picture, label, isChange)
    }

    package var size: Int? { picture?.count ?? value?.utf8.count }
}

/// How the rows of an attached table compare with what Cameo has of them.
package struct AttachmentCounts: Hashable, Codable, Sendable {
    /// Rows that have a picture.
    package var rows = 0
    /// Rows that Cameo does not know, or of which it knows another picture.
    package var missing = 0, stale = 0
    /// What Cameo knows of rows that are gone.
    package var orphaned = 0
    /// Values that are no source; jobs that failed; jobs that have not ended.
    package var invalid = 0, failed = 0, waiting = 0
    /// Rows whose thumbnails are gone without a word of theirs, because they were forgotten or lost.
    package var lost = 0

    package init() {}

    package static func += (counts: inout Self, more: Self) {
        for count in [\Self.rows, \.missing, \.stale, \.orphaned, \.invalid, \.failed, \.waiting, \.lost] {
            counts[keyPath: count] += more[keyPath: count]
        }
    }

    /// Whether a repair has something to do.
    package var needsRepair: Bool { missing + stale + orphaned + lost > 0 }
}

/// What rows of an attached table a step has read.
package struct AttachmentStep: Hashable, Sendable {
    package var rows: Int
    package var isLast: Bool

    package init(rows: Int, isLast: Bool) { (self.rows, self.isLast) = (rows, isLast) }
}
