// DESIGN. Engines differ in their tables, but keep the same things, and number them alike: an id of a job, queue, lane or
// batch is a number that one store issues, so an export keeps it, and whatever names it with it. A kind is named as the
// table that has it, and its fields as the columns. What follows from other records (counts of jobs, heads of lanes) is no
// field; the importing engine computes it. What belongs to one place or process is none either: workers and their claims;
// beginnings of downloads; which connection numbers the changes. `RecordKindTests` compares this list with all columns of
// both engines.

/// What a store keeps, in an order in which each record comes after those that it refers to.
package enum RecordKind: String, CaseIterable, Hashable, Sendable, Encodable {
    /// The highest numbers issued: ids of jobs and uploads, and of fetches (invariant I4). First, so that what is enqueued
    /// during an import gets others than those that come.
    case number
    case queue
    /// How often jobs of a queue have ended.
    case queueCount = "queue_count"
    case key
    case tenant
    case lane
    case batch
    case job
    case upload
    case accepted
    case firstReceipt = "first_receipt"
    case task
    case outcome
    case attempt
    case counter
    case change
    case batchJob = "batch_job"
    /// Jobs of a batch that retention has removed.
    case batchRemoved = "batch_removed"
    case ingredient
    case jobHook = "job_hook"
    case delivery
    /// Batches that are sealed, and their ends.
    case batchSeal = "batch_seal"
    case forget
    case forgotten
    /// Its bytes are beside its values.
    case blob
    case thumbnail
    case source
    case sourceFailure = "source_failure"
    case orphan
    case promise
    case label
    case thumbnailLabel = "thumbnail_label"
    case epoch
    /// Sizes of the cache that only grow.
    case total

    /// The names of the totals that are records; others follow from the rows.
    package static let totals = ["source_bytes_evicted", "sources_evicted"]
    /// The names of the numbers, in their order.
    package static let numbers = ["job", "source_seen", "upload"]

    /// The maximum number of records of a page.
    package var pageLength: Int {
        switch self {
        case .upload: 100
        case .blob: 256
        default: 2_000
        }
    }

    /// The size in bytes from which on a page gets no further record.
    package static let pageSize = 4 * 1_048_576

    /// The kinds of which a new store has no record.
    package static let ofANewStore = allCases.filter { ![.counter, .epoch, .total, .number].contains($0) }

    /// The values of a record, in their order. The first ones are its key. Statements about whole rows are made of them, and what
    /// writes or reads such a row has its values in this order.
    package var fields: [RecordField] { Self.fieldsOfAll[self] ?? [] }

    private static let fieldsOfAll = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0, $0.columns.split(separator: ",").map(RecordField.init)) }
    )

    /// How many of the first fields are its key.
    package var keyLength: Int {
        switch self {
        case .attempt, .batchJob, .ingredient, .counter, .sourceFailure, .promise, .thumbnailLabel: 2
        case .jobHook, .source, .batchRemoved: 3
        default: 1
        }
    }

    /// The names of the fields, each with its kind unless it is an integer.
    private var columns: String {
        switch self {
        case .total, .number: "name text, value"
        case .queue: "id, name text, paused truth, background truth, max_running, \(Self.rate), hook text, fair truth"
        case .queueCount: "queue, ever_completed, ever_discarded, ever_cancelled"
        case .key: "id, name text, max_running, fixed truth, \(Self.rate)"
        case .tenant: "id, name text, weight real"
        case .lane: "id, queue, key, tenant"
        case .batch: "id, name text"
        case .job: "id, request json, created_at"
        case .upload: "id, data bytes, request json, job_id, digest text, cachekey text, name text, labels json"
        case .accepted: "id, queue, key, tenant, unique_key text, thumbnails json"
        case .firstReceipt: "key text, request text, receipt json, at"
        case .task:
            """
            id, queue, key, lane, tenant, state, priority, due, rank, attempt, max_attempts, crash_count, tries, attempted_at,
            failed, refresh, unique_key text, upload, hooked truth, fetch_after
            """
        case .outcome:
            """
            id, state, queue, priority, available_at, attempt, max_attempts, crash_count, attempted_at, finalized_at,
            failure json, code text, superseded_by
            """
        case .attempt:
            """
            job_id, number, worker text, started_at, finished_at, outcome text, failure json, wait_ms, fetch_ms, queue_ms,
            render_ms, store_ms, source_bytes, output_bytes, cpu_ms
            """
        case .counter: "family text, label text, value"
        case .change: "seq, job_id, state, at"
        case .batchJob: "batch, job_id, answered text"
        case .batchRemoved: "batch, state, code text, jobs"
        case .ingredient: "name text, job_id"
        case .jobHook: "job_id, hook text, named_by"
        case .delivery:
            """
            seq, id text, job_id, hook text, state, ended_at, failure json, status, at, since, tries, failures, trouble text
            """
        case .batchSeal:
            """
            seq, id text, batch text, hook text, sealed_at, last_job, number, ended_at, report json, status, at, since, tries,
            failures, trouble text
            """
        case .blob: "digest text, size, media_type text, created_at, pinned truth"
        case .thumbnail:
            """
            id text, blob text, width, height, format text, source text, rendition json, source_digest text,
            overlay_digest text, source_seen, renderer_version text, job_id, created_at, updated_at, read_at, has_alpha truth,
            frames, thumb_hash text, blur_hash text, dominant_color text, source_format text, source_width, source_height,
            source_pages, source_has_alpha truth, source_is_animated truth, is_truncated truth, source_video json, source_size,
            taken_at text, camera text
            """
        case .source:
            """
            uri text, scope text, variant text, blob text, size, final_url text, status, fields json, hops json,
            media_type text, text_encoding text, requested_at, responded_at, fresh_until, source_seen, pinned truth,
            peers json, stored_at, last_used_at
            """
        case .sourceFailure: "uri text, scope text, failure json, since, until, source_seen, peers json"
        case .orphan: "digest text, since"
        case .promise: "job_id, thumbnail text, code text, until"
        case .forget: "id, selector json, at, seen, last_job, thumbnails, bytes, looked, done_at"
        case .forgotten: "name text, seen"
        case .label: "id, kind, name text"
        case .thumbnailLabel: "thumbnail text, label"
        case .epoch: "name text, since"
        }
    }

    private static let rate = "rate_count, rate_period, rate_spent real, opens_at"
}

/// A value of a kind of record.
package struct RecordField: Hashable, Sendable {
    package enum Kind: String, Sendable {
        case integer, real, text, bytes
        /// 0 or 1; never null.
        case truth
        /// JSON, whose text is kept as it is. Bytes that are not UTF-8 are a ``StoreValue/bytes(_:)``.
        case json
    }

    /// Engines have a column of this name.
    package let name: String
    package let kind: Kind

    /// Reads a name, and a kind if there is one.
    package init(_ column: Substring) {
        let words = column.split(whereSeparator: \.isWhitespace).map(String.init)
        (name, kind) = (words[0], words.dropFirst().first.flatMap(Kind.init) ?? .integer)
    }
}
