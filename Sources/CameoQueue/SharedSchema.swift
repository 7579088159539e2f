internal import CameoModel
internal import CameoStore

/// The words of a database in tables that both engines have alike but for them.
package protocol SchemaWords: Sendable {
    /// Types: of numbers by their size; of one that a table gives its rows; of text that is compared byte by byte, and of other
    /// text; of JSON.
    var big: String { get }
    var whole: String { get }
    var small: String { get }
    var number: String { get }
    var name: String { get }
    var prose: String { get }
    var json: String { get }
    /// What follows the columns of a table, of one whose rows lie in the index of their key, and of one of many updates.
    var strict: String { get }
    var byKey: String { get }
    var manyUpdates: String { get }
    /// The time; the larger of two numbers; a random name; how a computed column is kept; false.
    var now: String { get }
    var latest: String { get }
    var fresh: String { get }
    var computed: String { get }
    var no: String { get }
    /// What ends the tables of sources, with their keys, and the index of thumbnails by source.
    var keyOfSource: String { get }
    var keyOfFailure: String { get }
    var sourceOfThumbnail: String { get }
    var isUnpinned: String { get }
    var isColor: String { get }
    var hasPeers: String { get }
    func isArray(_ column: String) -> String
    func truth(_ column: String, orElse: String) -> String
    func neededJSON(_ column: String) -> String
    func optionalJSON(_ column: String) -> String
    /// Whether text is what JSON says for true; the condition that the source of a thumbnail, or a URI in the key of another table,
    /// is a value, and that text begins with one; the source of a row of `job`.
    func isTrue(_ text: String) -> String
    func isSource(_ value: String) -> String
    func isKey(_ column: String, _ value: String) -> String
    func begins(_ column: String, _ value: String) -> String
    func sourceBegins(_ value: String) -> String
    var sourceOfJob: String { get }
    /// The last characters of text, as many as a task has of its source.
    func tail(_ text: String) -> String
    /// What an index has of `attached.source`; the number of bytes of text; its bytes in hexadecimal digits; whether it has a control
    /// character; a path, percent-encoded.
    var indexedSource: String { get }
    func length(_ text: String) -> String
    func hex(_ text: String) -> String
    func hasControl(_ text: String) -> String
    /// Whether text is a name of a queue or hook.
    func isLabel(_ text: String) -> String
    func encodedPath(_ text: String) -> String
    /// What tells the rows of `source` apart.
    var rowOfSource: String { get }
    /// Whether views join the tables that they show.
    var joinsInViews: Bool { get }
    /// The elements of `accepted.thumbnails`, and the thumbnail of one.
    var item: (list: String, id: String) { get }
    /// What keeps the jobs that make thumbnails, of the names that are selected, from ending before the transaction does, and
    /// locks these.
    func lockingForgotten(_ names: String) -> [String]
}

extension SchemaWords {
    /// Thumbnails, the cache of sources, and the blobs that lost a reference.
    package var pictureTables: String {
        """
        CREATE TABLE thumbnail(
          id \(name) PRIMARY KEY CHECK (length(id) = 32),
          blob \(name) NOT NULL REFERENCES blob(digest),
          width \(whole) NOT NULL CHECK (width > 0),
          height \(whole) NOT NULL CHECK (height > 0),
          format \(prose) NOT NULL,
          source \(name) NOT NULL,
          \(neededJSON("rendition")),
          source_digest \(name) NOT NULL,
          -- SHA-256 of the overlay's bytes, if the rendition has one.
          overlay_digest \(name) CHECK (length(overlay_digest) = 64),
          source_seen \(big) NOT NULL,
          renderer_version \(prose) NOT NULL,
          job_id \(big) NOT NULL,
          created_at \(big) NOT NULL,
          updated_at \(big) NOT NULL,
          -- Recorded to the hour only; 0: not read since recording began.
          read_at \(big) NOT NULL DEFAULT 0,
          -- When it was last read or made.
          used_at \(big) GENERATED ALWAYS AS (\(latest)(read_at, updated_at)) \(computed),
          \(truth("has_alpha", orElse: "")),
          frames \(whole) NOT NULL CHECK (frames >= 1),
          -- Base64 of at most 25 bytes.
          thumb_hash \(prose) NOT NULL CHECK (length(thumb_hash) BETWEEN 4 AND 64),
          blur_hash \(prose) NOT NULL CHECK (length(blur_hash) BETWEEN 6 AND 128),
          dominant_color \(prose) NOT NULL CHECK (\(isColor)),
          source_format \(prose) NOT NULL CHECK (length(source_format) > 0),
          source_width \(whole) NOT NULL CHECK (source_width > 0),
          source_height \(whole) NOT NULL CHECK (source_height > 0),
          source_pages \(whole) NOT NULL CHECK (source_pages >= 1),
          \(truth("source_has_alpha", orElse: "")),
          -- Derived from format and pages; stored for the view.
          \(truth("source_is_animated", orElse: "")),
          \(truth("is_truncated", orElse: "")),
          -- What is known of a video beyond the size of its frames; NULL for pictures.
          \(optionalJSON("source_video"))
        )\(byKey);
        CREATE INDEX thumbnail_blob ON thumbnail(blob);
        \(sourceOfThumbnail)
        CREATE INDEX thumbnail_use ON thumbnail(used_at);

        -- When the recording of something began. Until then any thumbnail may have been read; one row says so for all
        -- of them.
        CREATE TABLE epoch(name \(prose) PRIMARY KEY, since \(big) NOT NULL)\(byKey);
        INSERT INTO epoch VALUES ('readings', \(now));

        -- One answer of a source's server, whose bytes are a blob; or bytes that a program uploaded under a key.
        CREATE TABLE source(
          uri \(name) NOT NULL CHECK (uri <> ''),
          -- A digest of the request's credentials; empty if there are none.
          scope \(name) NOT NULL,
          -- The request's values that the answer depends on (Vary); empty if there are none.
          variant \(name) NOT NULL,
          blob \(name) NOT NULL REFERENCES blob(digest),
          size \(big) NOT NULL CHECK (size >= 0),
          final_url \(prose) NOT NULL,
          status \(whole) NOT NULL CHECK (status BETWEEN 200 AND 599),
          fields \(json) NOT NULL CHECK (\(isArray("fields"))),
          hops \(json) NOT NULL CHECK (\(isArray("hops"))),
          media_type \(prose),
          text_encoding \(prose),
          requested_at \(big) NOT NULL,
          responded_at \(big) NOT NULL,
          fresh_until \(big) NOT NULL,
          source_seen \(big) NOT NULL,
          \(truth("pinned", orElse: " DEFAULT \(no)")),
          -- The servers that the bytes came from; a worker checks them against its own address guard.
          peers \(json) NOT NULL CHECK (\(hasPeers)),
          stored_at \(big) NOT NULL,
          last_used_at \(big) NOT NULL\(keyOfSource);
        CREATE INDEX source_blob ON source(blob);
        CREATE INDEX source_use ON source(last_used_at) WHERE \(isUnpinned);

        CREATE TABLE source_failure(
          uri \(name) NOT NULL,
          scope \(name) NOT NULL,
          \(neededJSON("failure")),
          since \(big) NOT NULL,
          until \(big) NOT NULL,
          source_seen \(big) NOT NULL,
          peers \(json) NOT NULL CHECK (\(isArray("peers")))\(keyOfFailure);
        CREATE INDEX source_failure_end ON source_failure(until);

        -- Blobs that lost a reference, and when; they may have others.
        CREATE TABLE orphan(digest \(name) PRIMARY KEY, since \(big) NOT NULL)\(byKey);
        CREATE INDEX orphan_since ON orphan(since);
        """
    }

    /// The batches of jobs, and what jobs need.
    package var batchTables: String {
        """
        CREATE TABLE batch(
          id \(number),
          name \(name) NOT NULL UNIQUE
        )\(strict);
        -- A job belongs to the batch of its request and to those of requests that joined it.
        CREATE TABLE batch_job(
          batch \(big) NOT NULL REFERENCES batch(id),
          job_id \(big) NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          -- The unique key of a request that needed no job.
          answered \(name),
          PRIMARY KEY (batch, job_id)
        )\(byKey);
        CREATE INDEX batch_job_id ON batch_job(job_id);
        CREATE INDEX batch_job_answered ON batch_job(batch, answered) WHERE answered IS NOT NULL;

        -- The stored inputs of a job (source and overlays): thumbnails by id, blobs by digest.
        CREATE TABLE ingredient(
          name \(name) NOT NULL,
          job_id \(big) NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          PRIMARY KEY (name, job_id)
        )\(byKey);
        CREATE INDEX ingredient_job ON ingredient(job_id);
        """
    }

    /// Version 5. How many ended jobs of a batch retention has removed, so that its counts outlive them; `code` is that of
    /// a failure, or empty.
    package var removedJobs: String {
        """
        CREATE TABLE batch_removed(
          batch \(big) NOT NULL REFERENCES batch(id) ON DELETE CASCADE,
          state \(big) NOT NULL,
          code \(name) NOT NULL,
          jobs \(big) NOT NULL,
          PRIMARY KEY (batch, state, code)
        )\(byKey);
        """
    }

    // DESIGN. Jobs are pruned, and thumbnails stay. What is asked of a thumbnail whatever became of its job stands beside it:
    // which jobs promise it, and the labels of the requests that named it.

    /// Promises and labels.
    package var libraryTables: String {
        """
        -- The thumbnails that a job will make. Without a code the job has not ended; with one, it has ended without them.
        CREATE TABLE promise(
          job_id \(big) NOT NULL,
          thumbnail \(name) NOT NULL,
          code \(prose),
          -- When this is forgotten; NULL: not before the job ends.
          until \(big) CHECK ((until IS NULL) = (code IS NULL)),
          PRIMARY KEY (job_id, thumbnail)
        )\(byKey);
        CREATE INDEX promise_thumbnail ON promise(thumbnail);
        CREATE INDEX promise_end ON promise(until) WHERE until IS NOT NULL;

        -- What thumbnails are found by.
        CREATE TABLE label(
          id \(number),
          -- 0: a label of requests, 1: a batch.
          kind \(small) NOT NULL CHECK (kind IN (0, 1)),
          name \(name) NOT NULL,
          UNIQUE (kind, name)
        )\(strict);
        -- A thumbnail has the labels of all requests that named it. Label 0: a request without labels named it, besides
        -- others with some.
        CREATE TABLE thumbnail_label(
          thumbnail \(name) NOT NULL,
          label \(big) NOT NULL,
          PRIMARY KEY (thumbnail, label)
        )\(byKey);
        CREATE INDEX thumbnail_label_name ON thumbnail_label(label, thumbnail);
        CREATE INDEX thumbnail_made_of ON thumbnail(source_digest);
        """
    }

    /// The name, label and place of uploads.
    package var namedUploads: String {
        """
        -- The name by which its thumbnails are known; what is shown of it; the labels of its request.
        ALTER TABLE upload ADD COLUMN cachekey \(prose);
        ALTER TABLE upload ADD COLUMN name \(prose);
        ALTER TABLE upload ADD COLUMN labels \(json) CHECK (labels IS NULL OR \(isArray("labels")));
        CREATE INDEX upload_unread ON upload(job_id) WHERE data IS NOT NULL;
        """
    }
    package var refusalOfTwice: String {
        "an upload has its name or metadata, and labels beside its request or in it, not both"
    }

    /// The contract for who asks about thumbnails. Times and `time` are as in `job_status`.
    package func factViews(time: (String) -> String) -> String {
        """
        CREATE VIEW thumbnail_facts AS
          SELECT
            thumbnail.id AS id, 'cameo://thumb/' || thumbnail.id AS uri, shown_source AS source,
            shown_rendition AS rendition, shown_rendition ->> 'name' AS name, media_type AS type, width, height,
            size AS bytes, 'cameo://blob/sha256-' || blob AS blob, frames, has_alpha, thumb_hash, blur_hash, dominant_color,
            \(time("thumbnail.created_at")) AS created_at, \(time("updated_at")) AS updated_at,
            source_digest, source_size, source_format, source_width, source_height, taken_at, camera,
            (SELECT job.id FROM job WHERE job.id = thumbnail.job_id) AS job_id
          FROM shown_thumbnail AS thumbnail JOIN blob ON blob.digest = thumbnail.blob;
        CREATE VIEW thumbnail_labels AS \(named("label", 0));
        CREATE VIEW thumbnail_batches AS \(named("batch", 1));
        """
    }

    /// The thumbnails that exist with the names of a kind.
    private func named(_ column: String, _ kind: Int) -> String {
        """
        SELECT thumbnail.id AS id, label.name AS \(column) FROM thumbnail_label
            JOIN label ON label.id = thumbnail_label.label JOIN thumbnail ON thumbnail.id = thumbnail_label.thumbnail
          WHERE label.kind = \(kind)
        """
    }

    /// What promises and batches are of the jobs that there are.
    package var libraryContent: String {
        let (items, id) = item
        return """
            INSERT INTO promise(job_id, thumbnail)
              SELECT DISTINCT task.id, \(id) FROM task JOIN accepted ON accepted.id = task.id CROSS JOIN \(items);
            INSERT INTO promise(job_id, thumbnail, code, until)
              SELECT DISTINCT outcome.id, \(id), code, finalized_at + \(Promise.age)
              FROM outcome JOIN accepted ON accepted.id = outcome.id CROSS JOIN \(items)
              WHERE state = \(JobState.discarded.code) AND finalized_at + \(Promise.age) > \(now);
            INSERT INTO label(kind, name) SELECT 1, name FROM batch;
            INSERT INTO thumbnail_label
              SELECT DISTINCT \(id), label.id FROM batch_job JOIN batch ON batch.id = batch_job.batch
                JOIN label ON kind = 1 AND label.name = batch.name
                JOIN accepted ON accepted.id = batch_job.job_id CROSS JOIN \(items);
            """
    }

    // DESIGN. Most jobs name no hook, and those have no row here: `task.hooked` tells. What a hooked job names is in
    // `job_hook`; its end adds a row to `delivery` for each hook, in the transaction of the end, so that no crash comes
    // between the two. A delivery is claimed and fenced as a job is: by a worker that is alive, and by the number of
    // the try.

    /// Hooks and their deliveries.
    package var hookTables: String {
        """
        CREATE TABLE job_hook(
          job_id \(big) NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          hook \(name) NOT NULL,
          -- The job whose request named the hook: this one, or one that it superseded.
          named_by \(big) NOT NULL,
          PRIMARY KEY (job_id, hook, named_by)
        )\(byKey);

        CREATE TABLE delivery(
          seq \(number),
          -- By which a receiver recognizes a delivery that it has already had.
          id \(name) NOT NULL UNIQUE DEFAULT \(fresh),
          job_id \(big) NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          hook \(name) NOT NULL,
          -- How the job ended. The job's own rows change if it is retried.
          state \(small) NOT NULL CHECK (state BETWEEN 4 AND 6),
          ended_at \(big) NOT NULL,
          \(optionalJSON("failure")),
          -- 0 waiting, 1 running, 2 delivered, 3 given up.
          status \(small) NOT NULL DEFAULT 0 CHECK (status BETWEEN 0 AND 3),
          -- When it is due or, once delivered or given up, when that was.
          at \(big) NOT NULL,
          -- From when its age counts: the end of the job, or an operator's retry.
          since \(big) NOT NULL,
          tries \(whole) NOT NULL DEFAULT 0 CHECK (tries >= 0),
          -- Failed tries in a row, which decide the delay before the next.
          failures \(whole) NOT NULL DEFAULT 0 CHECK (failures >= 0),
          worker \(name),
          -- Why the last try failed.
          trouble \(prose),
          CONSTRAINT "a running delivery must have a worker" CHECK ((status = 1) = (worker IS NOT NULL))
        )\(manyUpdates);
        -- Claim: what is due for a hook; reports: counts.
        CREATE INDEX delivery_due ON delivery(hook, status, at);
        -- Rescue: the deliveries of a worker.
        CREATE INDEX delivery_worker ON delivery(worker) WHERE worker IS NOT NULL;
        CREATE INDEX delivery_job ON delivery(job_id);

        -- The hooks that a worker can deliver to.
        CREATE TABLE worker_hook(
          worker \(name) NOT NULL REFERENCES worker(id) ON DELETE CASCADE,
          hook \(name) NOT NULL,
          PRIMARY KEY (worker, hook)
        )\(byKey);
        """
    }

    /// The indexes by which workers find unfinished jobs.
    package var taskIndexes: String {
        """
        -- Claim: the first jobs of a lane.
        CREATE INDEX task_ready ON task(lane, rank) WHERE state = 1 AND crash_count < 3;
        -- Claim: poison jobs.
        CREATE INDEX task_poison ON task(rank) WHERE state = 1 AND crash_count >= 3;
        -- Claim: jobs that become due.
        CREATE INDEX task_due ON task(due) WHERE state IN (0, 3);
        -- Status: the oldest waiting job.
        CREATE INDEX task_waiting ON task(queue, due) WHERE state = 1;
        -- Sweep and rescue: a worker's running jobs.
        CREATE INDEX task_running ON task(worker) WHERE state = 2;
        """
    }
}
