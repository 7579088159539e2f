internal import CameoModel
package import CameoStore
internal import Foundation

/// A table that is to be followed, as the engine found it.
package struct FollowedTable: Sendable {
    /// As statements name it.
    package let target: String
    /// Nil if it needs none to be found.
    package let schema: String?
    package let name: String
    /// The types of its columns.
    package let types: [String: String]

    package init(target: String, schema: String?, name: String, types: [String: String]) {
        (self.target, self.schema, self.name, self.types) = (target, schema, name, types)
    }
}

/// What an engine does to follow a table of another program.
package protocol TableFollowing: AnyObject {
    var schemaWords: any SchemaWords { get }
    /// What precedes the names of Cameo's tables in statements of others.
    var home: String { get }
    /// Finds a table by what people call it.
    ///
    /// - Throws: ``StoreError/refused(reason:)``
    func table(_ name: String) throws -> FollowedTable
    /// The statements that make the triggers and the view of an attachment, in place of those that there are, and those that
    /// remove them.
    func following(_ attachment: Attachment) throws -> [String]
    func unfollowing(_ attachment: Attachment) throws -> [String]
    /// Why an attachment's rows are not followed.
    func trouble(of attachment: Attachment) throws -> String?
    /// How statements are written about its table, whose rows are `theirs`.
    func words(of attachment: Attachment) throws -> FollowingWords
    /// Hands over rows that a statement selects (`key`, `number`, `value`, `label`).
    func handOver(_ attachment: Attachment, queue: String, rows: String, _ values: [(any SQLBindable)?]) throws
    /// Enqueues the rows of the mirror that a condition selects again.
    func askAgain(where condition: String, _ values: [(any SQLBindable)?]) throws
    /// Forgets all that only an attachment has, and its rows.
    func empty(_ id: Int64) throws
    /// Looks again at what rows of others might need that was forgotten meanwhile.
    func settleGoneSources() throws
    func hasGoneSources() throws -> Bool
}

/// How statements about an attachment's table are written.
package struct FollowingWords: Sendable {
    /// The key of a row as text, and as a number or NULL; the type of the key for a comparison with text; the value as text, how
    /// many bytes it has, and these if the column has the pictures themselves.
    package let key, number, keyType, value, size, picture: String
    /// The condition that a row of `attached` is that of a row, by an index of the table.
    package let isRow: String

    package init(
        key: String,
        number: String,
        keyType: String,
        value: String,
        size: String,
        picture: String,
        isRow: String
    ) {
        (self.key, self.number, self.keyType, self.value, self.size) = (key, number, keyType, value, size)
        (self.picture, self.isRow) = (picture, isRow)
    }
}

extension QueueTransaction {
    fileprivate func attachments() throws -> [(id: Int64, attachment: Attachment)] {
        try query(
            """
            SELECT id, target, target_schema, target_name, picture, key_column, label_column, kind, base, queue,
              \(dialect.text("renditions")) AS renditions, trouble, filled
            FROM attachment ORDER BY name
            """
        )
        .map { row in
            let list = try JSONValue(parsing: (row["renditions"] as String).utf8)
            guard case .array(let items) = list, let kind = AttachedKind(rawValue: try row["kind"]) else {
                throw StoreError.failed("an attachment's row is not one")
            }
            var attachment = Attachment(
                table: try row["target"],
                schema: try row["target_schema"],
                tableName: try row["target_name"],
                column: try row["picture"],
                key: try row["key_column"],
                kind: kind,
                renditions: try items.map { item throws(InvalidRequest) in try Rendition(json: item, at: "renditions") }
            )
            (attachment.base, attachment.label, attachment.queue) = try (row["base"], row["label_column"], row["queue"])
            (attachment.trouble, attachment.isFilled) = try (row["trouble"], row["filled"])
            return (try row["id"], attachment)
        }
    }

    fileprivate func attachment(_ name: String) throws -> (id: Int64, attachment: Attachment) {
        guard let found = try attachments().first(where: { $0.attachment.name == name }) else {
            throw StoreError.noSuch(.attachment, name)
        }
        return found
    }

    /// Enters or changes an attachment.
    fileprivate func enter(_ attachment: Attachment) throws {
        guard let known = try attachments().first(where: { $0.attachment.name == attachment.name }) else {
            try execute(insertion(of: attachment))
            return
        }
        let (old, new) = (known.attachment, attachment)
        guard (old.table, old.key, old.kind, old.base) == (new.table, new.key, new.kind, new.base) else {
            throw StoreError.refused(
                reason: "\(new.name) is attached with another --key, --as or --base; detach it first"
            )
        }
        try execute(
            """
            UPDATE attachment SET label_column = ?2, queue = ?3, renditions = \(dialect.json("?4")), version = version + ?5,
              filled = ?6, filled_to = NULL, trouble = NULL
            WHERE id = ?1
            """,
            [
                known.id, new.label, new.queue, JSONValue.array(new.renditions.map(\.json)).canonicalText,
                old.renditions == new.renditions ? 0 : 1,
                old.isFilled && old.renditions == new.renditions && old.label == new.label,
            ]
        )
    }

    /// The statement that enters an attachment, and changes none.
    private func insertion(of attachment: Attachment) -> String {
        let values = [
            attachment.name, attachment.table, attachment.schema, attachment.tableName, attachment.column,
            attachment.key,
            attachment.label, attachment.kind.rawValue, attachment.base, attachment.root, attachment.queue,
            JSONValue.array(attachment.renditions.map(\.json)).canonicalText,
        ]
        return """
            INSERT INTO \(home)attachment(name, target, target_schema, target_name, picture, key_column, label_column, kind,
              base, root, queue, renditions)
            VALUES (\(values.map { $0?.quotedText ?? "NULL" }.joined(separator: ", "))) ON CONFLICT (name) DO NOTHING
            """
    }

    /// What a migration of a program runs, any number of times.
    fileprivate func script(_ attachment: Attachment) throws -> String {
        ([insertion(of: attachment)] + (try following(attachment))).map { "\($0);\n" }.joined()
    }

    /// Selects the rows after a key, `?1`, at most `?2`, in the order of the keys.
    private func page(of attachment: Attachment, _ words: FollowingWords) -> String {
        let key = "theirs.\(attachment.key.quotedName)"
        return """
            SELECT \(words.key) AS key, \(words.number) AS number, \(words.value) AS value, \(words.size) AS size,
              \(words.picture) AS picture,
              \(attachment.label.map { "CAST(theirs.\($0.quotedName) AS text)" } ?? "CAST(NULL AS text)") AS label
            FROM \(attachment.table) AS theirs
            WHERE CAST(?1 AS text) IS NULL OR \(key) > CAST(CAST(?1 AS text) AS \(words.keyType))
            ORDER BY \(key) LIMIT ?2
            """
    }

    private func keys(_ rows: String, _ values: [(any SQLBindable)?]) throws -> [String] {
        try column("SELECT key FROM (\(rows)) AS page", values)
    }

    /// Looks at rows after the last that was read.
    fileprivate func fill(_ id: Int64, _ attachment: Attachment, limit: Int) throws -> AttachmentStep {
        let last: String? = try value("SELECT filled_to FROM attachment WHERE id = ?1", [id])
        let rows = try page(of: attachment, words(of: attachment))
        let keys = try keys(rows, [last, limit])
        if !keys.isEmpty { try handOver(attachment, queue: Backfill.queue, rows: rows, [last, limit]) }
        let isLast = keys.count < limit
        try execute(
            "UPDATE attachment SET filled_to = ?2, filled = ?3 WHERE id = ?1",
            [id, isLast ? nil : keys.last, isLast || attachment.isFilled]
        )
        return AttachmentStep(rows: keys.count, isLast: isLast)
    }

    /// What a repair would change of some rows, and the last of them; nil if there are no others.
    fileprivate func compare(_ id: Int64, _ attachment: Attachment, after last: String?, limit: Int) throws -> (
        counts: AttachmentCounts, last: String?
    ) {
        let rows = try page(of: attachment, words(of: attachment))
        let keys = try keys(rows, [last, limit])
        let why = schemaWords.refusal(ofKey: "page.key", "page.value", size: "page.size")
        let row = try row(
            """
            SELECT count(CASE WHEN page.size > 0 THEN 1 END) AS rows,
              count(CASE WHEN page.size > 0 AND attached.key IS NULL THEN 1 END) AS missing,
              count(CASE WHEN coalesce(page.size, 0) = 0 OR attached.label IS DISTINCT FROM page.label
                OR CASE WHEN page.why IS NOT NULL THEN attached.source IS NOT NULL
                  WHEN attachment.kind = 'bytes' THEN attached.size IS DISTINCT FROM page.size
                  ELSE attached.source IS DISTINCT FROM \(schemaWords.source(ofKey: "page.key", "page.value")) END
                THEN attached.key END) AS stale
            FROM (SELECT page.*, \(why) AS why FROM (\(rows)) AS page JOIN attachment ON attachment.id = ?3) AS page
              JOIN attachment ON attachment.id = ?3
              LEFT JOIN attached ON attached.attachment = ?3 AND attached.key = page.key
            """,
            [last, limit, id]
        )
        var counts = AttachmentCounts()
        if let row { (counts.rows, counts.missing, counts.stale) = try (row["rows"], row["missing"], row["stale"]) }
        return (counts, keys.count == limit ? keys.last : nil)
    }

    /// What the mirror alone tells.
    fileprivate func count(_ id: Int64, _ attachment: Attachment, _ counts: inout AttachmentCounts) throws {
        let row = try row(
            """
            SELECT count(CASE WHEN NOT \(try isThere(attachment)) THEN 1 END) AS orphaned,
              count(CASE WHEN source IS NULL THEN 1 END) AS invalid,
              count(CASE WHEN task.id IS NOT NULL OR source IS NOT NULL AND thumbnails IS NULL AND attached.code IS NULL
                AND outcome.id IS NULL THEN 1 END) AS waiting,
              count(CASE WHEN outcome.state = \(JobState.discarded.code) OR attached.code IS NOT NULL THEN 1 END) AS failed,
              count(CASE WHEN \(Self.isLost) THEN 1 END) AS lost
            FROM attached LEFT JOIN task ON task.id = attached.job_id LEFT JOIN outcome ON outcome.id = attached.job_id
            WHERE attachment = ?1
            """,
            [id]
        )
        guard let row else { return }
        (counts.orphaned, counts.invalid, counts.waiting) = try (row["orphaned"], row["invalid"], row["waiting"])
        (counts.failed, counts.lost) = try (row["failed"], row["lost"])
    }

    private func isThere(_ attachment: Attachment) throws -> String {
        "EXISTS (SELECT 1 FROM \(attachment.table) AS theirs WHERE \(try words(of: attachment).isRow))"
    }

    /// Whether the thumbnails of a row of the mirror are gone though its job did not fail.
    private static var isLost: String {
        """
        attached.thumbnails <> '' AND attached.code IS NULL
          AND NOT EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.id = substr(attached.thumbnails, 1, 32))
          AND NOT EXISTS (SELECT 1 FROM task WHERE task.id = attached.job_id)
          AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = attached.job_id AND outcome.state = \(JobState.discarded.code))
        """
    }

    /// Removes some rows whose rows are gone, and asks for some thumbnails that are gone.
    fileprivate func mend(_ id: Int64, _ attachment: Attachment, limit: Int) throws -> Bool {
        func some(_ condition: String) -> String {
            "attachment = ?1 AND key IN (SELECT key FROM attached WHERE attachment = ?1 AND \(condition) ORDER BY key LIMIT ?2)"
        }
        let removed = try execute("DELETE FROM attached WHERE \(some("NOT \(try isThere(attachment))"))", [id, limit])
        let lost: [String] = try column(
            "SELECT key FROM attached WHERE \(some(Self.isLost)) ORDER BY key",
            [id, limit]
        )
        if !lost.isEmpty {
            try askAgain(where: "attachment = ?1 AND key \(dialect.isIn("?2", .texts))", [id, lost])
        }
        return removed == limit || lost.count == limit
    }

    /// Notes the thumbnails of rows whose jobs were accepted.
    ///
    /// - Returns: whether others may be left.
    @discardableResult
    package func mirrorAccepted() throws -> Bool {
        guard try hasUnmirrored() else { return false }
        return try execute(
            """
            UPDATE attached SET thumbnails = coalesce(\(dialect.idsOfAccepted("attached.job_id")), ''),
              job_id = coalesce((SELECT superseded_by FROM outcome WHERE outcome.id = attached.job_id), attached.job_id)
            WHERE (attachment, key) IN (
              SELECT attachment, key FROM attached \(dialect.indexed(by: "attached_new"))
              WHERE job_id IS NOT NULL AND thumbnails IS NULL AND (EXISTS (SELECT 1 FROM accepted WHERE accepted.id = job_id)
                OR EXISTS (SELECT 1 FROM outcome WHERE outcome.id = job_id))
              ORDER BY job_id LIMIT 500 \(dialect.skippingLocked))
            """
        ) == 500
    }

    fileprivate func hasUnmirrored() throws -> Bool {
        try value("SELECT EXISTS (SELECT 1 FROM attached WHERE job_id IS NOT NULL AND thumbnails IS NULL)") ?? false
    }

    /// Keeps how jobs failed that are about to be removed.
    func mirrorEnds(of jobs: [Int64]) throws {
        try execute(
            """
            UPDATE attached SET code = (SELECT code FROM outcome WHERE outcome.id = job_id),
              message = (SELECT \(dialect.messageOfOutcome) FROM outcome WHERE outcome.id = job_id)
            WHERE job_id IS NOT NULL AND job_id \(dialect.isIn("?1", .integers))
            """,
            [jobs]
        )
    }

    /// Notes why rows are not followed. That stays until a repair has looked at those of the meantime.
    fileprivate func noteTroubles() throws {
        for (id, attachment) in try attachments() where attachment.trouble == nil {
            guard let trouble = try trouble(of: attachment) else { continue }
            try execute("UPDATE attachment SET trouble = ?2 WHERE id = ?1", [id, trouble])
        }
    }

    func troubles() throws -> [StatusReport.Unfollowed]? {
        let rows = try query("SELECT name, trouble FROM attachment WHERE trouble IS NOT NULL ORDER BY name")
        return rows.isEmpty
            ? nil : try rows.map { StatusReport.Unfollowed(name: try $0["name"], reason: try $0["trouble"]) }
    }
}

extension String {
    /// A text in a statement.
    package var quotedText: String { "'\(replacing("'", with: "''"))'" }
    /// A name of a table or column in a statement.
    package var quotedName: String { "\"\(replacing("\"", with: "\"\""))\"" }
}

extension QueueStore {
    package func attachments() async throws(StoreError) -> [Attachment] {
        try await read { db in try db.attachments().map(\.attachment) }
    }

    package func attach(_ wanted: WantedAttachment) async throws(StoreError) -> Attachment {
        let hasQueue = try await queues().contains { $0.name == Backfill.queue }
        if !hasQueue { try await setBackground(true, queue: Backfill.queue, unknown: .created) }
        return try await commit(.new) { db in
            let attachment = try db.described(wanted)
            _ = try db.enter(attachment)
            for statement in try db.following(attachment) { try db.execute(statement) }
            return try db.attachment(attachment.name).attachment
        }
    }

    package func script(attaching wanted: WantedAttachment) async throws(StoreError) -> String {
        try await read { db in try db.script(try db.described(wanted)) }
    }

    package func fillAttachment(_ name: String) async throws(StoreError) -> AttachmentStep {
        try await commit(.new) { db in
            let (id, attachment) = try db.attachment(name)
            let step = try db.fill(id, attachment, limit: 200)
            db.wakeWorkers()
            return step
        }
    }

    package func mendAttachment(_ name: String) async throws(StoreError) {
        try await commit(.new) { db in
            let (id, attachment) = try db.attachment(name)
            for statement in try db.following(attachment) { try db.execute(statement) }
            try db.execute("UPDATE attachment SET trouble = NULL, filled_to = NULL WHERE id = ?1", [id])
        }
        while try await commit(
            .new,
            { db in
                let (id, attachment) = try db.attachment(name)
                return try db.mend(id, attachment, limit: 200)
            }
        ) {}
    }

    package func compareAttachment(_ name: String, report: @Sendable (Int) -> Void) async throws(StoreError)
        -> AttachmentCounts
    {
        var (counts, last) = (AttachmentCounts(), String?.none)
        repeat {
            let after = last
            let page = try await readApart { db in
                let (id, attachment) = try db.attachment(name)
                return try db.compare(id, attachment, after: after, limit: 1_000)
            }
            counts.rows += page.counts.rows
            counts.missing += page.counts.missing
            counts.stale += page.counts.stale
            report(counts.rows)
            last = page.last
        } while last != nil
        let known = counts
        return try await readApart { db in
            let (id, attachment) = try db.attachment(name)
            var counts = known
            try db.count(id, attachment, &counts)
            return counts
        }
    }

    package func detach(_ name: String, forgetting: Bool) async throws(StoreError) {
        try await commit(.new) { db in
            let (id, attachment) = try db.attachment(name)
            for statement in try db.unfollowing(attachment) { try db.execute(statement) }
            if forgetting { try db.empty(id) }
            try db.execute("UPDATE attached SET source = NULL WHERE attachment = ?1", [id])
            try db.execute("DELETE FROM attached WHERE attachment = ?1", [id])
            try db.execute("DELETE FROM attachment WHERE id = ?1", [id])
        }
    }

    /// What is due of what programs' rows have asked for.
    package func tendAttachments() async throws(StoreError) {
        let (isUnmirrored, isGone) = try await read { db in (try db.hasUnmirrored(), try db.hasGoneSources()) }
        if isUnmirrored { while try await commit(.begun, { db in try db.mirrorAccepted() }) {} }
        if isGone { try await commit(.new) { db in try db.settleGoneSources() } }
        guard acceptances.isLookDue() else { return }
        let hasNews = try await read { db in
            try db.attachments().contains { try $0.attachment.trouble == nil && db.trouble(of: $0.attachment) != nil }
        }
        if hasNews { try await commit(.begun) { db in try db.noteTroubles() } }
    }
}

extension QueueTransaction {
    /// An attachment as a command asks for it.
    fileprivate func described(_ wanted: WantedAttachment) throws -> Attachment {
        let table = try table(wanted.table)
        func column(_ name: String) throws -> String {
            guard table.types[name] != nil else {
                let known = table.types.keys.sorted().joined(separator: ", ")
                throw StoreError.refused(reason: "the table \(wanted.table) has no column \(name) (it has \(known))")
            }
            return name
        }
        var attachment = Attachment(
            table: table.target,
            schema: table.schema,
            tableName: table.name,
            column: try column(wanted.column),
            key: try column(wanted.key),
            kind: wanted.kind,
            renditions: wanted.renditions
        )
        (attachment.base, attachment.queue) = (wanted.base, wanted.queue)
        attachment.label = try wanted.label.map(column)
        let columns = wanted.renditions.map { Attachment.column(of: $0).lowercased() }
        guard Set(columns).count == columns.count else {
            throw StoreError.refused(
                reason:
                    "the view's columns of two renditions would have the same name: \(columns.joined(separator: ", "))"
            )
        }
        guard attachment.view.utf8.count <= 56, attachment.name.utf8.count <= 90 else {
            throw StoreError.refused(
                reason: "the names of the table and the column are too long together: \(attachment.name)"
            )
        }
        return attachment
    }
}
