internal import CameoModel
package import CameoStore
internal import Foundation

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
    func handOver(_ rows: GivenRows, _ attachment: Attachment, queue: String?, isChange: Bool) throws
    /// Enqueues the rows of the mirror that a condition selects again.
    func askAgain(where condition: String, _ values: [(any SQLBindable)?]) throws
    /// Forgets all that only an attachment has, and its rows.
    func empty(_ id: Int64) throws
}

/// A statement that selects rows of a followed table: `key`, `number`, `value`, `size`, `picture` and `label`; and its values.
package struct GivenRows {
    package let sql: String
    package let values: [(any SQLBindable)?]
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
            SELECT id, target, target_schema, target_name, picture, key_column, label_column, kind, base, queue, place,
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
            (attachment.place, attachment.trouble, attachment.isFilled) = try (
                row["place"], row["trouble"], row["filled"]
            )
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
        guard (old.table, old.key, old.kind, old.base, old.place) == (new.table, new.key, new.kind, new.base, new.place)
        else {
            throw StoreError.refused(
                reason: "\(new.name) is attached with another --key, --as, --base or --in; detach it first"
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
            JSONValue.array(attachment.renditions.map(\.json)).canonicalText, attachment.place,
        ]
        return """
            INSERT INTO \(home)attachment(name, target, target_schema, target_name, picture, key_column, label_column, kind,
              base, root, queue, renditions, place)
            VALUES (\(values.map { $0?.quotedText ?? "NULL" }.joined(separator: ", "))) ON CONFLICT (name) DO NOTHING
            """
    }

    /// What a migration of a program runs, any number of times.
    fileprivate func script(_ attachment: Attachment) throws -> String {
        ([insertion(of: attachment)] + (try following(attachment))).map { "\($0);\n" }.joined()
    }

    /// The rows after a key, in the order of the keys.
    private func page(of attachment: Attachment, after last: String?, limit: Int) throws -> GivenRows {
        let (words, key) = (try words(of: attachment), "theirs.\(attachment.key.quotedName)")
        let sql = """
            SELECT \(words.key) AS key, \(words.number) AS number, \(words.value) AS value, \(words.size) AS size,
              \(words.picture) AS picture,
              \(attachment.label.map { "CAST(theirs.\($0.quotedName) AS text)" } ?? "CAST(NULL AS text)") AS label
            FROM \(attachment.table) AS theirs
            WHERE CAST(?1 AS text) IS NULL OR \(key) > CAST(CAST(?1 AS text) AS \(words.keyType))
            ORDER BY \(key) LIMIT ?2
            """
        return GivenRows(sql: sql, values: [last, limit])
    }

    /// A row that came from another database.
    private func given(_ row: FollowedRow) -> GivenRows {
        GivenRows(
            sql: """
                SELECT CAST(?1 AS text) AS key, CAST(?2 AS bigint) AS number, CAST(?3 AS text) AS value, CAST(?4 AS bigint) AS size,
                  CAST(?5 AS \(dialect.bytes)) AS picture, CAST(?6 AS text) AS label
                """,
            values: [row.key, row.number, row.picture == nil ? row.value : "-", row.size, row.picture, row.label]
        )
    }

    private func keys(of rows: GivenRows) throws -> [String] {
        try column("SELECT key FROM (\(rows.sql)) AS page", rows.values)
    }

    /// Takes over what rows of another database have, unless somebody did so since a number was read.
    fileprivate func hand(_ rows: [FollowedRow], _ id: Int64, _ attachment: Attachment, after moves: Int64) throws
        -> Bool
    {
        let count = "UPDATE attachment SET moves = moves + 1 WHERE id = ?1 AND moves = ?2"
        guard try execute(count, [id, moves]) == 1 else { return false }
        for row in rows {
            let queue = row.isChange ? nil : Backfill.queue
            try handOver(given(row), attachment, queue: queue, isChange: row.isChange)
        }
        wakeWorkers()
        return true
    }

    /// Looks at rows after the last that was read.
    fileprivate func fill(_ id: Int64, _ attachment: Attachment, limit: Int) throws -> AttachmentStep {
        let last: String? = try value("SELECT filled_to FROM attachment WHERE id = ?1", [id])
        let rows = try page(of: attachment, after: last, limit: limit)
        let keys = try keys(of: rows)
        if !keys.isEmpty { try handOver(rows, attachment, queue: Backfill.queue, isChange: false) }
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
        let rows = try page(of: attachment, after: last, limit: limit)
        let keys = try keys(of: rows)
        return (try compare(rows, id), keys.count == limit ? keys.last : nil)
    }

    private func compare(_ rows: GivenRows, _ id: Int64) throws -> AttachmentCounts {
        let place = "?\(rows.values.count + 1)"
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
            FROM (SELECT page.*, \(why) AS why FROM (\(rows.sql)) AS page JOIN attachment ON attachment.id = \(place)) AS page
              JOIN attachment ON attachment.id = \(place)
              LEFT JOIN attached ON attached.attachment = \(place) AND attached.key = page.key
            """,
            rows.values + [id]
        )
        var counts = AttachmentCounts()
        if let row { (counts.rows, counts.missing, counts.stale) = try (row["rows"], row["missing"], row["stale"]) }
        return counts
    }

    fileprivate func compare(_ rows: [FollowedRow], _ id: Int64) throws -> AttachmentCounts {
        try rows.reduce(into: AttachmentCounts()) { counts, row in counts += try compare(given(row), id) }
    }

    /// What the mirror alone tells; of rows in another database, not whether they are there.
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
        (counts.invalid, counts.waiting) = try (row["invalid"], row["waiting"])
        if attachment.place == nil { counts.orphaned = try row["orphaned"] }
        (counts.failed, counts.lost) = try (row["failed"], row["lost"])
    }

    private func isThere(_ attachment: Attachment) throws -> String {
        attachment.place != nil
            ? "true" : "EXISTS (SELECT 1 FROM \(attachment.table) AS theirs WHERE \(try words(of: attachment).isRow))"
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
            """
            attachment = ?1 AND key IN (SELECT key FROM attached WHERE attachment = ?1 AND \(condition) ORDER BY key LIMIT ?2
              \(dialect.skippingLocked))
            """
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

    /// Notes the thumbnails of rows of the mirror whose jobs were accepted. A statement selects the rows.
    ///
    /// - Returns: how many.
    @discardableResult
    package func mirrorAccepted(_ rows: String, _ values: [(any SQLBindable)?]) throws -> Int {
        try execute(
            """
            UPDATE attached SET thumbnails = coalesce(\(dialect.idsOfAccepted("attached.job_id")), ''),
              job_id = coalesce((SELECT superseded_by FROM outcome WHERE outcome.id = attached.job_id), attached.job_id)
            WHERE (attachment, key) IN (\(rows))
            """,
            values
        )
    }

    package var hasAttachments: Bool {
        get throws { try value("SELECT EXISTS (SELECT 1 FROM attachment)") ?? false }
    }

    /// Keeps how jobs failed that are about to be removed.
    ///
    /// - Returns: those of the jobs with a row that its program is changing.
    func mirrorEnds(of jobs: [Int64]) throws -> Set<Int64> {
        guard try hasAttachments else { return [] }
        // By their sources: an index of its own would cost each row of a program.
        let ended = try query(
            """
            SELECT outcome.id AS id, outcome.code AS code, \(dialect.messageOfOutcome) AS message, \(dialect.source) AS source,
              (SELECT 'cameo://source/' || cachekey FROM upload WHERE upload.job_id = job.id) AS uploaded
            FROM outcome JOIN \(dialect.jobs) ON job.id = outcome.id WHERE outcome.id \(dialect.isIn("?1", .integers))
            """,
            [jobs]
        )
        var busy: Set<Int64> = []
        for row in ended {
            guard let source: String = try row["uploaded"] ?? row["source"] else { continue }
            let job: Int64 = try row["id"]
            let rows = "attached WHERE source IS NOT NULL AND \(schemaWords.isKey("source", "?2")) AND job_id = ?1"
            let noted = try execute(
                """
                UPDATE attached SET code = coalesce(?3, 'job.cancelled'), message = ?4
                WHERE (attachment, key) IN (SELECT attachment, key FROM \(rows) \(dialect.skippingLocked))
                """,
                [job, source, try row["code"] as String?, try row["message"] as String?]
            )
            let there: Int = try value("SELECT count(*) FROM \(rows)", [job, source]) ?? 0
            if noted < there { busy.insert(job) }
        }
        return busy
    }

    /// The attachments, each with why its rows are not followed; and whether that is not noted yet.
    fileprivate func attachmentsAfterLook() throws -> (attachments: [Attachment], isNews: Bool) {
        var isNews = false
        let attachments = try attachments().map { _, attachment in
            var attachment = attachment
            guard attachment.trouble == nil, attachment.place == nil else { return attachment }
            attachment.trouble = try trouble(of: attachment)
            isNews = isNews || attachment.trouble != nil
            return attachment
        }
        return (attachments, isNews)
    }

    /// Notes why rows are not followed. That stays until a repair has looked at those of the meantime.
    fileprivate func noteTroubles() throws {
        for attachment in try attachmentsAfterLook().attachments where attachment.trouble != nil {
            try execute(
                "UPDATE attachment SET trouble = ?2 WHERE name = ?1 AND trouble IS NULL",
                [attachment.name, attachment.trouble]
            )
        }
    }

    func troubles() throws -> [StatusReport.Unfollowed]? {
        let rows = try query(
            """
            SELECT name, coalesce(trouble, 'nobody reads ' || place) AS trouble FROM attachment
            WHERE trouble IS NOT NULL OR place IS NOT NULL AND coalesce(looked_at, 0) < ?1 ORDER BY name
            """,
            [now - Self.silence]
        )
        return rows.isEmpty
            ? nil : try rows.map { StatusReport.Unfollowed(name: try $0["name"], reason: try $0["trouble"]) }
    }

    /// How long nobody may have looked at another database, in milliseconds, until that is said.
    private static var silence: Int64 { 120_000 }

    /// Notes that somebody looks at the changes of another database, and why they are not all there.
    fileprivate func noteLook(at name: String, trouble: String?) throws {
        try execute(
            "UPDATE attachment SET looked_at = ?2, trouble = coalesce(trouble, ?3) WHERE name = ?1",
            [name, now, trouble]
        )
    }

    /// The rows of an attachment's view, in JSON, by key.
    fileprivate func shown(_ keys: [String], of attachment: Attachment) throws -> [String: String] {
        let view = attachment.view.quotedName
        let rows = try query(
            """
            SELECT \(attachment.key.quotedName) AS key, \(dialect.json(of: view, attachment.columns)) AS shown FROM \(view)
            WHERE \(attachment.key.quotedName) \(dialect.isIn("?1", .texts))
            """,
            [keys]
        )
        return Dictionary(try rows.map { (try $0["key"] as String, try $0["shown"] as String) }) { first, _ in first }
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
            try db.enter(attachment)
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
            let page = try await readApart { db -> (counts: AttachmentCounts, last: String?) in
                let (id, attachment) = try db.attachment(name)
                if attachment.place != nil { return (AttachmentCounts(), nil) }
                return try db.compare(id, attachment, after: after, limit: 1_000)
            }
            counts += page.counts
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

    package func moves(of name: String) async throws(StoreError) -> Int64 {
        try await read { db in try db.value("SELECT moves FROM attachment WHERE name = ?1", [name]) ?? 0 }
    }

    package func hand(_ rows: [FollowedRow], of name: String, after moves: Int64) async throws(StoreError) -> Bool {
        try await commit(.new) { db in
            let (id, attachment) = try db.attachment(name)
            return try db.hand(rows, id, attachment, after: moves)
        }
    }

    package func shown(_ keys: [String], of name: String) async throws(StoreError) -> [String: String] {
        try await read { db in try db.shown(keys, of: db.attachment(name).attachment) }
    }

    package func keys(of name: String, after last: String?, limit: Int) async throws(StoreError) -> [String] {
        try await read { db in
            let look = """
                SELECT key FROM attached WHERE attachment = ?1 AND (CAST(?2 AS text) IS NULL OR key > ?2) ORDER BY key LIMIT ?3
                """
            return try db.column(look, [db.attachment(name).id, last, limit])
        }
    }

    package func compare(_ rows: [FollowedRow], of name: String) async throws(StoreError) -> AttachmentCounts {
        try await read { db in try db.compare(rows, db.attachment(name).id) }
    }

    package func noteLook(at name: String, trouble: String?) async throws(StoreError) {
        try await commit(.begun) { db in try db.noteLook(at: name, trouble: trouble) }
    }

    package func noteFilled(_ name: String) async throws(StoreError) {
        _ = try await commit(.new) { db in
            try db.execute("UPDATE attachment SET filled = ?2, trouble = NULL WHERE name = ?1", [name, true])
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

    /// Looks once a minute whether tables are still followed.
    package func tendAttachments() async throws(StoreError) {
        if acceptances.isLookDue() { _ = try await attachmentsAfterLook() }
    }

    package func attachmentsAfterLook() async throws(StoreError) -> [Attachment] {
        let (attachments, isNews) = try await read { db in try db.attachmentsAfterLook() }
        if isNews { _ = try await commit(.begun) { db in try db.noteTroubles() } }
        return attachments
    }
}

extension QueueTransaction {
    /// An attachment as a command asks for it.
    fileprivate func described(_ wanted: WantedAttachment) throws -> Attachment {
        let table = try wanted.place?.table ?? table(wanted.table)
        func column(_ name: String) throws -> String {
            guard table.types[name] != nil else {
                let known = table.types.keys.sorted().joined(separator: ", ")
                throw StoreError.refused(reason: "the table \(wanted.table) has no column \(name) (it has \(known))")
            }
            return name
        }
        guard try table.keys.contains(column(wanted.key)) else {
            let known = table.keys.isEmpty ? "" : " (these do: \(table.keys.sorted().joined(separator: ", ")))"
            throw StoreError.refused(
                reason: "the column \(wanted.key) of \(wanted.table) does not tell its rows apart by itself\(known)"
            )
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
        attachment.place = wanted.place?.path
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
