package import CameoQueue
package import CameoStore

/// Tables of other programs that are followed.
extension SQLiteTransaction {
    package var schemaWords: any SchemaWords { SQLiteWords() }
    package var home: String { "" }

    package func table(_ name: String) throws -> FollowedTable {
        let table = try TableTriggers.table(name, in: connection, at: directory.database)
        guard try !Schema.ownNames().contains(table.name), table.name.hasPrefix("app_") else {
            throw StoreError.refused(
                reason: "a table that is attached has a name that begins with app_, not \(table.name)"
            )
        }
        return table
    }

    private func triggers(of attachment: Attachment) throws -> TableTriggers {
        TableTriggers(attachment: attachment, keyType: try table(attachment.tableName).types[attachment.key] ?? "")
    }

    package func words(of attachment: Attachment) throws -> FollowingWords { try triggers(of: attachment).words() }

    package func following(_ attachment: Attachment) throws -> [String] {
        let triggers = attachment.place == nil ? try triggers(of: attachment) : nil
        func handing(_ row: String, _ value: String, _ condition: String) -> [String] {
            guard let triggers else { return [] }
            return [
                """
                INSERT INTO attaching(attachment, key, number, value, label, is_change)
                    SELECT id, \(triggers.words(row).key), \(triggers.words(row).number), \(value), \(triggers.label(row)), 1
                    FROM attachment WHERE name = \(attachment.name.quotedText) AND \(condition)
                """
            ]
        }
        // A script is for a store in which it may have another number.
        let known = try row("SELECT id, version FROM attachment WHERE name = ?1", [attachment.name])
        func number(_ column: String) throws -> String {
            try known.map { try "\($0[column] as Int64)" }
                ?? "(SELECT \(column) FROM attachment WHERE name = \(attachment.name.quotedText))"
        }
        let (id, version) = try (number("id"), number("version"))
        let made = triggers?.making(plain: triggers?.plainInsertion(id, version), handing) ?? []
        let view = schemaWords.attachedView(
            of: attachment,
            in: home,
            options: "",
            key: triggers?.hasNumber == true ? "attached.number" : "attached.key",
            message: dialect.messageOfOutcome
        )
        return unfollowing(attachment) + made + [view]
    }

    package func unfollowing(_ attachment: Attachment) -> [String] {
        TableTriggers(attachment: attachment, keyType: "").removing
            + ["DROP VIEW IF EXISTS \(attachment.view.quotedName)"]
    }

    package func trouble(of attachment: Attachment) throws -> String? {
        try TableTriggers.trouble(of: attachment, in: connection)
    }

    package func handOver(_ rows: GivenRows, _ attachment: Attachment, queue: String?, isChange: Bool) throws {
        let count = rows.values.count
        try execute(
            """
            INSERT INTO attaching(attachment, key, number, value, label, queue, is_change)
              SELECT attachment.id, page.key, page.number, coalesce(page.picture, page.value), page.label, ?\(count + 2), ?\(count + 3)
              FROM (\(rows.sql)) AS page JOIN attachment ON attachment.name = ?\(count + 1)
            """,
            rows.values + [attachment.name, queue, isChange]
        )
    }

    package func askAgain(where condition: String, _ values: [(any SQLBindable)?]) throws {
        try execute("UPDATE attached SET job_id = NULL WHERE \(condition)", values)
    }

    package func empty(_ id: Int64) throws {
        try execute(
            """
            INSERT INTO forget(selector)
            SELECT json_object('label', name, 'evenShared', json('true')) FROM attachment WHERE id = ?1
            """,
            [id]
        )
        let uploads = "SELECT substr(source, 16) AS name FROM attached WHERE attachment = \(id) AND size IS NOT NULL"
        for statement in schemaWords.removingUploads(uploads) { try execute(statement) }
        try askAgain(
            where: """
                attachment <> ?1 AND source IN (SELECT source FROM attached AS mine
                  WHERE mine.attachment = ?1 AND mine.source IS NOT NULL)
                """,
            [id]
        )
    }

    /// Notes the thumbnails of rows whose jobs were accepted. A job's labels name its row; an index would cost each row of a
    /// program.
    func mirrorAccepted(_ jobs: [Int64]) throws {
        guard try hasAttachments else { return }
        try mirrorAccepted(
            """
            SELECT attached.attachment, attached.key FROM job CROSS JOIN attachment ON attachment.name = request ->> '$.labels[0]'
              CROSS JOIN attached ON attached.attachment = attachment.id AND attached.job_id = job.id
                AND attached.key = substr(request ->> '$.labels[1]', length(attachment.name) + 2)
            WHERE job.id \(dialect.isIn("?1", .integers)) AND attached.thumbnails IS NULL
            """,
            [jobs]
        )
    }
}
