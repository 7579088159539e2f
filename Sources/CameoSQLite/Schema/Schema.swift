internal import CLinux
internal import CSQLite
internal import CameoQueue
internal import CameoStore
internal import Foundation

/// The tables, their versions, and the migrations between versions.
///
/// A version of Cameo whose requests have new fields also needs a script, even an empty one: a worker that does not
/// know a field discards its job, so older workers must stop claiming (``WritePhase``).
enum Schema {
    /// "Came" in ASCII: marks the file as Cameo's (PRAGMA application_id).
    static let applicationID = 0x4361_6D65

    /// One script per version, oldest first. A published script is never edited; a new one is appended. Views come
    /// before tables: if a view is the first entry in SQLite's hash of tables, `PRAGMA integrity_check` mistakes its
    /// missing root page for a partial check and skips the free pages (`sqlite3BtreeIntegrityCheck`, seen in 3.40.1).
    static let scripts = [
        "\(views)\n\(pictures)\n\(producerTables)\n\(queueTables)\n\(history)\n\(SQLiteWords().hookTables)",
        laterFetches, lacks, refusals, SQLiteWords().removedJobs, shownSources, omissions, removals,
        unbrokenFeed, library, "\(foundBySource)\n\(attachments)\n\(sealedBatches)",
        "\(costs)\n\(shares)",
    ]

    static var currentVersion: Int { scripts.count }

    /// The version of the file, 0 if it is empty.
    ///
    /// - Throws: ``StoreError/notAStore(path:)``, ``StoreError/newerSchema(path:found:supported:)``,
    ///   ``StoreError/cannotOpen(path:reason:)``
    static func version(of db: SQLiteConnection, at path: String) throws -> Int {
        // One statement, so that all of it is of one moment: another process may be creating the tables.
        let look = """
            SELECT user_version, application_id, (SELECT count(*) = 0 FROM sqlite_schema) AS is_empty
            FROM pragma_user_version, pragma_application_id
            """
        guard let row = try db.rows(look).first else { throw StoreError.notAStore(path: path) }
        let (version, application): (Int, Int) = try (row["user_version"], row["application_id"])
        let isEmpty: Bool = try row["is_empty"]
        if isEmpty && application == 0 { return 0 }
        guard application == applicationID else { throw StoreError.notAStore(path: path) }
        if let refusal = refusal(of: version, at: path) { throw refusal }
        guard version >= 1 else {
            throw StoreError.cannotOpen(path: path, reason: "its user_version is \(version), which Cameo never writes")
        }
        return version
    }

    private static func refusal(of version: Int, at path: String) -> StoreError? {
        version > currentVersion ? .newerSchema(path: path, found: version, supported: currentVersion) : nil
    }

    /// Why this program must start nothing more in an open file: a newer program has migrated the tables. Nil otherwise. Costs
    /// a microsecond.
    static func refusal(by db: SQLiteConnection, at path: String) throws -> StoreError? {
        refusal(of: try db.value("PRAGMA user_version") ?? 0, at: path)
    }

    /// Excludes SQLite's internal objects.
    static let namedByPrograms = "name NOT GLOB 'sqlite_*'"

    /// The statements that define all of Cameo's tables, indexes, triggers and views, by name.
    static func ownDefinitions() throws -> [String: String] {
        let db = try SQLiteConnection(":memory:", .readWrite)
        for script in scripts { try db.execute(script: script) }
        return try definitions(in: db)
    }

    static func definitions(in db: SQLiteConnection) throws -> [String: String] {
        let find = "SELECT CAST(name AS TEXT) AS name, CAST(sql AS TEXT) AS sql FROM sqlite_schema WHERE sql NOTNULL"
        return try db.rows("\(find) AND \(namedByPrograms)")
            .reduce(into: [:]) { $0[try $1["name"]] = try $1["sql"] as String }
    }

    /// The names of all of Cameo's tables, indexes, triggers and views.
    static func ownNames() throws -> Set<String> { Set(try ownDefinitions().keys) }

    /// Whether the file has all tables and is in WAL mode. Another program may have turned WAL off while the store was
    /// closed (`PRAGMA journal_mode` is stored in the file); then no wake-ups would come, and readers and writers would
    /// block each other.
    static func isReady(_ db: SQLiteConnection, at path: String) throws -> Bool {
        try version(of: db, at: path) == currentVersion && isInWALMode(db)
    }

    static func isInWALMode(_ db: SQLiteConnection) throws -> Bool {
        try db.value("PRAGMA journal_mode") == "wal"
    }

    /// Migrates the file to ``currentVersion``, or an older one in tests, and turns WAL on. Only one process at a time may call
    /// this.
    static func setUp(_ db: SQLiteConnection, at path: String, to wanted: Int = currentVersion) throws {
        let isOld = try version(of: db, at: path) < wanted
        // Page size and journal mode are stored in the file and cannot change inside a transaction.
        if isOld { try db.execute("PRAGMA page_size = \(SQLiteConnection.pageSize)") }
        try turnWALOn(db, at: path)
        guard isOld else { return }
        try db.inTransaction(.write) {
            for script in scripts[..<wanted].dropFirst(try version(of: db, at: path)) {
                try db.execute(script: script)
            }
            try db.execute("PRAGMA application_id = \(applicationID)")
            try db.execute("PRAGMA user_version = \(wanted)")
        }
    }

    /// Retries, because this needs exclusive access for a moment and SQLite does not call the busy handler.
    private static func turnWALOn(_ db: SQLiteConnection, at path: String) throws {
        let deadline = cameo_monotonic_ms() + Patience.usual
        while true {
            do {
                guard try db.value("PRAGMA journal_mode = WAL") != "wal" else { return }
                throw StoreError.cannotOpen(path: path, reason: "SQLite cannot keep a write-ahead log there")
            } catch let error as SQLiteError where error.code == SQLITE_BUSY {
                guard cameo_monotonic_ms() < deadline else { throw error }
                poll(nil, 0, 2)
            }
        }
    }
}

extension Schema {
    /// The polling contract. An unaccepted job is shown with the values of its request.
    static let views = views(source: "json_extract(request, '$.source')")

    /// Version 6. The polling contract shows no user names and passwords of URLs.
    static let shownSources = remaking(views(source: shownSource))

    /// Version 7. What of a source its thumbnails leave out, since when a queue is paused, and what a worker suffers.
    static let omissions = """
        ALTER TABLE thumbnail ADD COLUMN source_omitted TEXT CHECK (source_omitted IS NULL OR json_valid(source_omitted));
        ALTER TABLE queue ADD COLUMN paused_at INTEGER;
        ALTER TABLE worker ADD COLUMN trouble TEXT CHECK (trouble IS NULL OR json_valid(trouble));
        \(remaking(views(source: shownSource).replacing(videoFacts, with: videoFactsAndOmissions) + """

            -- What readers may see.
            CREATE VIEW shown_thumbnail AS
              SELECT *, CASE WHEN source_video IS NOT NULL THEN rendition ->> 'storyboard' END AS storyboard FROM thumbnail;
            """))
        """

    /// Version 9. Changes that were removed from the middle of the feed, after the clock had jumped, left gaps, which a status
    /// counted as changes.
    static let unbrokenFeed = """
        DELETE FROM change WHERE seq < (
          SELECT max(seq) FROM (SELECT seq, lag(seq, 1, seq - 1) OVER (ORDER BY seq) AS before FROM change)
          WHERE before <> seq - 1);
        """

    /// Version 10. What is known of thumbnails whatever became of their jobs.
    static let library = """
        ALTER TABLE thumbnail ADD COLUMN source_size INTEGER;
        ALTER TABLE thumbnail ADD COLUMN taken_at TEXT;
        ALTER TABLE thumbnail ADD COLUMN camera TEXT;
        DROP VIEW shown_thumbnail;
        CREATE VIEW shown_thumbnail AS
          SELECT *, CASE WHEN source_video IS NOT NULL THEN rendition ->> 'storyboard' END AS storyboard,
            \(shown("thumbnail.source", ifNoneIn: ["thumbnail.source"])) AS shown_source, rendition AS shown_rendition
          FROM thumbnail;
        \(SQLiteWords().factViews(time: time))
        \(SQLiteWords().libraryTables)
        \(SQLiteWords().libraryContent)
        \(SQLiteWords().namedUploads)
        DROP TRIGGER upload_enqueues;
        CREATE TRIGGER upload_enqueues AFTER INSERT ON upload BEGIN
          SELECT RAISE(ABORT, 'CHECK constraint failed: data must have 1 byte to 100 MiB') WHERE NEW.data IS NULL;
          SELECT RAISE(ABORT, '\(SQLiteWords().refusalOfTwice)')
            WHERE NEW.name IS NOT NULL AND json_type(NEW.request, '$.metadata') IS NOT NULL
              OR NEW.labels IS NOT NULL AND json_type(NEW.request, '$.labels') IS NOT NULL;
          INSERT INTO job(request) VALUES (CASE
            WHEN NEW.name IS NULL AND NEW.labels IS NULL THEN json_set(NEW.request, '$.source', 'upload:' || NEW.id)
            WHEN NEW.name IS NULL
              THEN json_set(NEW.request, '$.source', 'upload:' || NEW.id, '$.labels', json(NEW.labels))
            WHEN NEW.labels IS NULL
              THEN json_set(NEW.request, '$.source', 'upload:' || NEW.id, '$.metadata', json_object('name', NEW.name))
            ELSE json_set(NEW.request, '$.source', 'upload:' || NEW.id, '$.labels', json(NEW.labels),
              '$.metadata', json_object('name', NEW.name)) END);
          UPDATE upload SET job_id = last_insert_rowid() WHERE id = NEW.id;
        END;
        \(SQLiteWords().forgetTables)
        CREATE TRIGGER forget_is_checked BEFORE INSERT ON forget WHEN NOT (
          CASE WHEN json_valid(NEW.selector) THEN json_type(NEW.selector) IS 'object' ELSE 0 END
          AND (SELECT count(*) FILTER (WHERE key <> 'evenShared') = 1 AND count(*) FILTER (WHERE NOT CASE
              WHEN key = 'uri' THEN type = 'text' AND replace(value, 'cameo://thumb/', '') NOT GLOB '*[^0-9a-f]*'
                AND length(replace(value, 'cameo://thumb/', '')) = 32
              WHEN key IN ('source', 'prefix', 'label', 'batch')
                THEN type = 'text' AND value <> '' AND instr(NEW.selector, '\\u0000') = 0
              WHEN key = 'job' THEN type = 'integer' AND value > 0 WHEN key = 'evenShared' THEN type IN ('true', 'false') ELSE 0 END) = 0
            FROM json_each(CASE WHEN json_valid(NEW.selector) THEN NEW.selector ELSE '{}' END)))
        BEGIN
          SELECT RAISE(ABORT, '\(SQLiteWords().neededSelector)');
        END;
        -- An import brings the number with the row.
        \(forgetTriggers(SQLiteWords().forgetting()))
        CREATE TRIGGER source_is_forgotten BEFORE INSERT ON source WHEN \(SQLiteWords().isForgottenSource) BEGIN
          SELECT RAISE(IGNORE);
        END;
        """

    /// Version 11. A forget finds the jobs of a source by an index.
    static let foundBySource = """
        \(SQLiteWords().sourceTails)
        DROP TRIGGER forget_is_done;
        DROP TRIGGER forget_goes_on;
        \(forgetTriggers(SQLiteWords().forgetting(byTail: true)))
        """

    /// Version 11. Batches are sealed.
    static let sealedBatches = """
        \(SQLiteWords().sealTable)
        -- An import brings the number with the row.
        CREATE TRIGGER batch_is_sealed AFTER INSERT ON batch_seal WHEN NEW.last_job IS NULL BEGIN
          UPDATE batch_seal SET last_job = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'job'), 0)
            WHERE seq = NEW.seq;
        END;
        """

    /// Version 12. What attempts cost: processor time in milliseconds.
    static let costs = "ALTER TABLE attempt ADD COLUMN cpu_ms INTEGER;"

    private static func forgetTriggers(_ statements: [String]) -> String {
        let forgetting = statements.map { "\($0);" }.joined(separator: "\n")
        return """
            CREATE TRIGGER forget_is_done AFTER INSERT ON forget WHEN NEW.seen IS NULL BEGIN
              UPDATE sequence SET value = value + 1 WHERE name = 'source_seen';
              UPDATE forget SET seen = (SELECT value FROM sequence WHERE name = 'source_seen'),
                  last_job = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'job'), 0)
                WHERE id = NEW.id;
              \(forgetting)
            END;
            CREATE TRIGGER forget_goes_on AFTER UPDATE OF looked ON forget BEGIN
              \(forgetting)
            END;
            """
    }

    private static let videoFacts =
        "iif(thumbnail.source_video IS NULL, '{}', json_object('video', json(thumbnail.source_video)))"
    /// A patch leaves out what is null.
    private static let videoFactsAndOmissions =
        "json_object('video', json(thumbnail.source_video), 'omitted', json(thumbnail.source_omitted))"

    /// Replaces the polling contract. The table after the views keeps these from being the first entry in SQLite's hash, see
    /// ``scripts``; a small one, that nothing refers to, is made anew.
    private static func remaking(_ views: String) -> String {
        """
        DROP VIEW batch_status;
        DROP VIEW job_status;
        \(views)
        \(counters.replacing("CREATE TABLE counter", with: "CREATE TABLE new_counter"))
        INSERT INTO new_counter SELECT * FROM counter;
        DROP TABLE counter;
        ALTER TABLE new_counter RENAME TO counter;
        """
    }

    private static func views(source: String) -> String {
        """
        CREATE VIEW job_status AS
          SELECT
            job.id AS id,
            CASE coalesce(task.state, outcome.state)
              WHEN 0 THEN 'scheduled' WHEN 1 THEN 'available' WHEN 2 THEN 'running' WHEN 3 THEN 'retryable'
              WHEN 4 THEN 'completed' WHEN 5 THEN 'discarded' WHEN 6 THEN 'cancelled'
              ELSE iif(julianday(\(text("runAt"))) > julianday('now'), 'scheduled', 'available') END AS state,
            coalesce((SELECT name FROM queue WHERE queue.id = coalesce(task.queue, outcome.queue)),
              \(text("queue")), 'default') AS queue,
            coalesce(task.priority, outcome.priority, \(number("priority")), 0) AS priority,
            \(text("batch")) AS batch,
            coalesce(task.attempt, outcome.attempt, 0) AS attempt,
            coalesce(task.max_attempts, outcome.max_attempts, \(number("maxAttempts")), 5) AS max_attempts,
            coalesce((SELECT 'cameo://blob/sha256-' || digest FROM upload WHERE job_id = job.id),
              \(source)) AS source,
            \(time("created_at")) AS created_at,
            \(time("coalesce(task.due, outcome.available_at, \(dueByRequest))")) AS available_at,
            \(time("coalesce(task.attempted_at, outcome.attempted_at)")) AS attempted_at,
            \(time("outcome.finalized_at")) AS finalized_at,
            coalesce(code, json_extract(attempt.failure, '$.code')) AS failure_code,
            json_extract(coalesce(outcome.failure, attempt.failure), '$.message') AS failure_message, superseded_by,
            (SELECT json_group_array(json_object(
                'name', json_extract(wanted.value, '$.name'),
                'uri', 'cameo://thumb/' || json_extract(wanted.value, '$.id'),
                'blob', 'cameo://blob/sha256-' || thumbnail.blob,
                'width', thumbnail.width,
                'height', thumbnail.height,
                'format', thumbnail.format,
                'bytes', blob.size,
                -- json('1') would print a number; true and false must be written out.
                'hasAlpha', json(CASE thumbnail.has_alpha WHEN 1 THEN 'true' WHEN 0 THEN 'false' END),
                'frames', thumbnail.frames,
                'isAnimated', json(CASE thumbnail.frames > 1 WHEN 1 THEN 'true' WHEN 0 THEN 'false' END),
                'thumbHash', thumbnail.thumb_hash,
                'blurHash', thumbnail.blur_hash,
                'dominantColor', thumbnail.dominant_color,
                'source', json(CASE WHEN thumbnail.source_format IS NOT NULL THEN json_patch(json_object(
                  'format', thumbnail.source_format,
                  'width', thumbnail.source_width,
                  'height', thumbnail.source_height,
                  'pages', thumbnail.source_pages,
                  'hasAlpha', json(iif(thumbnail.source_has_alpha, 'true', 'false')),
                  'isAnimated', json(iif(thumbnail.source_is_animated, 'true', 'false'))),
                  iif(thumbnail.source_video IS NULL, '{}', json_object('video', json(thumbnail.source_video)))) END),
                'truncated', json(CASE thumbnail.is_truncated WHEN 1 THEN 'true' END)))
              FROM json_each(accepted.thumbnails) AS wanted
              LEFT JOIN thumbnail ON thumbnail.id = json_extract(wanted.value, '$.id')
              LEFT JOIN blob ON blob.digest = thumbnail.blob) AS thumbnails
          FROM job
            LEFT JOIN task ON task.id = job.id
            LEFT JOIN outcome ON outcome.id = job.id
            LEFT JOIN accepted ON accepted.id = job.id
            LEFT JOIN attempt ON attempt.job_id = task.id AND attempt.number = task.failed;

        -- One row for each job of each batch.
        CREATE VIEW batch_status AS
          SELECT
            batch.name AS batch, job_status.id AS id, job_status.state AS state, job_status.source AS source,
            job_status.finalized_at AS finalized_at, job_status.failure_code AS failure_code
          FROM batch JOIN batch_job ON batch_job.batch = batch.id JOIN job_status ON job_status.id = batch_job.job_id
          UNION ALL
          SELECT job_status.batch, job_status.id, job_status.state, job_status.source, job_status.finalized_at,
            job_status.failure_code
          FROM job_status
          WHERE job_status.id > (SELECT value FROM sequence WHERE name = 'accepted') AND job_status.batch IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM batch_job WHERE batch_job.job_id = job_status.id);
        """
    }

    /// The source of a request.
    private static let shownSource = shown("json_extract(request, '$.source')", ifNoneIn: ["request", "'\\u'"])

    /// A source with … in place of the user name and password of its URL; `SourceName.withoutPassword` in SQL. Where a text has
    /// no sign that the source might have one, it is shown as it is.
    private static func shown(_ source: String, ifNoneIn text: [String]) -> String {
        let signs = ["'@'", "'%40'"] + text.dropFirst()
        let count = signs.map { "instr(\(text[0]), \($0))" }.joined(separator: " + ")
        return """
            iif(\(count) = 0, \(source), (
                  SELECT CASE
                    WHEN instr(name, '://') > 0 AND instr(authority, '@') > 0
                      THEN substr(name, 1, length(name) - length(rest)) || '…' || \(fromLastSign("authority"))
                    -- A password with a slash, and no port.
                    WHEN instr(name, '://') > 0 AND instr(rest, '@') > 0 AND authority GLOB '*:*[^0-9]*'
                      AND authority NOT GLOB '[[]*'
                      THEN substr(name, 1, length(name) - length(rest)) || '…' || \(fromLastSign("rest"))
                    ELSE source END
                  FROM (
                    SELECT *, substr(rest, 1, instr(replace(replace(replace(rest, '?', '/'), '#', '/'), char(92), '/') || '/', '/')
                      - 1) AS authority
                    FROM (
                      SELECT *, substr(name, instr(name, '://') + 3) AS rest
                      FROM (
                        SELECT source, CASE WHEN source LIKE 'cameo://source/%' THEN \(decoded("substr(source, 16)"))
                          ELSE source END AS name
                        FROM (SELECT \(source) AS source))))))
            """
    }

    /// What of `rest` follows the user name and password that end with the last @ of a part at its beginning.
    private static func fromLastSign(_ part: String) -> String {
        "substr(rest, length(rtrim(\(part), replace(\(part), '@', ''))))"
    }

    /// A percent-encoded URI with the characters that separate its parts.
    private static func decoded(_ name: String) -> String {
        ["%3A:", "%3a:", "%2F/", "%2f/", "%40@", "%3F?", "%3f?", "%23#"]
            .reduce(name) { "replace(\($0), '\($1.prefix(3))', '\($1.suffix(1))')" }
    }

    /// A field of a request; NULL if it is not text.
    static func text(_ field: String) -> String {
        "iif(json_type(request, '$.\(field)') IS 'text', json_extract(request, '$.\(field)'), NULL)"
    }

    private static func number(_ field: String) -> String {
        """
        iif(json_type(request, '$.\(field)') IN ('integer', 'real'),
              CAST(json_extract(request, '$.\(field)') AS INTEGER), NULL)
        """
    }

    /// When an unaccepted job becomes due.
    static let dueByRequest = """
        max(created_at, coalesce(\(runAt), 0))
        """

    /// The request's `runAt` in milliseconds since 1970; NULL if it has none.
    static let runAt = "CAST((julianday(\(text("runAt"))) - 2440587.5) * 86400000.0 + 0.5 AS INTEGER)"

    private static func time(_ milliseconds: String) -> String {
        "strftime('%Y-%m-%dT%H:%M:%fZ', (\(milliseconds)) / 1000.0, 'unixepoch')"
    }
}
