package import CameoQueue
package import CameoStore

// DESIGN. A followed table has plain row triggers, without a list of columns or a condition, which would forbid to alter the
// columns. Their function reads the row without trust in its columns: one that was renamed or dropped ends the following, and
// no statement of the program.
extension PostgreSQLTransaction {
    package var schemaWords: any SchemaWords { PostgreSQLWords() }
    package var home: String { "\(opening.schema.quotedName)." }

    package func table(_ name: String) throws -> FollowedTable {
        let row = try row(
            """
            SELECT nspname, relname, relkind::text AS kind, pg_get_userbyid(relowner) AS owner,
              pg_has_role(relowner, 'USAGE') AS is_owner
            FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE pg_class.oid = coalesce(to_regclass($1), to_regclass('public.' || quote_ident($1)))
            """,
            [name]
        )
        guard let row else { throw StoreError.refused(reason: "there is no table \(name) in the database") }
        let (schema, relation): (String, String) = try (row["nspname"], row["relname"])
        guard ["r", "p"].contains(try row["kind"] as String) else {
            throw StoreError.refused(reason: "\(name) is no table")
        }
        guard schema != opening.schema else {
            throw StoreError.refused(
                reason: "the table \(name) is in Cameo's schema, \(schema): one of a program is in another"
            )
        }
        guard try row["is_owner"] else {
            throw StoreError.refused(
                reason: "only its owner, \(try row["owner"] as String), can attach the table \(name)"
            )
        }
        let target = "\(schema.quotedName).\(relation.quotedName)"
        let columns = try query(
            """
            SELECT attname, format_type(atttypid, NULL) AS type FROM pg_attribute
            WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
            """,
            [target]
        )
        let keys: [String] = try column(
            """
            SELECT attname::text FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
            WHERE indrelid = $1::regclass AND indisunique AND indisvalid AND indnkeyatts = 1 AND indpred IS NULL
            """,
            [target]
        )
        let types = try columns.map { (try $0["attname"] as String, try $0["type"] as String) }
        return FollowedTable(
            target: target,
            schema: schema == "public" ? nil : schema,
            name: relation,
            types: Dictionary(types) { first, _ in first },
            keys: Set(keys)
        )
    }

    package func words(of attachment: Attachment) throws -> FollowingWords {
        let type = try table("\(attachment.table)").types[attachment.key] ?? "text"
        let isNumber = ["smallint", "integer", "bigint"].contains(type)
        let (key, value) = ("theirs.\(attachment.key.quotedName)", "theirs.\(attachment.column.quotedName)")
        return FollowingWords(
            key: "\(key)::text",
            number: isNumber ? "\(key)::bigint" : "NULL::bigint",
            keyType: type,
            value: attachment.kind == .bytes ? "'-'::text" : "\(value)::text",
            size: "octet_length(\(value)::\(attachment.kind == .bytes ? "bytea" : "text"))",
            picture: attachment.kind == .bytes ? "\(value)::bytea" : "NULL::bytea",
            isRow: "\(key) = \(isNumber ? "attached.number" : "attached.key::\(type)")"
        )
    }

    package func following(_ attachment: Attachment) throws -> [String] {
        if attachment.place != nil { return try unfollowing(attachment) + [view(of: attachment, key: "attached.key")] }
        let words = try words(of: attachment)
        let (name, function) = (attachment.name.quotedText, "\(home)\(attachment.view.quotedName)()")
        let isBytes = attachment.kind == .bytes
        let type = isBytes ? "bytea" : "text"
        func reading(_ row: String, into prefix: String) -> String {
            let label = attachment.label.map { "\(prefix)_label := \(row).\($0.quotedName)::text;" } ?? ""
            return """
                \(prefix)_key := \(row).\(attachment.key.quotedName)::text; \(prefix)_value := \(row).\(attachment.column.quotedName)::\(type); \(label)
                """
        }
        func dynamic(_ row: String, into prefix: String) -> String {
            let columns =
                [(attachment.key, "text"), (attachment.column, type)] + (attachment.label.map { [($0, "text")] } ?? [])
            let list = columns.map { "($1).\($0.0.quotedName)::\($0.1)" }.joined(separator: ", ")
            let variables = ["key", "value"] + (attachment.label == nil ? [] : ["label"])
            return """
                EXECUTE \("SELECT \(list)".quotedText) INTO \(variables.map { "\(prefix)_\($0)" }.joined(separator: ", ")) USING \(row);
                """
        }
        func handing(_ prefix: String, _ value: String) -> String {
            let number = words.number == "NULL::bigint" ? "NULL" : "\(prefix)_key::bigint"
            let given = isBytes ? "CASE WHEN octet_length(\(value)) > 0 THEN '-' END, \(value)" : "\(value), NULL"
            return "PERFORM \(home)attach_row(of, \(prefix)_key, \(number), \(given), \(prefix)_label, NULL, true);"
        }
        let body = """
            CREATE OR REPLACE FUNCTION \(function) RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
              SET search_path TO \(opening.schema.quotedName), pg_temp AS $cameo$
              DECLARE
                of bigint := (SELECT id FROM \(home)attachment WHERE name = \(name));
                old_key text; old_value \(type); old_label text;
                new_key text; new_value \(type); new_label text;
              BEGIN
                IF of IS NULL THEN RETURN NULL; END IF;
                IF TG_OP = 'TRUNCATE' THEN PERFORM \(home)attach_emptied(of); RETURN NULL; END IF;
                BEGIN
                  IF TG_OP <> 'INSERT' THEN \(reading("OLD", into: "old")) END IF;
                  IF TG_OP <> 'DELETE' THEN \(reading("NEW", into: "new")) END IF;
                -- A column has another type than when this session planned its first row; or it is gone.
                EXCEPTION WHEN datatype_mismatch OR undefined_column OR wrong_object_type OR cannot_coerce THEN
                  BEGIN
                    IF TG_OP <> 'INSERT' THEN \(dynamic("OLD", into: "old")) END IF;
                    IF TG_OP <> 'DELETE' THEN \(dynamic("NEW", into: "new")) END IF;
                  EXCEPTION WHEN undefined_column OR cannot_coerce OR data_exception THEN
                    PERFORM \(home)attach_lost(of, SQLERRM);
                    RETURN NULL;
                  END;
                END;
                IF TG_OP = 'UPDATE' AND old_key IS NOT DISTINCT FROM new_key AND old_value IS NOT DISTINCT FROM new_value
                  AND old_label IS NOT DISTINCT FROM new_label THEN RETURN NULL; END IF;
                IF TG_OP <> 'DELETE' THEN \(handing("new", "new_value")) END IF;
                IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND old_key IS DISTINCT FROM new_key THEN
                  \(handing("old", "NULL"))
                END IF;
                RETURN NULL;
              END $cameo$
            """
        let shownKey =
            switch words.keyType {
            case "uuid": "\(home)as_uuid(attached.key)"
            case let type: words.number == "NULL::bigint" ? "attached.key::\(type)" : "attached.number"
            }
        return try unfollowing(attachment) + [body, "REVOKE ALL ON FUNCTION \(function) FROM PUBLIC"] + [
            "CREATE TRIGGER \(attachment.view.quotedName) AFTER INSERT OR UPDATE OR DELETE ON \(attachment.table)\n"
                + "  FOR EACH ROW EXECUTE FUNCTION \(function)",
            "CREATE TRIGGER \("\(attachment.view)_emptied".quotedName) AFTER TRUNCATE ON \(attachment.table)\n"
                + "  FOR EACH STATEMENT EXECUTE FUNCTION \(function)",
            view(of: attachment, key: shownKey), shownToReaders(attachment),
        ]
    }

    /// Lets the role that reads the store read the view, if there is one (`deploy/postgresql/roles.sql`).
    private func shownToReaders(_ attachment: Attachment) -> String {
        let reader = "\(opening.schema)_reader"
        return """
            DO $cameo$ BEGIN IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = \(reader.quotedText)) THEN
              GRANT SELECT ON \(home)\(attachment.view.quotedName) TO \(reader.quotedName); END IF; END $cameo$
            """
    }

    private func view(of attachment: Attachment, key: String) -> String {
        schemaWords.attachedView(
            of: attachment,
            in: home,
            options: " WITH (security_invoker = on)",
            key: key,
            message: dialect.messageOfOutcome
        )
    }

    package func unfollowing(_ attachment: Attachment) throws -> [String] {
        let isThere = "to_regclass(\(attachment.table.quotedText)) IS NOT NULL"
        let triggers = [attachment.view, "\(attachment.view)_emptied"].map { name in
            """
            DO $cameo$ BEGIN IF \(isThere) THEN DROP TRIGGER IF EXISTS \(name.quotedName) ON \(attachment.table); END IF; END $cameo$
            """
        }
        return triggers + [
            "DROP VIEW IF EXISTS \(home)\(attachment.view.quotedName)",
            "DROP FUNCTION IF EXISTS \(home)\(attachment.view.quotedName)()",
        ]
    }

    package func trouble(of attachment: Attachment) throws -> String? {
        // By its names: who may not use the table's schema may look here all the same.
        let relation = """
            (SELECT pg_class.oid FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
              WHERE nspname = $1 AND relname = $2)
            """
        let names = [attachment.schema ?? "public", attachment.tableName]
        let columns: [String] = try column(
            "SELECT attname::text FROM pg_attribute WHERE attrelid = \(relation) AND attnum > 0 AND NOT attisdropped",
            names
        )
        if let objection = attachment.objection(to: columns) { return objection }
        let there: Int? = try value(
            """
            SELECT count(*) FROM pg_trigger
            WHERE tgrelid = \(relation) AND tgname = ANY($3::text[]) AND tgenabled IN ('O', 'A')
            """,
            names + [[attachment.view, "\(attachment.view)_emptied"]]
        )
        return there == 2 ? nil : "the triggers of \(attachment.table) are gone or disabled"
    }

    package func handOver(_ rows: GivenRows, _ attachment: Attachment, queue: String?, isChange: Bool) throws {
        let count = rows.values.count
        _ = try query(
            """
            SELECT count(attach_row(attachment.id, page.key, page.number, page.value, page.picture, page.label, ?\(count + 2)::text,
              ?\(count + 3)::boolean))
            FROM (\(rows.sql)) AS page JOIN attachment ON attachment.name = ?\(count + 1)
            """,
            rows.values + [attachment.name, queue, isChange]
        )
    }

    package func askAgain(where condition: String, _ values: [(any SQLBindable)?]) throws {
        _ = try query("SELECT count(attach_again(attachment, key)) FROM attached WHERE \(condition)", values)
    }

    package func empty(_ id: Int64) throws { _ = try query("SELECT attach_emptied($1)::text", [id]) }

    /// Notes the thumbnails of some rows whose jobs were accepted.
    ///
    /// - Returns: whether others may be left.
    fileprivate func mirrorAccepted() throws -> Bool {
        let page = 500
        return try mirrorAccepted(
            """
            SELECT attachment, key FROM attached WHERE \(Self.isUnmirrored) AND (
              EXISTS (SELECT 1 FROM accepted WHERE accepted.id = job_id) OR EXISTS (SELECT 1 FROM outcome WHERE outcome.id = job_id))
            ORDER BY job_id LIMIT \(page) FOR UPDATE SKIP LOCKED
            """,
            []
        ) == page
    }

    private static let isUnmirrored = "job_id IS NOT NULL AND thumbnails IS NULL"

    /// Whether there are rows whose jobs have perhaps been accepted.
    var hasUnmirrored: Bool {
        get throws { try value("SELECT EXISTS (SELECT 1 FROM attached WHERE \(Self.isUnmirrored))") ?? false }
    }

    fileprivate var hasGoneSources: Bool {
        get throws { try value("SELECT EXISTS (SELECT 1 FROM attached_gone)") ?? false }
    }

    private static let isOver = "horizon <= pg_snapshot_xmin(pg_current_snapshot())"

    /// Forgets what others left at the same moment, each because of the other's row.
    fileprivate func forgetLeftSources() throws {
        try execute(
            "UPDATE attached_gone SET horizon = pg_snapshot_xmax(pg_current_snapshot()) WHERE horizon IS NULL",
            []
        )
        try execute(
            """
            WITH due AS (DELETE FROM attached_gone WHERE shared AND \(Self.isOver) RETURNING source),
            again AS (
              SELECT DISTINCT source FROM due WHERE NOT EXISTS (
                SELECT 1 FROM attached WHERE attached.source IS NOT NULL
                  AND text_digest(attached.source) = text_digest(due.source))),
            noted AS (INSERT INTO attached_gone(source) SELECT source FROM again)
            INSERT INTO forget(selector) SELECT json_build_object('source', source) FROM again
            """,
            []
        )
    }

    /// Asks again for what was forgotten before the row of another that needs it could be seen. A row that its program is
    /// changing is looked at later.
    fileprivate func askForForgottenSources() throws {
        _ = try query(
            """
            WITH due AS (DELETE FROM attached_gone WHERE shared IS NOT TRUE AND \(Self.isOver) RETURNING source),
            wanted AS (
              SELECT attachment, key, source FROM attached WHERE source IS NOT NULL
                AND text_digest(source) IN (SELECT text_digest(source) FROM due)
                AND EXISTS (SELECT 1 FROM outcome WHERE outcome.id = attached.job_id AND outcome.state = 6)),
            free AS (
              SELECT attachment, key FROM attached WHERE (attachment, key) IN (SELECT attachment, key FROM wanted)
              ORDER BY attachment, key FOR UPDATE SKIP LOCKED),
            kept AS (
              INSERT INTO attached_gone(source) SELECT DISTINCT source FROM wanted
              WHERE (attachment, key) NOT IN (SELECT attachment, key FROM free))
            SELECT count(attach_again(attachment, key)) FROM free
            """,
            []
        )
    }
}

extension PostgreSQLStore {
    // DESIGN. A program's transaction locks rows of the mirror, and then what is forgotten with them. So what follows here
    // waits for none of these rows, nor, while it has one, for anything else. Only who hands rows over, as the first fill
    // does, waits for them.

    /// Does what programs' transactions left undone that ran beside others.
    func settleAttachments() async throws(StoreError) {
        let (isUnmirrored, isGone) = try await read { db in (try db.hasUnmirrored, try db.hasGoneSources) }
        if isUnmirrored { try await mirrorAccepted() }
        guard isGone else { return }
        try await commit(.new) { db in try db.forgetLeftSources() }
        try await transaction { db in try db.askForForgottenSources() }
    }

    /// Notes the thumbnails of rows whose jobs were accepted.
    func mirrorAccepted() async throws(StoreError) {
        while try await transaction({ db in try db.mirrorAccepted() }) {}
    }
}
