extension Schema {
    /// When thumbnails were last read, and which of them jobs are to be made of: what retention has to know of them.
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

        -- Thumbnails that a job is to be made of: its source, its overlays.
        CREATE TABLE ingredient(
          thumbnail TEXT NOT NULL,
          job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          PRIMARY KEY (thumbnail, job_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX ingredient_job ON ingredient(job_id);
        INSERT INTO ingredient
          SELECT DISTINCT substr(part.value, 15), job.id FROM job, json_tree(job.request) AS part
          WHERE instr(lower(job.request), 'cameo:') AND part.key = 'source' AND part.type = 'text'
            AND lower(substr(part.value, 1, 14)) = 'cameo://thumb/';
        CREATE TRIGGER job_names_thumbnails AFTER INSERT ON job WHEN instr(lower(NEW.request), 'cameo:') BEGIN
          INSERT INTO ingredient
            SELECT DISTINCT substr(part.value, 15), NEW.id FROM json_tree(NEW.request) AS part
            WHERE part.key = 'source' AND part.type = 'text' AND lower(substr(part.value, 1, 14)) = 'cameo://thumb/';
        END;

        -- Whether any job has a key at all, however it ended: it may be retried.
        CREATE INDEX job_of_key ON job(concurrency_key) WHERE concurrency_key IS NOT NULL;
        """
}
