package import CameoQueue
package import CameoStore

// DESIGN. The triggers of a followed table hand over the key and the value of a row, through the view `attach`. Programs and
// their frameworks make tables anew, and SQLite drops their triggers then: whoever looks after the store looks whether they are
// there.
extension SQLiteTransaction {
    package var schemaWords: any SchemaWords { SQLiteWords() }
    package var home: String { "" }

    package func table(_ name: String) throws -> FollowedTable {
        guard
            let stored: String = try value(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND lower(name) = lower(?1)",
                [name]
            )
        else { throw StoreError.refused(reason: "there is no table \(name) in \(directory.database)") }
        guard try !Schema.ownNames().contains(stored), stored.hasPrefix("app_") else {
            throw StoreError.refused(reason: "a table that is attached has a name that begins with app_, not \(stored)")
        }
        let columns = try query("SELECT name, type FROM pragma_table_xinfo(?1)", [stored])
        let types = try columns.map { (try $0["name"] as String, (try $0["type"] as String?) ?? "") }
        return FollowedTable(
            target: stored.quotedName,
            schema: nil,
            name: stored,
            types: Dictionary(types) { first, _ in first }
        )
    }

    package func words(of attachment: Attachment) throws -> FollowingWords {
        let isNumber = try table(attachment.tableName).types[attachment.key]?.uppercased().contains("INT") == true
        let (key, value) = ("theirs.\(attachment.key.quotedName)", "theirs.\(attachment.column.quotedName)")
        return FollowingWords(
            key: "CAST(\(key) AS TEXT)",
            number: "CASE WHEN typeof(\(key)) = 'integer' THEN \(key) END",
            keyType: isNumber ? "INTEGER" : "TEXT",
            value: attachment.kind == .bytes ? "'-'" : "CAST(\(value) AS TEXT)",
            size: "length(CAST(\(value) AS BLOB))",
            picture: value,
            isRow: "\(key) = \(isNumber ? "attached.number" : "attached.key")"
        )
    }

    /// The names of the triggers of an attachment.
    private func triggers(of attachment: Attachment) -> [String] {
        ["inserted", "updated", "deleted"].map { "\(attachment.view)_\($0)" }
    }

    package func following(_ attachment: Attachment) throws -> [String] {
        let words = try words(of: attachment)
        let hasNumber = words.keyType == "INTEGER"
        let watched = [attachment.key, attachment.column, attachment.label].compactMap { $0?.quotedName }
        func handing(_ row: String, to value: String) -> String {
            let (key, number) = (
                "\(row).\(attachment.key.quotedName)", words.number.replacing("theirs.", with: "\(row).")
            )
            let label = attachment.label.map { "CAST(\(row).\($0.quotedName) AS TEXT)" } ?? "NULL"
            return """
                INSERT INTO attach(attachment, key, number, value, label, is_change)
                    SELECT id, CAST(\(key) AS TEXT), \(number), \(value), \(label), 1 FROM attachment
                    WHERE name = \(attachment.name.quotedText) AND \(key) IS NOT NULL
                """
        }
        let (now, gone) = (handing("NEW", to: "NEW.\(attachment.column.quotedName)"), handing("OLD", to: "NULL"))
        let key = attachment.key.quotedName
        let bodies = [
            ("INSERT", "", "\(now);"),
            (
                "UPDATE", " WHEN \(watched.map { "OLD.\($0) IS NOT NEW.\($0)" }.joined(separator: " OR "))",
                "\(now);\n  \(gone) AND OLD.\(key) IS NOT NEW.\(key);"
            ),
            ("DELETE", "", "\(gone);"),
        ]
        let made = zip(triggers(of: attachment), bodies).map { name, body in
            """
            CREATE TRIGGER \(name.quotedName) AFTER \(body.0) ON \(attachment.table)\(body.1) BEGIN
              \(body.2)
            END
            """
        }
        let view = schemaWords.attachedView(
            of: attachment,
            in: home,
            options: "",
            key: hasNumber ? "attached.number" : "attached.key",
            message: dialect.messageOfOutcome
        )
        return unfollowing(attachment) + made + [view]
    }

    package func unfollowing(_ attachment: Attachment) -> [String] {
        triggers(of: attachment).map { "DROP TRIGGER IF EXISTS \($0.quotedName)" }
            + ["DROP VIEW IF EXISTS \(attachment.view.quotedName)"]
    }

    package func trouble(of attachment: Attachment) throws -> String? {
        let columns: [String] = try column("SELECT name FROM pragma_table_xinfo(?1)", [attachment.tableName])
        guard !columns.isEmpty else { return "the table \(attachment.tableName) is gone" }
        for name in [attachment.column, attachment.key, attachment.label].compactMap({ $0 })
        where !columns.contains(name) {
            return "the column \(name) of \(attachment.tableName) is gone"
        }
        let there: Int? = try value(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 AND name \(dialect.isIn("?2", .texts))",
            [attachment.tableName, triggers(of: attachment)]
        )
        return there == 3 ? nil : "the triggers of \(attachment.tableName) are gone: it was made anew"
    }

    package func handOver(
        _ attachment: Attachment,
        queue: String,
        rows: String,
        _ values: [(any SQLBindable)?]
    ) throws {
        try execute(
            """
            INSERT INTO attach(attachment, key, number, value, label, queue, is_change)
              SELECT attachment.id, page.key, page.number, page.picture, page.label, ?4, 0
              FROM (\(rows)) AS page JOIN attachment ON attachment.name = ?3
            """,
            values + [attachment.name, queue]
        )
    }

    package func askAgain(where condition: String, _ values: [(any SQLBindable)?]) throws {
        try execute("UPDATE attached SET job_id = NULL WHERE \(condition)", values)
    }

    package func empty(_ id: Int64) throws {
        try execute(
            "INSERT INTO forget(selector) SELECT json_object('label', name, 'evenShared', json('true')) FROM attachment WHERE id = ?1",
            [id]
        )
        let uploads = "SELECT substr(source, 16) AS name FROM attached WHERE attachment = \(id) AND size IS NOT NULL"
        for statement in schemaWords.removingUploads(uploads) { try execute(statement) }
        try askAgain(
            where: """
                attachment <> ?1 AND source IN (SELECT source FROM attached AS mine WHERE mine.attachment = ?1 AND mine.source IS NOT NULL)
                """,
            [id]
        )
    }

    // One process writes at a time, and sees all that others have written.
    package func settleGoneSources() {}
    package func hasGoneSources() -> Bool { false }
}
