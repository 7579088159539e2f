internal import CameoModel
internal import CameoQueue
internal import CameoStore

// DESIGN. A trigger of a followed table hands over the key and the value of a row: in the store's file to the view `attaching`, in
// another to an outbox. Programs and their frameworks make tables anew, and SQLite drops their triggers then: whoever looks after
// the store looks whether they are there.

/// The triggers of a followed table in an SQLite file.
struct TableTriggers {
    let attachment: Attachment
    /// The type of the key as the table declares it.
    let keyType: String

    var hasNumber: Bool { keyType.uppercased().contains("INT") }
    var names: [String] { ["inserted", "updated", "deleted", "plain"].map { "\(attachment.view)_\($0)" } }
    var key: String { attachment.key.quotedName }

    /// How statements are written about the table, whose rows are named so.
    func words(_ row: String = "theirs") -> FollowingWords {
        let (key, value) = ("\(row).\(key)", "\(row).\(attachment.column.quotedName)")
        return FollowingWords(
            key: "CAST(\(key) AS TEXT)",
            number: "CASE WHEN typeof(\(key)) = 'integer' THEN \(key) END",
            keyType: hasNumber ? "INTEGER" : "TEXT",
            value: attachment.kind == .bytes ? "'-'" : "CAST(\(value) AS TEXT)",
            size: "length(CAST(\(value) AS BLOB))",
            picture: value,
            isRow: "\(key) = \(hasNumber ? "attached.number" : "attached.key")"
        )
    }
    func label(_ row: String) -> String { attachment.label.map { "CAST(\(row).\($0.quotedName) AS TEXT)" } ?? "NULL" }

    /// For plain values, which are most, what an INSERT does in a third of the time: the condition, and the source.
    private var plainSource: (condition: String, source: String)? {
        let value = "NEW.\(attachment.column.quotedName)"
        // Sets of characters as ranges, which are a third of the time: `--9` has `-`, `.`, `/` and digits.
        let isName = "\(value) NOT GLOB '*[^--9A-Z_a-z~]*' AND \(value) NOT GLOB '*..*'"
        guard attachment.label == nil, hasNumber else { return nil }
        let plain: (condition: String, source: String)? =
            switch (attachment.kind, attachment.base.isEmpty) {
            case (.url, true):
                (
                    """
                    \(value) GLOB 'http*' AND (\(value) GLOB 'http://?*' OR \(value) GLOB 'https://?*')
                          AND \(value) NOT GLOB '*[^!#-&(-;=?-Z_a-z~]*'
                    """, value
                )
            case (.url, false), (.path, false):
                ("\(isName) AND \(value) NOT GLOB '/*'", "\(attachment.root.quotedText) || \(value)")
            case (.path, true): ("\(isName) AND \(value) GLOB '/*'", "'file://' || \(value)")
            case (.bytes, _), (.cameo, _): nil
            }
        guard let plain else { return nil }
        let isText = "typeof(\(value)) = 'text' AND length(\(value)) BETWEEN 1 AND 2000"
        return ("\(isText) AND \(plain.condition)", plain.source)
    }

    /// Asks for the thumbnails of a plain value whose row is new. One that takes the place of another is handed over as others are;
    /// which of both triggers is first does not matter. `id` and `version` are those of the attachment.
    func plainInsertion(_ id: String, _ version: String) -> (condition: String, others: String, body: [String])? {
        guard let (condition, source) = plainSource else { return nil }
        let key = "NEW.\(key)"
        let known = "SELECT 1 FROM attached WHERE attachment = \(id) AND key = CAST(\(key) AS TEXT)"
        let (name, queue) = (JSONValue.string(attachment.name), JSONValue.string(attachment.queue))
        let label = name.canonicalText.dropLast()
        let renditions = JSONValue.array(attachment.renditions.map(\.json)).canonicalText
        let middle = #"","queue":\#(queue.canonicalText),"labels":[\#(label)",\#(label)/"#.quotedText
        let isPlain = "typeof(\(key)) = 'integer' AND \(condition)"
        return (
            "\(isPlain) AND NOT EXISTS (\(known))",
            "NOT EXISTS (\(known) AND source IS \(source)) AND (NOT coalesce(\(isPlain), 0) OR EXISTS (\(known)))",
            [
                """
                INSERT INTO job(request) VALUES (
                    '{"source":"' || \(source) || \(middle) || \(key) || \(#""],"renditions":\#(renditions)}"#.quotedText))
                """,
                """
                INSERT INTO attached(attachment, key, number, source, version, job_id)
                    VALUES (\(id), CAST(\(key) AS TEXT), \(key), \(source), \(version), last_insert_rowid())
                """,
            ]
        )
    }

    /// The statements that make them. `handing` gives those that hand over a row, its value, and on what condition.
    func making(
        plain: (condition: String, others: String, body: [String])? = nil,
        _ handing: (_ row: String, _ value: String, _ condition: String) -> [String]
    ) -> [String] {
        let watched = [attachment.key, attachment.column, attachment.label].compactMap { $0?.quotedName }
        let isChanged = watched.map { "OLD.\($0) IS NOT NEW.\($0)" }.joined(separator: " OR ")
        let now = handing("NEW", "NEW.\(attachment.column.quotedName)", "NEW.\(key) IS NOT NULL")
        let bodies = [
            ("INSERT", now),
            ("UPDATE", now + handing("OLD", "NULL", "OLD.\(key) IS NOT NEW.\(key) AND OLD.\(key) IS NOT NULL")),
            ("DELETE", handing("OLD", "NULL", "OLD.\(key) IS NOT NULL")),
        ]
        let conditions = [plain?.others ?? "1", isChanged, "1"]
        var made = zip(names, zip(bodies, conditions)).map { name, body in trigger(name, body.0.0, body.1, body.0.1) }
        if let plain { made.append(trigger(names[3], "INSERT", plain.condition, plain.body)) }
        return made
    }

    private func trigger(_ name: String, _ event: String, _ condition: String, _ body: [String]) -> String {
        """
        CREATE TRIGGER \(name.quotedName) AFTER \(event) ON \(attachment.table) WHEN \(condition) BEGIN
          \(body.map { "\($0);" }.joined(separator: "\n  "))
        END
        """
    }
    var removing: [String] { names.map { "DROP TRIGGER IF EXISTS \($0.quotedName)" } }

    /// Why the rows of a table are not followed; nil if they are.
    static func trouble(of attachment: Attachment, in db: SQLiteConnection) throws -> String? {
        let columns = try db.rows("SELECT name FROM pragma_table_xinfo(?1)", [attachment.tableName])
            .map { try $0[0] as String }
        if let objection = attachment.objection(to: columns) { return objection }
        let there = try db.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1",
            [attachment.tableName]
        )
        .map { try $0[0] as String }
        let names = TableTriggers(attachment: attachment, keyType: "").names
        return names.prefix(3).allSatisfy(there.contains)
            ? nil : "the triggers of \(attachment.tableName) are gone: it was made anew"
    }

    /// A table of a file, by what people call it.
    ///
    /// - Throws: ``StoreError/refused(reason:)``
    static func table(_ name: String, in db: SQLiteConnection, at path: String) throws -> FollowedTable {
        let look = "SELECT name FROM sqlite_schema WHERE type = 'table' AND lower(name) = lower(?1)"
        guard let stored: String = try db.rows(look, [name]).first?[0] else {
            throw StoreError.refused(reason: "there is no table \(name) in \(path)")
        }
        let columns = try db.rows("SELECT name, type FROM pragma_table_xinfo(?1)", [stored])
        let keys = try db.rows(
            """
            SELECT max(name) AS name FROM pragma_table_xinfo(?1) WHERE pk > 0 HAVING count(*) = 1
            UNION SELECT max(part.name) FROM pragma_index_list(?1) AS whole, pragma_index_info(whole.name) AS part
              WHERE whole."unique" AND NOT whole.partial GROUP BY whole.name HAVING count(*) = 1 AND max(part.name) IS NOT NULL
            """,
            [stored]
        )
        let types = try columns.map { (try $0["name"] as String, (try $0["type"] as String?) ?? "") }
        return FollowedTable(
            target: stored.quotedName,
            schema: nil,
            name: stored,
            types: Dictionary(types) { first, _ in first },
            keys: Set(try keys.map { try $0["name"] as String })
        )
    }
}
