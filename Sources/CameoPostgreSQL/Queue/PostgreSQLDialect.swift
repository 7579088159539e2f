internal import CameoModel
package import CameoQueue
internal import CameoStore

/// How PostgreSQL says what the rules of the queue need.
package struct PostgreSQLDialect: Dialect {
    package let everyLaneHasHead = false
    package let namesIndexes = false
    package let refusalOfOtherBytes: String? = "PostgreSQL keeps UTF-8 only"
    package let changesOfAStep = 5_000

    package let insertionOfTask = TaskRow.insertion(after: Self.fetchAfter("?1", Self.lastFetch))
    package let insertionOfLane = """
        INSERT INTO lane(queue, tenant, key, used) VALUES (?1, ?2, ?3, \(Share.ofNewLane(queue: "?1", tenant: "?2")))
        ON CONFLICT DO NOTHING
        """
    package let waitingByKey = "WHERE unique_key = ?1 AND \(TaskRow.isWaiting)"
    private static let lastFetch = "(SELECT last_value - (NOT is_called)::int FROM source_seen)"
    package var lastFetch: String { Self.lastFetch }
    package let nextFetch = "SELECT nextval('source_seen')"
    package let jobs = "job_request AS job"
    package let arriving = "arriving"
    package let arrivedJobs = "(SELECT job.* FROM arrival JOIN job_request AS job ON job.id = arrival.id) AS job"
    package let arrivals = "arrival JOIN job_status USING (id) JOIN job_request AS job USING (id)"
    package let dueByRequest = "greatest(job.created_at, time_field(job.request, 'runAt'))"
    // The function bears what no text can hold, and is slow.
    package let source = """
        CASE WHEN strpos(job.request::text, '\\u0000') = 0 THEN job.request ->> 'source'
          ELSE field(job.request, 'source') END
        """
    package let requestBytes = "convert_to(request::text, 'UTF8')"
    package let lengthOfData = "octet_length(data)"
    package func field(_ name: String) -> String { "field(job.request, '\(name)')" }
    package func hasLabel(_ place: String) -> String {
        """
        CASE WHEN strpos(job.request::text, '\\u0000') > 0 THEN false
          WHEN json_typeof(job.request -> 'labels') = 'array' THEN \(place)::text = ANY (
            ARRAY(SELECT json_array_elements_text(job.request -> 'labels'))) ELSE false END
        """
    }
    package func number(_ name: String) -> String { "number_field(job.request, '\(name)')" }
    package let earlierAttempts = "earlier_attempt"
    package let stagesOfLatest = """
        SELECT greatest(0, ended.attempted_at - ended.available_at) AS wait, attempt.*
        FROM (SELECT * FROM outcome WHERE state = \(JobState.completed.code) ORDER BY finalized_at DESC LIMIT ?1) AS ended
          CROSS JOIN LATERAL (
            SELECT ended.fetch_ms, ended.queue_ms, ended.render_ms, ended.store_ms WHERE ended.number IS NOT NULL
            UNION ALL
            -- Of a job that came from another store.
            SELECT fetch_ms, queue_ms, render_ms, store_ms FROM earlier_attempt
            WHERE ended.number IS NULL AND job_id = ended.id AND started_at = ended.attempted_at) AS attempt
        """
    package let isEmptyQueue = """
        NOT EXISTS (SELECT 1 FROM accepted WHERE accepted.queue = queue.id)
          AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.queue = queue.id)
        """
    package let isFullQueue = """
        max_running <= (SELECT count(*) FROM task AS other WHERE other.queue = queue.id AND other.\(TaskRow.isRunning))
        """
    package let runningOfKey =
        "(SELECT count(*) FROM task WHERE task.key = key.id AND key <> 0 AND \(TaskRow.isRunning))"
    package let queuesOfWorker = "array_to_json(queues)"
    package func takesQueue(_ name: String) -> String { "\(name) = ANY(queues)" }

    package let totals = "total_now"
    package let additionToTotal = "INSERT INTO total_delta VALUES (?1, ?2)"
    package let queueCounts = "queue_total"
    package let changeNumber = "last"
    package let lastChange = "SELECT last FROM feed"
    package let changesAfter = "changes_since(?1, ?2)"
    package let sampleOfChanges = """
        SELECT state, sum(least(greatest(gap, 0), ?4))::bigint AS worked, max(at) AS latest,
          -- Not the requests that needed no job.
          count(*) FILTER (WHERE NOT EXISTS (
            SELECT 1 FROM outcome WHERE id = job_id AND attempted_at IS NULL AND failure IS NULL)) AS jobs
        FROM (
          SELECT state, job_id, at, at - lag(at, 1, at) OVER (ORDER BY seq) AS gap
          FROM generate_series(0, ?1::bigint - 1) AS n,
            LATERAL (SELECT ?2::bigint + trunc(
              (n + (n * 2654435761 % 4294967296) / 4294967296.0) * ?3::bigint / ?1)::bigint AS seq) AS pick,
            LATERAL (
              SELECT jobs[place] AS job_id, states[place] AS state, at
              FROM (SELECT *, seq - last + cardinality(jobs) AS place FROM change WHERE last >= seq ORDER BY last LIMIT 1)
                AS changes WHERE place > 0) AS change) AS changes
        GROUP BY state
        """

    package func key(_ column: String) -> String { "text_digest(\(column))" }
    package func isText(_ column: String, _ place: String) -> String {
        "text_digest(\(column)) = text_digest(\(place)::text) AND \(column) = \(place)"
    }
    package let knownSource = "known_source(?1) WHERE scope = ?2"
    package let thumbnailOfSource = "left(source, 512) = left(?1::text, 512) AND source = ?1"
    package let orderOfSources = "left(source, 512), source"
    package let rangeOfSources =
        "left(source, 512) >= left(?1::text, 512) AND left(source, 512) <= left(?2::text, 512) AND"
    package let askedThumbnails = """
        SELECT DISTINCT accepted.id AS job, item ->> 'id' AS thumbnail
        FROM accepted CROSS JOIN json_array_elements(accepted.thumbnails) AS item
        """
    package let searchedSource = "left(thumbnail.shown_source, 512) COLLATE \"C\""
    package let wholeSource = "shown_source"
    package func beginning(of place: String) -> String { "left(\(place)::text, 512)" }
    package func searched(_ source: String) -> String { SourceName.withoutPassword(source) }
    package func isSourceFailure(_ selected: String) -> String { "ctid = ANY (ARRAY(SELECT ctid \(selected)))" }
    package func json(of table: String, _ columns: [String]) -> String { "row_to_json(\(table))::text" }
    package func row(of table: String, _ columns: [String]) -> String {
        "\(columns.joined(separator: ", ")) FROM json_populate_record(NULL::\(table), ?1::json)"
    }

    package let no = "false"
    package func text(_ column: String) -> String { "\(column)::text" }
    package func json(_ place: String) -> String { "\(place)::json" }
    package func elements(_ place: String, _ list: SQLList) -> String {
        "unnest(\(place)::\(Self.type(of: list))) AS asked(id)"
    }
    package func isIn(_ place: String, _ list: SQLList) -> String { "= ANY(\(place)::\(Self.type(of: list)))" }
    private static func type(of list: SQLList) -> String { list == .integers ? "bigint[]" : "text[]" }
    package func lines(_ column: String, by order: String) -> String {
        "string_agg(\(column), chr(10) ORDER BY \(order))"
    }
    package let bytes = "bytea"
    package func idsOfAccepted(_ job: String) -> String {
        """
        (SELECT string_agg(item ->> 'id', '') FROM accepted CROSS JOIN json_array_elements(accepted.thumbnails) AS item
          WHERE accepted.id = \(job))
        """
    }
    package let messageOfOutcome = "failure ->> 'message'"
    package let locking = "FOR UPDATE"
    package let skippingLocked = "FOR UPDATE SKIP LOCKED"
}

/// The words of PostgreSQL in scripts that both engines have alike but for them.
struct PostgreSQLWords: SchemaWords {
    let big = "bigint"
    let whole = "integer"
    let small = "smallint"
    let number = "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    let name = "text COLLATE \"C\""
    let prose = "text"
    let json = "json"
    let strict = ""
    let byKey = ""
    let manyUpdates = " WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)"
    let now = "now_ms()"
    let latest = "greatest"
    let fresh = "replace(gen_random_uuid()::text, '-', '')"
    let computed = "STORED"
    let isUnpinned = "NOT pinned"
    let no = "false"
    let isColor = "dominant_color ~ '^#[0-9a-f]{6}$'"
    let hasPeers = """

            CASE WHEN json_typeof(peers) = 'array' THEN pinned OR json_array_length(peers) > 0 ELSE false END
        """
    let sourceOfThumbnail = """
        -- By its beginning where a source is too long for an index entry.
        CREATE INDEX thumbnail_source ON thumbnail(left(source, 512));
        """
    let keyOfSource = """

        );
        -- An index entry holds less than 2.7 kB, so that the texts, which may be longer, go in by their digests.
        CREATE UNIQUE INDEX source_key ON source(text_digest(uri), scope,
          text_digest(variant))
        """
    let keyOfFailure =
        "\n);\nCREATE UNIQUE INDEX source_failure_key ON source_failure(text_digest(uri), scope)"

    func truth(_ column: String, orElse: String) -> String { "\(column) boolean NOT NULL\(orElse)" }
    func neededJSON(_ column: String) -> String { "\(column) json NOT NULL" }
    func optionalJSON(_ column: String) -> String { "\(column) json" }
    func isArray(_ column: String) -> String { "json_typeof(\(column)) = 'array'" }
    func isTrue(_ text: String) -> String { "coalesce(\(text), '') = 'true'" }
    func isSource(_ value: String) -> String { "left(source, 512) = left(\(value), 512) AND source = \(value)" }
    func isKey(_ column: String, _ value: String) -> String {
        "text_digest(\(column)) = text_digest(\(value)) AND \(column) = \(value)"
    }
    func begins(_ column: String, _ value: String) -> String {
        "\(column) >= \(value) AND \(column) < \(value) || chr(1114111)"
    }
    func sourceBegins(_ value: String) -> String {
        """
        left(source, 512) >= left(\(value), 512) AND left(source, 512) <= left(\(value) || chr(1114111), 512)
            AND \(begins("source", value))
        """
    }
    let sourceOfJob = PostgreSQLDialect().source
    func tail(_ text: String) -> String { "right(\(text), \(TaskRow.tailLength))" }
    let item = (list: "json_array_elements(accepted.thumbnails) AS item", id: "item ->> 'id'")
    func lockingForgotten(_ names: String) -> [String] {
        [
            """
            PERFORM 1 FROM task WHERE id IN (SELECT job_id FROM promise WHERE thumbnail IN \(names)) ORDER BY id FOR UPDATE
            """,
            "PERFORM 1 FROM thumbnail WHERE id IN \(names) ORDER BY id FOR UPDATE",
        ]
    }

    let rowOfSource = "entry"
    let joinsInViews = true
    let indexedSource = "text_digest(source)"
    func length(_ text: String) -> String { "octet_length(\(text))" }
    func hex(_ text: String) -> String { "encode(convert_to(\(text), 'UTF8'), 'hex')" }
    func isLabel(_ text: String) -> String { "\(text) ~ '^[a-z0-9._-]{1,64}$'" }
    func hasControl(_ text: String) -> String { "(\(text) ~ '[\\u0001-\\u001f\\u007f]')" }
    func encodedPath(_ text: String) -> String { "encoded_path(\(text))" }
}
