extension Schema {
    /// Times are milliseconds since 1970. `INSERT INTO job(request)` and `INSERT INTO upload(data, request)` are the
    /// public contract for producers in any language, the view `job_status` the one for polling.
    static let version1 = """
        CREATE TABLE queue(
          name TEXT PRIMARY KEY,
          paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1))
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE job(
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          request TEXT NOT NULL
            CONSTRAINT "request must be a JSON object"
              CHECK (CASE WHEN json_valid(request) THEN json_type(request) IS 'object' ELSE 0 END)
            CONSTRAINT "request must have at most 1048576 bytes"
              CHECK (length(CAST(request AS BLOB)) <= 1048576)
            CONSTRAINT "source must be a non-empty string"
              CHECK (json_type(request, '$.source') IS 'text' AND json_extract(request, '$.source') <> '')
            CONSTRAINT "renditions must be an array of 1 to 32 objects"
              CHECK (json_type(request, '$.renditions') IS 'array'
                     AND json_array_length(request, '$.renditions') BETWEEN 1 AND 32)
            CONSTRAINT "queue must be a string of 1 to 64 characters"
              CHECK (json_type(request, '$.queue') IS NULL
                     OR (json_type(request, '$.queue') IS 'text'
                         AND length(json_extract(request, '$.queue')) BETWEEN 1 AND 64))
            CONSTRAINT "priority must be a number from -100 to 100"
              CHECK (json_type(request, '$.priority') IS NULL
                     OR (json_type(request, '$.priority') IN ('integer', 'real')
                         AND json_extract(request, '$.priority') BETWEEN -100 AND 100))
            CONSTRAINT "maxAttempts must be a number from 1 to 25"
              CHECK (json_type(request, '$.maxAttempts') IS NULL
                     OR (json_type(request, '$.maxAttempts') IN ('integer', 'real')
                         AND json_extract(request, '$.maxAttempts') BETWEEN 1 AND 25))
            CONSTRAINT "runAt must be a time such as 2030-01-31T12:00:00Z"
              CHECK (json_type(request, '$.runAt') IS NULL
                     OR (json_type(request, '$.runAt') IS 'text'
                         AND json_extract(request, '$.runAt') GLOB '????-??-??T??:??:??*'
                         AND (json_extract(request, '$.runAt') GLOB '*Z'
                              OR json_extract(request, '$.runAt') GLOB '*[+-]??:??')
                         AND julianday(json_extract(request, '$.runAt')) IS NOT NULL))
            CONSTRAINT "batch must be a string of 1 to 200 characters"
              CHECK (json_type(request, '$.batch') IS NULL
                     OR (json_type(request, '$.batch') IS 'text'
                         AND length(json_extract(request, '$.batch')) BETWEEN 1 AND 200)),
          -- Filled from the request by the trigger job_accept; NULL rank only in between.
          state TEXT NOT NULL DEFAULT 'available'
            CHECK (state IN ('scheduled', 'available', 'running', 'retryable', 'completed', 'discarded', 'cancelled')),
          queue TEXT NOT NULL DEFAULT 'default',
          priority INTEGER NOT NULL DEFAULT 0,
          batch TEXT,
          max_attempts INTEGER NOT NULL DEFAULT 5 CHECK (max_attempts >= 1),
          created_at INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000.0 + 0.5 AS INTEGER)),
          available_at INTEGER NOT NULL DEFAULT 0,
          rank INTEGER,
          -- The rest belongs to the workers.
          attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
          crash_count INTEGER NOT NULL DEFAULT 0 CHECK (crash_count >= 0),
          attempted_at INTEGER,
          finalized_at INTEGER,
          claim_token TEXT,
          worker TEXT,
          failure TEXT CHECK (failure IS NULL OR json_valid(failure)),
          thumbnails TEXT CHECK (thumbnails IS NULL OR json_type(thumbnails) IS 'array'),
          source_blob TEXT REFERENCES blob(digest),
          upload_id INTEGER,
          CONSTRAINT "a running job has a claim, and no other job has" CHECK (
            (state = 'running') = (claim_token IS NOT NULL) AND (state = 'running') = (worker IS NOT NULL)),
          CONSTRAINT "a job that ended has a time of its end, and no other job has" CHECK (
            (state IN ('completed', 'discarded', 'cancelled')) = (finalized_at IS NOT NULL)),
          CONSTRAINT "a discarded job has a reason" CHECK (state <> 'discarded' OR failure IS NOT NULL),
          CONSTRAINT "only an upload may have an upload: source" CHECK (
            lower(substr(json_extract(request, '$.source'), 1, 7)) IS NOT 'upload:' OR upload_id IS NOT NULL)
        ) STRICT;

        CREATE INDEX job_claim ON job(queue, rank) WHERE state = 'available';
        CREATE INDEX job_suspect ON job(rank) WHERE state = 'available' AND crash_count >= 3;
        CREATE INDEX job_due ON job(available_at) WHERE state IN ('scheduled', 'retryable');
        CREATE INDEX job_waiting ON job(queue, available_at) WHERE state = 'available';
        CREATE INDEX job_running ON job(worker) WHERE state = 'running';
        CREATE INDEX job_finalized ON job(finalized_at) WHERE finalized_at IS NOT NULL;
        CREATE INDEX job_state ON job(state, id);
        CREATE INDEX job_batch ON job(batch, state) WHERE batch IS NOT NULL;
        CREATE INDEX job_source_blob ON job(source_blob) WHERE source_blob IS NOT NULL;

        -- Jobs by queue and state, kept by triggers so that the status never scans.
        CREATE TABLE job_count(
          queue TEXT NOT NULL,
          state TEXT NOT NULL,
          count INTEGER NOT NULL,
          PRIMARY KEY (queue, state)
        ) STRICT, WITHOUT ROWID;

        -- What belongs to the workers is theirs from the first moment.
        CREATE TRIGGER job_private BEFORE INSERT ON job
          WHEN NEW.failure IS NOT NULL OR NEW.attempt <> 0 OR NEW.crash_count <> 0 OR NEW.state <> 'available'
            OR NEW.attempted_at IS NOT NULL OR NEW.finalized_at IS NOT NULL OR NEW.rank IS NOT NULL
            OR json_type(NEW.thumbnails, '$[0]') IS NOT CASE WHEN NEW.thumbnails IS NULL THEN NULL ELSE 'object' END
        BEGIN
          SELECT RAISE(ABORT, 'insert only job(request): the other columns belong to Cameo');
        END;

        -- A REPLACE would delete a job without its triggers.
        CREATE TRIGGER job_keep BEFORE INSERT ON job WHEN EXISTS (SELECT 1 FROM job WHERE id = NEW.id) BEGIN
          SELECT RAISE(ABORT, 'there is a job of this id already');
        END;

        CREATE TRIGGER job_accept AFTER INSERT ON job BEGIN
          UPDATE job SET
            queue = coalesce(json_extract(NEW.request, '$.queue'), 'default'),
            priority = coalesce(CAST(json_extract(NEW.request, '$.priority') AS INTEGER), 0),
            batch = json_extract(NEW.request, '$.batch'),
            max_attempts = coalesce(CAST(json_extract(NEW.request, '$.maxAttempts') AS INTEGER), 5),
            available_at = max(NEW.created_at, coalesce(
              CAST((julianday(json_extract(NEW.request, '$.runAt')) - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), 0))
          WHERE id = NEW.id;
          -- One step of priority is worth a minute of waiting; nobody is overtaken for ever.
          UPDATE job SET
            state = CASE WHEN available_at > NEW.created_at THEN 'scheduled' ELSE 'available' END,
            rank = available_at - priority * 60000
          WHERE id = NEW.id;
          -- Not OR IGNORE: the conflict clause of a producer's own statement would take its place.
          INSERT INTO queue(name) SELECT queue FROM job
            WHERE id = NEW.id AND NOT EXISTS (SELECT 1 FROM queue WHERE name = job.queue);
          INSERT INTO job_count(queue, state, count) SELECT queue, state, 1 FROM job WHERE id = NEW.id
            ON CONFLICT DO UPDATE SET count = count + 1;
        END;

        CREATE TRIGGER job_move AFTER UPDATE OF state ON job
          WHEN OLD.state IS NOT NEW.state AND OLD.rank IS NOT NULL
        BEGIN
          UPDATE job_count SET count = count - 1 WHERE queue = OLD.queue AND state = OLD.state;
          INSERT INTO job_count(queue, state, count) VALUES (NEW.queue, NEW.state, 1)
            ON CONFLICT DO UPDATE SET count = count + 1;
        END;

        CREATE TRIGGER job_remove AFTER DELETE ON job BEGIN
          UPDATE job_count SET count = count - 1 WHERE queue = OLD.queue AND state = OLD.state;
        END;

        -- A picture's bytes with the request for it. The data moves to a blob when the job is first run.
        CREATE TABLE upload(
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          data BLOB
            CONSTRAINT "data must have 1 byte to 100 MiB"
              CHECK (data IS NULL OR length(data) BETWEEN 1 AND 104857600),
          request TEXT NOT NULL
            CONSTRAINT "request must be a JSON object"
              CHECK (CASE WHEN json_valid(request) THEN json_type(request) IS 'object' ELSE 0 END)
            CONSTRAINT "the request of an upload has no source: its data is the source"
              CHECK (json_type(request, '$.source') IS NULL),
          job_id INTEGER REFERENCES job(id) ON DELETE CASCADE
        ) STRICT;

        CREATE INDEX upload_job ON upload(job_id);

        CREATE TRIGGER upload_accept AFTER INSERT ON upload BEGIN
          SELECT RAISE(ABORT, 'CHECK constraint failed: data must have 1 byte to 100 MiB') WHERE NEW.data IS NULL;
          INSERT INTO job(request, upload_id)
            VALUES (json_set(NEW.request, '$.source', 'upload:' || NEW.id), NEW.id);
          UPDATE upload SET job_id = last_insert_rowid() WHERE id = NEW.id;
        END;

        -- One row a try.
        CREATE TABLE attempt(
          job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          number INTEGER NOT NULL CHECK (number >= 1),
          claim_token TEXT NOT NULL UNIQUE,
          worker TEXT NOT NULL,
          started_at INTEGER NOT NULL,
          finished_at INTEGER,
          outcome TEXT NOT NULL DEFAULT 'running' CHECK (outcome IN
            ('running', 'completed', 'retryable', 'discarded', 'cancelled', 'released', 'interrupted')),
          failure TEXT CHECK (failure IS NULL OR json_valid(failure)),
          fetch_ms INTEGER,
          render_ms INTEGER,
          store_ms INTEGER,
          source_bytes INTEGER,
          output_bytes INTEGER,
          PRIMARY KEY (job_id, number),
          CHECK ((outcome = 'running') = (finished_at IS NULL))
        ) STRICT, WITHOUT ROWID;

        -- Immutable bytes by digest: in the row, or in a file of their own when data is NULL.
        CREATE TABLE blob(
          digest TEXT PRIMARY KEY CHECK (length(digest) = 64),
          size INTEGER NOT NULL CHECK (size >= 0),
          data BLOB CHECK (data IS NULL OR length(data) = size),
          media_type TEXT,
          created_at INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE thumbnail(
          id TEXT PRIMARY KEY CHECK (length(id) = 32),
          blob TEXT NOT NULL REFERENCES blob(digest),
          width INTEGER NOT NULL CHECK (width > 0),
          height INTEGER NOT NULL CHECK (height > 0),
          format TEXT NOT NULL,
          source TEXT NOT NULL,
          rendition TEXT NOT NULL CHECK (json_valid(rendition)),
          source_digest TEXT NOT NULL,
          source_seen INTEGER NOT NULL,
          renderer_version TEXT NOT NULL,
          job_id INTEGER NOT NULL,
          created_at INTEGER NOT NULL,
          updated_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX thumbnail_blob ON thumbnail(blob);

        -- Numbers that only grow: source_seen orders fetches across workers.
        CREATE TABLE sequence(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO sequence VALUES ('source_seen', 0);

        -- Bytes and number of blobs and thumbnails, kept by triggers.
        CREATE TABLE total(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO total VALUES ('blobs', 0), ('blob_bytes', 0), ('thumbnails', 0);
        CREATE TRIGGER blob_added AFTER INSERT ON blob BEGIN
          UPDATE total SET value = value + CASE name WHEN 'blobs' THEN 1 ELSE NEW.size END
            WHERE name IN ('blobs', 'blob_bytes');
        END;
        CREATE TRIGGER blob_removed AFTER DELETE ON blob BEGIN
          UPDATE total SET value = value - CASE name WHEN 'blobs' THEN 1 ELSE OLD.size END
            WHERE name IN ('blobs', 'blob_bytes');
        END;
        CREATE TRIGGER thumbnail_added AFTER INSERT ON thumbnail BEGIN
          UPDATE total SET value = value + 1 WHERE name = 'thumbnails';
        END;
        CREATE TRIGGER thumbnail_removed AFTER DELETE ON thumbnail BEGIN
          UPDATE total SET value = value - 1 WHERE name = 'thumbnails';
        END;

        -- One row a live worker process; `workers/<id>.lock` tells whether it is.
        CREATE TABLE worker(
          id TEXT PRIMARY KEY,
          host TEXT NOT NULL,
          pid INTEGER NOT NULL,
          version TEXT NOT NULL,
          concurrency INTEGER NOT NULL,
          started_at INTEGER NOT NULL,
          boot_id TEXT NOT NULL,
          lease_until INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE VIEW job_status AS
          SELECT
            id, state, queue, priority, batch, attempt, max_attempts,
            json_extract(request, '$.source') AS source,
            strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
            strftime('%Y-%m-%dT%H:%M:%fZ', available_at / 1000.0, 'unixepoch') AS available_at,
            strftime('%Y-%m-%dT%H:%M:%fZ', attempted_at / 1000.0, 'unixepoch') AS attempted_at,
            strftime('%Y-%m-%dT%H:%M:%fZ', finalized_at / 1000.0, 'unixepoch') AS finalized_at,
            json_extract(failure, '$.code') AS failure_code,
            json_extract(failure, '$.message') AS failure_message,
            (SELECT json_group_array(json_object(
                'name', json_extract(wanted.value, '$.name'),
                'uri', 'cameo://thumb/' || json_extract(wanted.value, '$.id'),
                'blob', 'cameo://blob/sha256-' || thumbnail.blob,
                'width', thumbnail.width,
                'height', thumbnail.height,
                'format', thumbnail.format))
              FROM json_each(job.thumbnails) AS wanted
              LEFT JOIN thumbnail ON thumbnail.id = json_extract(wanted.value, '$.id')) AS thumbnails
          FROM job;
        """
}
