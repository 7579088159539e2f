internal import CameoModel
package import CameoQueue
internal import CameoStore

/// How SQLite says what the rules of the queue need.
package struct SQLiteDialect: Dialect {
    package let everyLaneHasHead = true
    package let namesIndexes = true
    package let refusalOfOtherBytes: String? = nil
    package let changesOfAStep = 1_000

    package let insertionOfTask = TaskRow.insertion(after: Self.fetchAfter("?1", Self.lastFetch))
    package let insertionOfLane = """
        INSERT INTO lane(queue, tenant, key, shut, used) VALUES (?1, ?2, ?3, coalesce(
          (SELECT running >= max_running OR opens_at <> 0 FROM key WHERE id = ?3), 0),
          \(Share.ofNewLane(queue: "?1", tenant: "?2")))
        """
    package let waitingByKey = "INDEXED BY task_unique WHERE unique_key = ?1 AND \(TaskRow.isWaiting)"
    private static let lastFetch = "(SELECT value FROM sequence WHERE name = 'source_seen')"
    package var lastFetch: String { Self.lastFetch }
    package let nextFetch = "UPDATE sequence SET value = value + 1 WHERE name = 'source_seen' RETURNING value"
    package let jobs = "job"
    package let arriving = "NULL"
    package let arrivedJobs = "(SELECT job.* FROM job WHERE \(SQLiteStore.waitsForAcceptance)) AS job"
    package let arrivals = "job_status JOIN job ON job.id = job_status.id AND \(SQLiteStore.waitsForAcceptance)"
    package let dueByRequest = """
        max(job.created_at, coalesce(
          CAST((julianday(\(Self.field("runAt", "'text'"))) - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), 0))
        """
    package let source = Self.field("source", "'text'")
    package let requestBytes = "CAST(request AS BLOB)"
    package let lengthOfData = "length(data)"
    package func field(_ name: String) -> String { Self.field(name, "'text'") }
    package func hasLabel(_ place: String) -> String {
        """
        iif(json_valid(job.request) AND json_type(job.request, '$.labels') = 'array',
              EXISTS (SELECT 1 FROM json_each(job.request, '$.labels') WHERE value = \(place)), 0)
        """
    }
    package func number(_ name: String) -> String { "CAST(\(Self.field(name, "'integer', 'real'")) AS INTEGER)" }
    /// A field of a request; NULL unless it is of a type, as in a request that is no JSON, which a damaged page or a program
    /// without checks can leave.
    private static func field(_ name: String, _ types: String) -> String {
        """
        iif(json_valid(job.request) AND json_type(job.request, '$.\(name)') IN (\(types)),
              json_extract(job.request, '$.\(name)'), NULL)
        """
    }
    package let earlierAttempts = "attempt"
    package let stagesOfLatest = """
        SELECT max(0, ended.attempted_at - ended.available_at) AS wait, fetch_ms, queue_ms, render_ms, store_ms
        FROM (SELECT id, attempted_at, available_at FROM outcome INDEXED BY outcome_end
            WHERE state = \(JobState.completed.code) ORDER BY finalized_at DESC LIMIT ?1) AS ended
          JOIN attempt ON attempt.job_id = ended.id AND attempt.started_at = ended.attempted_at
        """
    package let isEmptyQueue = """
        EXISTS (SELECT 1 FROM queue_count WHERE queue = queue.id
          AND scheduled + available + running + retryable + completed + discarded + cancelled = 0)
        """
    package let isFullQueue = "full = 1"
    package let runningOfKey = "running"
    package let queuesOfWorker = "queues"
    package func takesQueue(_ name: String) -> String {
        "EXISTS (SELECT 1 FROM json_each(queues) WHERE value = \(name))"
    }

    package let totals = "total"
    package let additionToTotal = "UPDATE total SET value = value + ?2 WHERE name = ?1"
    package let queueCounts = "queue_count"
    package let changeNumber = "seq"
    package let lastChange = "SELECT max(seq) FROM change"
    package let changesAfter = "(SELECT * FROM change WHERE seq > ?1 ORDER BY seq LIMIT ?2)"
    package let sampleOfChanges = """
        WITH RECURSIVE pick(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM pick WHERE n + 1 < ?1)
        SELECT state, sum(min(max(gap, 0), ?4)) AS worked, max(at) AS latest,
          -- Not the requests that needed no job.
          count(CASE WHEN NOT EXISTS (SELECT 1 FROM outcome
            WHERE id = job_id AND attempted_at IS NULL AND failure IS NULL) THEN 1 END) AS jobs
        FROM (
          SELECT state, job_id, at, at - lag(at, 1, at) OVER (ORDER BY seq) AS gap
          FROM pick JOIN change ON seq = ?2 + CAST(
            (n + (n * 2654435761 % 4294967296) / 4294967296.0) * ?3 / ?1 AS INTEGER))
        GROUP BY state
        """

    package func key(_ column: String) -> String { column }
    package func isText(_ column: String, _ place: String) -> String { "\(column) = \(place)" }
    package var knownSource: String { "source WHERE \(sourceOfKey)" }
    package let thumbnailOfSource = "source = ?1"
    package let orderOfSources = "source"
    package let rangeOfSources = ""
    package let searchedSource = "thumbnail.source"
    package let wholeSource = "source"
    package func beginning(of place: String) -> String { place }
    package func searched(_ source: String) -> String { source }
    package func isSourceFailure(_ selected: String) -> String { "(uri, scope) IN (SELECT uri, scope \(selected))" }
    package func json(of table: String, _ columns: [String]) -> String {
        "json_object(\(columns.map { "'\($0)', \($0.quotedName)" }.joined(separator: ", ")))"
    }
    package func row(of table: String, _ columns: [String]) -> String {
        "\(columns.map { "?1 ->> '\($0)'" }.joined(separator: ", ")) WHERE true"
    }

    package let askedThumbnails = """
        SELECT DISTINCT accepted.id AS job, item.value ->> 'id' AS thumbnail
        FROM accepted CROSS JOIN json_each(accepted.thumbnails) AS item
        """
    package let no = "0"
    package func text(_ column: String) -> String { column }
    package func json(_ place: String) -> String { place }
    package func elements(_ place: String, _ list: SQLList) -> String {
        "(SELECT value AS id FROM json_each(\(place)))"
    }
    package func isIn(_ place: String, _ list: SQLList) -> String { "IN (SELECT value FROM json_each(\(place)))" }
    /// In the order of the rows.
    package func lines(_ column: String, by order: String) -> String { "group_concat(\(column), char(10))" }
    package let bytes = "BLOB"
    package func idsOfAccepted(_ job: String) -> String {
        """
        (SELECT group_concat(item.value ->> 'id', '') FROM accepted CROSS JOIN json_each(accepted.thumbnails) AS item
          WHERE accepted.id = \(job))
        """
    }
    package let messageOfOutcome = "failure ->> 'message'"
    package let locking = ""
    package let skippingLocked = ""
}

/// The words of SQLite in scripts that both engines have alike but for them.
struct SQLiteWords: SchemaWords {
    let big = "INTEGER"
    let whole = "INTEGER"
    let small = "INTEGER"
    let number = "INTEGER PRIMARY KEY"
    let name = "TEXT"
    let prose = "TEXT"
    let json = "TEXT"
    let strict = " STRICT"
    let byKey = " STRICT, WITHOUT ROWID"
    let manyUpdates = " STRICT"
    let now = "CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER)"
    let latest = "max"
    let fresh = "(lower(hex(randomblob(16))))"
    let computed = "VIRTUAL"
    let isUnpinned = "pinned = 0"
    let no = "0"
    let isColor = """

            length(dominant_color) = 7 AND dominant_color GLOB '#\(String(repeating: "[0-9a-f]", count: 6))'
        """
    let hasPeers = "json_type(peers) IS 'array' AND (pinned = 1 OR json_array_length(peers) > 0)"
    let sourceOfThumbnail = "CREATE INDEX thumbnail_source ON thumbnail(source);"
    let keyOfSource = ",\n  PRIMARY KEY (uri, scope, variant)\n) STRICT"
    let keyOfFailure = ",\n  PRIMARY KEY (uri, scope)\n) STRICT, WITHOUT ROWID"

    func truth(_ column: String, orElse: String) -> String {
        "\(column) INTEGER NOT NULL\(orElse) CHECK (\(column) IN (0, 1))"
    }
    func neededJSON(_ column: String) -> String { "\(column) TEXT NOT NULL CHECK (json_valid(\(column)))" }
    func optionalJSON(_ column: String) -> String {
        "\(column) TEXT CHECK (\(column) IS NULL OR json_valid(\(column)))"
    }
    func isArray(_ column: String) -> String { "json_type(\(column)) IS 'array'" }
    func isTrue(_ text: String) -> String { "coalesce(\(text), 0) = 1" }
    func isSource(_ value: String) -> String { isKey("source", value) }
    func isKey(_ column: String, _ value: String) -> String { "\(column) = \(value)" }
    func begins(_ column: String, _ value: String) -> String {
        "\(column) >= \(value) AND \(column) < \(value) || char(1114111)"
    }
    func sourceBegins(_ value: String) -> String { begins("source", value) }
    let sourceOfJob = SQLiteDialect().source
    func tail(_ text: String) -> String { "substr(\(text), -\(TaskRow.tailLength))" }
    let item = (list: "json_each(accepted.thumbnails) AS item", id: "item.value ->> 'id'")
    func lockingForgotten(_ names: String) -> [String] { [] }

    let rowOfSource = "(uri, scope, variant)"
    let joinsInViews = false
    let indexedSource = "source"
    func length(_ text: String) -> String { "length(CAST(\(text) AS BLOB))" }
    func hex(_ text: String) -> String { "lower(hex(\(text)))" }
    func isLabel(_ text: String) -> String { "length(\(text)) BETWEEN 1 AND 64 AND \(text) NOT GLOB '*[^a-z0-9._-]*'" }
    func hasControl(_ text: String) -> String {
        "(\(text) GLOB '*[' || char(1) || '-' || char(31) || char(127) || ']*' OR instr(\(text), char(0)) > 0)"
    }
    func encodedPath(_ text: String) -> String {
        let (digits, unreserved) = ("'0123456789ABCDEF'", "A-Za-z0-9._~/-")
        let byte = ["n", "n + 1"].map { "(instr(\(digits), substr(hex, \($0), 1)) - 1)" }
        let character = "char(\(byte[0]) * 16 + \(byte[1]))"
        return """
            CASE WHEN \(text) NOT GLOB '*[^\(unreserved)]*' THEN \(text) ELSE (
              WITH RECURSIVE byte(n, hex) AS (
                SELECT 1, hex(\(text)) UNION ALL SELECT n + 2, hex FROM byte WHERE n + 2 < length(hex))
              SELECT group_concat(CASE WHEN \(character) GLOB '[\(unreserved)]' THEN \(character) ELSE '%' || substr(hex, n, 2) END, '')
              FROM byte) END
            """
    }
}
