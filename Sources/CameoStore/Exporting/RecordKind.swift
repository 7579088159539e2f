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
    /// Its bytes are beside its values.
    case blob
    case thumbnail
    case source
    case sourceFailure = "source_failure"
    case orphan
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
}

extension RecordKind {
    /// The kinds of which a new store has no record.
    package static let ofANewStore = allCases.filter { ![.counter, .epoch, .total, .number].contains($0) }
}

extension RecordKind {
    /// The values of a record, in their order. The first ones are its key.
    package var fields: [RecordField] {
        switch self {
        case .queue, .queueCount, .key, .lane, .batch: names
        case .job, .upload, .accepted, .firstReceipt, .task: requests
        case .outcome, .attempt, .counter, .change, .batchJob, .batchRemoved, .ingredient: history
        case .jobHook, .delivery: hooks
        case .blob, .thumbnail, .source, .sourceFailure, .orphan: pictures
        case .epoch: [.text("name"), .integer("since")]
        case .total, .number: [.text("name"), .integer("value")]
        }
    }

    /// How many of the first fields are its key.
    package var keyLength: Int {
        switch self {
        case .attempt, .batchJob, .ingredient, .counter, .sourceFailure: 2
        case .jobHook, .source, .batchRemoved: 3
        default: 1
        }
    }

    private var names: [RecordField] {
        switch self {
        case .queue:
            [.integer("id"), .text("name"), .truth("paused"), .truth("background"), .integer("max_running")] + rate
                + [.text("hook")]
        case .queueCount:
            [.integer("queue")] + ["completed", "discarded", "cancelled"].map { .integer("ever_\($0)") }
        case .key: [.integer("id"), .text("name"), .integer("max_running"), .truth("fixed")] + rate
        case .lane: [.integer("id"), .integer("queue"), .integer("key")]
        default: [.integer("id"), .text("name")]
        }
    }

    private var rate: [RecordField] {
        [.integer("rate_count"), .integer("rate_period"), .real("rate_spent"), .integer("opens_at")]
    }

    private var requests: [RecordField] {
        switch self {
        case .job: [.integer("id"), .json("request"), .integer("created_at")]
        case .upload: [.integer("id"), .bytes("data"), .json("request"), .integer("job_id"), .text("digest")]
        case .accepted:
            [.integer("id"), .integer("queue"), .integer("key"), .text("unique_key"), .json("thumbnails")]
        case .firstReceipt: [.text("key"), .text("request"), .json("receipt"), .integer("at")]
        default:
            [
                "id", "queue", "key", "lane", "state", "priority", "due", "rank", "attempt", "max_attempts",
                "crash_count",
            ]
            .map { .integer($0) } + ["tries", "attempted_at", "failed", "refresh"].map { .integer($0) } + [
                .text("unique_key"), .integer("upload"), .truth("hooked"), .integer("fetch_after"),
            ]
        }
    }

    private var history: [RecordField] {
        switch self {
        case .outcome:
            ["id", "state", "queue", "priority", "available_at", "attempt", "max_attempts", "crash_count"]
                .map { .integer($0) } + [
                    .integer("attempted_at"), .integer("finalized_at"), .json("failure"), .text("code"),
                    .integer("superseded_by"),
                ]
        case .attempt:
            [
                .integer("job_id"), .integer("number"), .text("worker"), .integer("started_at"),
                .integer("finished_at"),
                .text("outcome"), .json("failure"),
            ] + ["wait_ms", "fetch_ms", "queue_ms", "render_ms", "store_ms"].map { .integer($0) } + [
                .integer("source_bytes"), .integer("output_bytes"),
            ]
        case .counter: [.text("family"), .text("label"), .integer("value")]
        case .change: [.integer("seq"), .integer("job_id"), .integer("state"), .integer("at")]
        case .batchJob: [.integer("batch"), .integer("job_id"), .text("answered")]
        case .batchRemoved: [.integer("batch"), .integer("state"), .text("code"), .integer("jobs")]
        default: [.text("name"), .integer("job_id")]
        }
    }

    private var hooks: [RecordField] {
        switch self {
        case .jobHook: [.integer("job_id"), .text("hook"), .integer("named_by")]
        default:
            [
                .integer("seq"), .text("id"), .integer("job_id"), .text("hook"), .integer("state"),
                .integer("ended_at"),
                .json("failure"),
            ] + ["status", "at", "since", "tries", "failures"].map { .integer($0) } + [.text("trouble")]
        }
    }

    private var pictures: [RecordField] {
        switch self {
        case .blob:
            [.text("digest"), .integer("size"), .text("media_type"), .integer("created_at"), .truth("pinned")]
        case .thumbnail:
            [
                .text("id"), .text("blob"), .integer("width"), .integer("height"), .text("format"), .text("source"),
                .json("rendition"), .text("source_digest"), .text("overlay_digest"), .integer("source_seen"),
                .text("renderer_version"), .integer("job_id"), .integer("created_at"), .integer("updated_at"),
                .integer("read_at"), .truth("has_alpha"), .integer("frames"), .text("thumb_hash"), .text("blur_hash"),
                .text("dominant_color"), .text("source_format"), .integer("source_width"), .integer("source_height"),
                .integer("source_pages"), .truth("source_has_alpha"), .truth("source_is_animated"),
                .truth("is_truncated"), .json("source_video"),
            ]
        case .source:
            [
                .text("uri"), .text("scope"), .text("variant"), .text("blob"), .integer("size"), .text("final_url"),
                .integer("status"), .json("fields"), .json("hops"), .text("media_type"), .text("text_encoding"),
                .integer("requested_at"), .integer("responded_at"), .integer("fresh_until"), .integer("source_seen"),
                .truth("pinned"), .json("peers"), .integer("stored_at"), .integer("last_used_at"),
            ]
        case .sourceFailure:
            [
                .text("uri"), .text("scope"), .json("failure"), .integer("since"), .integer("until"),
                .integer("source_seen"), .json("peers"),
            ]
        default: [.text("digest"), .integer("since")]
        }
    }
}

/// A value of a kind of record.
package struct RecordField: Hashable, Sendable {
    package enum Kind: Sendable {
        case integer, real, text, bytes
        /// 0 or 1; never null.
        case truth
        /// JSON, whose text is kept as it is. Bytes that are not UTF-8 are a ``StoreValue/bytes(_:)``.
        case json
    }

    /// Engines have a column of this name.
    package let name: String
    package let kind: Kind

    static func integer(_ name: String) -> RecordField { RecordField(name: name, kind: .integer) }
    static func real(_ name: String) -> RecordField { RecordField(name: name, kind: .real) }
    static func text(_ name: String) -> RecordField { RecordField(name: name, kind: .text) }
    static func bytes(_ name: String) -> RecordField { RecordField(name: name, kind: .bytes) }
    static func truth(_ name: String) -> RecordField { RecordField(name: name, kind: .truth) }
    static func json(_ name: String) -> RecordField { RecordField(name: name, kind: .json) }
}
