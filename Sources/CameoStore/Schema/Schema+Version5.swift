extension Schema {
    /// When thumbnails were last read, and what jobs are to be made of: what retention has to know.
    ///
    /// A process of an older version that still runs notes no reading, and names no thumbnail as read when it makes one:
    /// `used_at` follows from what it does write.
    static let version5 = """
        -- Noted to the hour only; 0: not since it is noted at all.
        ALTER TABLE thumbnail ADD COLUMN read_at INTEGER NOT NULL DEFAULT 0;
        -- Read or made.
        ALTER TABLE thumbnail ADD COLUMN used_at INTEGER GENERATED ALWAYS AS (max(read_at, updated_at)) VIRTUAL;
        CREATE INDEX thumbnail_use ON thumbnail(used_at);

        -- Since when something is known at all. Of the time before, every thumbnail may have been read until the last
        -- moment; one row says so for all of them, however many there are.
        CREATE TABLE epoch(name TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO epoch VALUES ('readings', CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER));

        -- What a job is to be made of, its source and its overlays: thumbnails by their ids, bytes by their digests.
        CREATE TABLE ingredient(
          name TEXT NOT NULL,
          job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          PRIMARY KEY (name, job_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX ingredient_job ON ingredient(job_id);
        INSERT INTO ingredient \(ingredients(of: "job", in: "\(unfinished), json_tree(job.request)"));
        CREATE TRIGGER job_names_ingredients AFTER INSERT ON job WHEN instr(lower(NEW.request), 'cameo:') BEGIN
          INSERT INTO ingredient \(ingredients(of: "NEW", in: "json_tree(NEW.request)"));
        END;
        -- One that had ended before there was such a table.
        CREATE TRIGGER job_names_ingredients_again AFTER UPDATE OF state ON job
          WHEN OLD.state IN ('completed', 'discarded', 'cancelled')
            AND NEW.state NOT IN ('completed', 'discarded', 'cancelled') AND instr(lower(NEW.request), 'cameo:')
            AND NOT EXISTS (SELECT 1 FROM ingredient WHERE job_id = NEW.id)
        BEGIN
          INSERT INTO ingredient \(ingredients(of: "NEW", in: "json_tree(NEW.request)"));
        END;
        -- While it was held the collector has looked at it, and forgot it.
        CREATE TRIGGER ingredient_left AFTER DELETE ON ingredient WHEN length(OLD.name) = 64 BEGIN
          INSERT INTO orphan VALUES (OLD.name, CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER))
            ON CONFLICT DO UPDATE SET since = excluded.since;
        END;

        -- Whether any job has a key at all, however it ended: it may be retried.
        CREATE INDEX job_of_key ON job(concurrency_key) WHERE concurrency_key IS NOT NULL;

        -- Requests of a batch that were answered at once.
        CREATE INDEX job_answered ON job(batch, unique_key)
          WHERE state = 'completed' AND attempted_at IS NULL AND batch IS NOT NULL;
        """

    /// Jobs that something is still to be made for.
    private static let unfinished = """
        (SELECT id, request FROM job WHERE state IN ('scheduled', 'available', 'running', 'retryable')
           AND instr(lower(request), 'cameo:')) AS job
        """

    /// What a job's request names as its source or as an overlay.
    private static func ingredients(of job: String, in rows: String) -> String {
        """
        SELECT DISTINCT
          iif(lower(substr(part.value, 1, 14)) = 'cameo://thumb/', substr(part.value, 15), substr(part.value, 21)), \(job).id
          FROM \(rows) AS part
          WHERE part.key = 'source' AND part.type = 'text' AND (lower(substr(part.value, 1, 14)) = 'cameo://thumb/'
            OR lower(substr(part.value, 1, 20)) = 'cameo://blob/sha256-')
        """
    }
}
