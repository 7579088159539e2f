internal import CameoQueue
package import CameoStore
internal import Foundation

// DESIGN. A program's own file has three things of Cameo's: triggers on the attached table, an outbox that they fill, and a
// mirror that shows what became of each row, so that a program can join it. The file is opened as it is: neither its journal
// mode nor its settings are changed. What is read again goes through the outbox too, so that it comes in the order of the changes.

/// A database of another program in an SQLite file, with attached tables.
package final class OwnDatabase: FollowedDatabase {
    package let path: String
    private let queue: ConnectionQueue
    /// The most bytes of pictures that are moved at a time, after the first.
    private static let bytes = 16 * 1_048_576

    /// - Throws: ``StoreError/refused(reason:)``, also if there is no such file, or it is no database.
    package init(at path: String) throws(StoreError) {
        self.path = path
        do {
            queue = try ConnectionQueue(path, .others)
            try queue.sync { db in _ = try db.rows("SELECT 1 FROM sqlite_schema LIMIT 1") }
        } catch {
            throw .refused(reason: "\(path) cannot be opened: \(error)")
        }
    }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Value
    ) async throws(StoreError) -> Value {
        do { return try await queue.run(body) } catch { throw StoreError(error, path: path) }
    }

    private func write(_ body: @escaping @Sendable (SQLiteConnection) throws -> Void) async throws(StoreError) {
        try await run { db in try db.inTransaction(.write) { try body(db) } }
    }

    package func version() async throws(StoreError) -> Int64 {
        try await run { db in try db.value("PRAGMA data_version") ?? 0 }
    }

    package func table(_ name: String) async throws(StoreError) -> FollowedTable {
        let path = path
        return try await run { db in try TableTriggers.table(name, in: db, at: path) }
    }

    package func trouble(of attachment: Attachment) async throws(StoreError) -> String? {
        try await run { db in try TableTriggers.trouble(of: attachment, in: db) }
    }

    // MARK: - Triggers, outbox and mirror

    private static let outbox = """
        CREATE TABLE IF NOT EXISTS cameo_outbox(
          id INTEGER PRIMARY KEY AUTOINCREMENT, attachment TEXT NOT NULL, key TEXT NOT NULL, number INTEGER, value, label TEXT,
          is_change INTEGER NOT NULL);
        """

    package func follow(_ attachment: Attachment) async throws(StoreError) {
        try await write { db in
            try db.execute(script: Self.outbox)
            for statement in try Self.following(attachment, db) { try db.execute(statement) }
        }
    }

    private static func triggers(_ attachment: Attachment, _ db: SQLiteConnection) throws -> TableTriggers {
        let table = try TableTriggers.table(attachment.tableName, in: db, at: attachment.place ?? "")
        return TableTriggers(attachment: attachment, keyType: table.types[attachment.key] ?? "")
    }

    private static func following(_ attachment: Attachment, _ db: SQLiteConnection) throws -> [String] {
        let triggers = try triggers(attachment, db)
        let (mirror, key) = (attachment.mirror.quotedName, triggers.key)
        let columns = attachment.columns.map { $0.quotedName }
        let known = try db.rows("SELECT name FROM pragma_table_info(?1)", [attachment.mirror]).map {
            try $0[0] as String
        }
        let made =
            known.isEmpty
            ? ["CREATE TABLE \(mirror)(\(key) \(triggers.keyType) PRIMARY KEY, \(columns.joined(separator: ", ")))"]
            : zip(attachment.columns, columns).filter { !known.contains($0.0) }
                .map { "ALTER TABLE \(mirror) ADD COLUMN \($0.1)" }
        let index = """
            CREATE INDEX IF NOT EXISTS \("\(attachment.mirror)_waits".quotedName) ON \(mirror)(\(key)) WHERE \(isUnfinished)
            """
        return triggers.removing + made + [index]
            + triggers.making { row, value, condition in
                let words = triggers.words(row)
                return [
                    "DELETE FROM \(mirror) WHERE \(key) = \(row).\(key) AND \(condition)",
                    """
                    INSERT INTO \(mirror)(\(key), state) SELECT \(row).\(key), 'available' WHERE length(\(value)) > 0 AND \(condition)
                    """,
                    """
                    INSERT INTO cameo_outbox(attachment, key, number, value, label, is_change)
                        SELECT \(attachment.name.quotedText), \(words.key), \(words.number), \(value), \(triggers.label(row)), 1
                        WHERE \(condition)
                    """,
                ]
            }
    }

    package func unfollow(_ attachment: Attachment) async throws(StoreError) {
        try await write { db in
            for statement in TableTriggers(attachment: attachment, keyType: "").removing { try db.execute(statement) }
            try db.execute("DROP TABLE IF EXISTS \(attachment.mirror.quotedName)")
            try db.execute(script: Self.outbox)
            try db.execute("DELETE FROM cameo_outbox WHERE attachment = ?1", [attachment.name])
        }
    }

    // MARK: - Changes

    package func changes(of attachment: Attachment, limit: Int) async throws(StoreError) -> [FollowedRow] {
        try await run { db in
            var (rows, bytes) = ([FollowedRow](), 0)
            let look = "SELECT * FROM cameo_outbox WHERE attachment = ?1 ORDER BY id LIMIT ?2"
            try db.run(look, [attachment.name, limit]) { row in
                rows.append(try Self.row(row, of: attachment, isChange: row["is_change"], change: row["id"]))
                bytes += rows.last?.size ?? 0
                return bytes < Self.bytes
            }
            return rows
        }
    }

    /// A row with `key`, `number`, `value` and `label`.
    private static func row(
        _ row: QueueRow,
        of attachment: Attachment,
        isChange: Bool,
        change: Int64? = nil
    ) throws -> FollowedRow {
        let isBytes = attachment.kind == .bytes
        return FollowedRow(
            change: change,
            key: try row["key"],
            number: try row["number"],
            value: isBytes ? nil : try row.anyText("value"),
            picture: isBytes ? try row.anyBytes("value") : nil,
            label: try row["label"],
            isChange: isChange
        )
    }

    package func remove(changesOf attachment: Attachment, through last: Int64) async throws(StoreError) {
        try await write { db in
            try db.execute("DELETE FROM cameo_outbox WHERE attachment = ?1 AND id <= ?2", [attachment.name, last])
        }
    }

    package func note(rowsOf attachment: Attachment, after last: String?, limit: Int) async throws(StoreError) -> (
        rows: Int, last: String?
    ) {
        try await run { db in
            try db.inTransaction(.write) {
                let triggers = try Self.triggers(attachment, db)
                let (words, mirror) = (triggers.words(), attachment.mirror.quotedName)
                let rows = """
                    FROM \(attachment.table) AS theirs
                    WHERE theirs.\(triggers.key) IS NOT NULL
                      AND (?2 IS NULL OR theirs.\(triggers.key) > CAST(?2 AS \(words.keyType))) ORDER BY theirs.\(triggers.key) LIMIT ?3
                    """
                let value = "theirs.\(attachment.column.quotedName)"
                try db.execute(
                    """
                    INSERT INTO cameo_outbox(attachment, key, number, value, label, is_change)
                    SELECT ?1, \(words.key), \(words.number), \(value), \(triggers.label("theirs")), 0 \(rows)
                    """,
                    [attachment.name, last, limit]
                )
                try db.execute(
                    """
                    INSERT INTO \(mirror)(\(triggers.key), state) SELECT \(triggers.key), 'available' FROM (
                      SELECT theirs.\(triggers.key), \(value) AS value \(rows)) AS page
                    WHERE ?1 <> '' AND length(value) > 0 ON CONFLICT DO NOTHING
                    """,
                    [attachment.name, last, limit]
                )
                let keys = try db.rows("SELECT \(words.key) AS key \(rows)", [attachment.name, last, limit])
                return (keys.count, keys.count == limit ? try keys.last?["key"] : nil)
            }
        }
    }

    package func note(missing keys: [String], of attachment: Attachment) async throws(StoreError) {
        try await write { db in
            let words = try Self.triggers(attachment, db).words()
            for key in keys {
                try db.execute(
                    """
                    INSERT INTO cameo_outbox(attachment, key, is_change) SELECT ?1, ?2, 1 WHERE NOT EXISTS (
                      SELECT 1 FROM \(attachment.table) AS theirs
                      WHERE theirs.\(attachment.key.quotedName) = CAST(?2 AS \(words.keyType)))
                    """,
                    [attachment.name, key]
                )
            }
        }
    }

    package func rows(of attachment: Attachment, after last: String?, limit: Int) async throws(StoreError)
        -> [FollowedRow]
    {
        try await run { db in
            let triggers = try Self.triggers(attachment, db)
            let (words, key) = (triggers.words(), "theirs.\(triggers.key)")
            return try db.rows(
                """
                SELECT \(words.key) AS key, \(words.number) AS number, theirs.\(attachment.column.quotedName) AS value,
                  \(triggers.label("theirs")) AS label
                FROM \(attachment.table) AS theirs
                WHERE \(key) IS NOT NULL AND (?1 IS NULL OR \(key) > CAST(?1 AS \(words.keyType))) ORDER BY \(key) LIMIT ?2
                """,
                [last, limit]
            )
            .map { try Self.row($0, of: attachment, isChange: false) }
        }
    }

    package func missing(of keys: [String], in attachment: Attachment) async throws(StoreError) -> [String] {
        try await run { db in
            let words = try Self.triggers(attachment, db).words()
            let look = """
                SELECT 1 FROM \(attachment.table) AS theirs
                WHERE theirs.\(attachment.key.quotedName) = CAST(?1 AS \(words.keyType))
                """
            return try keys.filter { try db.rows(look, [$0]).isEmpty }
        }
    }

    // MARK: - The mirror

    private static let isUnfinished =
        "state = 'available' OR state = 'running' OR state = 'retryable' OR state = 'scheduled'"

    package func unfinished(of attachment: Attachment, after last: String?, limit: Int) async throws(StoreError)
        -> [String]
    {
        try await run { db in
            let triggers = try Self.triggers(attachment, db)
            return try db.rows(
                """
                SELECT CAST(\(triggers.key) AS TEXT) AS key FROM \(attachment.mirror.quotedName)
                WHERE (\(Self.isUnfinished)) AND (?1 IS NULL OR \(triggers.key) > CAST(?1 AS \(triggers.words().keyType)))
                ORDER BY \(triggers.key) LIMIT ?2
                """,
                [last, limit]
            )
            .map { try $0["key"] }
        }
    }

    package func show(_ rows: [String: String], in attachment: Attachment) async throws(StoreError) {
        try await write { db in
            let words = try Self.triggers(attachment, db).words()
            let columns = attachment.columns
            let setting = columns.map { "\($0.quotedName) = ?2 ->> \($0.quotedText)" }.joined(separator: ", ")
            let isNew = columns.map { "\($0.quotedName) IS NOT ?2 ->> \($0.quotedText)" }.joined(separator: " OR ")
            for (key, row) in rows.sorted(by: { $0.key < $1.key }) {
                try db.execute(
                    """
                    UPDATE \(attachment.mirror.quotedName) SET \(setting)
                    WHERE \(attachment.key.quotedName) = CAST(?1 AS \(words.keyType)) AND (\(isNew))
                    """,
                    [key, row]
                )
            }
        }
    }
}

extension QueueRow {
    /// A value as text, whatever it is; nil if it is NULL.
    fileprivate func anyText(_ column: String) throws -> String? {
        let place = try place(of: column)
        if let text = try? text(place) { return text }
        if let number = try? integer(place) { return "\(number)" }
        if let number = try? real(place) { return "\(number)" }
        // Bytes are no source, and a control character says so.
        return try bytes(place).map { $0.isEmpty ? "" : "\u{1}" }
    }

    fileprivate func anyBytes(_ column: String) throws -> Data? {
        let place = try place(of: column)
        return try (try? bytes(place)) ?? text(place).map { Data($0.utf8) }
    }
}
