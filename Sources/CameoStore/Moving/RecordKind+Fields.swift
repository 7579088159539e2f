extension RecordKind {
    /// The values of a record, in their order. The first ones are its key.
    package var fields: [RecordField] {
        switch self {
        case .queue, .queueCount, .key, .lane, .batch: names
        case .job, .upload, .accepted, .firstReceipt, .task: requests
        case .outcome, .attempt, .counter, .change, .batchJob, .ingredient: history
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
        case .jobHook, .source: 3
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
