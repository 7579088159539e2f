extension Schema {
    /// Unique jobs, batches that share jobs, limits counted inside the claim, and how a worker is ended from outside.
    ///
    /// Workers of an older version that still run go on: they know neither keys nor limits, so what they do is put right
    /// by the next process that does. `joinable` says that a waiting job stands for its unique key; whatever makes a job
    /// wait again without knowing of it leaves 0 there, as does a producer's INSERT.
    static let version4 = """
        -- A twin that is found later ends `cancelled`, its place is taken by the job that `superseded_by` names.
        ALTER TABLE job ADD COLUMN unique_key TEXT CHECK (length(unique_key) BETWEEN 1 AND 64)
          CONSTRAINT "uniqueKey must be a string of 1 to 200 characters"
            CHECK (json_type(request, '$.uniqueKey') IS NULL
                   OR (json_type(request, '$.uniqueKey') IS 'text'
                       AND length(json_extract(request, '$.uniqueKey')) BETWEEN 1 AND 200))
          CONSTRAINT "refresh must be never, if-changed or always"
            CHECK (json_type(request, '$.refresh') IS NULL
                   OR (json_type(request, '$.refresh') IS 'text'
                       AND json_extract(request, '$.refresh') IN ('never', 'if-changed', 'always')))
          CONSTRAINT "retry must be an object"
            CHECK (json_type(request, '$.retry') IS NULL OR json_type(request, '$.retry') IS 'object');
        ALTER TABLE job ADD COLUMN joinable INTEGER NOT NULL DEFAULT 0 CHECK (joinable IN (0, 1))
          CHECK (joinable = 0 OR unique_key IS NOT NULL);
        ALTER TABLE job ADD COLUMN superseded_by INTEGER CHECK (superseded_by IS NULL OR state = 'cancelled');
        ALTER TABLE job ADD COLUMN concurrency_key TEXT
          CONSTRAINT "concurrencyKey must be a string of 1 to 200 characters"
            CHECK (json_type(request, '$.concurrencyKey') IS NULL
                   OR (json_type(request, '$.concurrencyKey') IS 'text'
                       AND length(json_extract(request, '$.concurrencyKey')) BETWEEN 1 AND 200))
          CONSTRAINT "concurrencyLimit must be a number from 1 to 10000, beside a concurrencyKey"
            CHECK (json_type(request, '$.concurrencyLimit') IS NULL
                   OR (json_type(request, '$.concurrencyLimit') IN ('integer', 'real')
                       AND json_extract(request, '$.concurrencyLimit') BETWEEN 1 AND 10000
                       AND json_type(request, '$.concurrencyKey') IS NOT NULL));
        -- 1: due, but not to be claimed, because its key has no room for it. Opened by the claim that finds room.
        ALTER TABLE job ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1))
          CHECK (held = 0 OR concurrency_key IS NOT NULL);

        CREATE UNIQUE INDEX job_unique ON job(unique_key)
          WHERE joinable = 1 AND state IN ('scheduled', 'available', 'retryable');
        CREATE INDEX job_unjoined ON job(id)
          WHERE joinable = 0 AND upload_id IS NULL AND state IN ('scheduled', 'available', 'retryable');
        -- job_claim stays for workers of an older version.
        CREATE INDEX job_ready ON job(queue, rank) WHERE state = 'available' AND held = 0;
        CREATE INDEX job_key ON job(concurrency_key, queue, rank)
          WHERE state = 'available' AND concurrency_key IS NOT NULL;
        CREATE INDEX job_key_open ON job(concurrency_key)
          WHERE state = 'available' AND held = 0 AND concurrency_key IS NOT NULL;

        ALTER TABLE queue ADD COLUMN max_running INTEGER CHECK (max_running >= 1);

        -- Asked for by an operator; the worker looks at it with every sweep.
        ALTER TABLE worker ADD COLUMN stop_requested_at INTEGER;
        ALTER TABLE worker ADD COLUMN stop_mode TEXT CHECK (stop_mode IN ('drain', 'stop'))
          CONSTRAINT "a worker that is to stop is told how" CHECK ((stop_mode IS NULL) = (stop_requested_at IS NULL));

        -- What keys allow. `running` is kept by triggers.
        CREATE TABLE concurrency(
          key TEXT PRIMARY KEY,
          max_running INTEGER NOT NULL CHECK (max_running >= 1),
          -- 1: an operator's word, which a request's does not change.
          fixed INTEGER NOT NULL DEFAULT 0 CHECK (fixed IN (0, 1)),
          running INTEGER NOT NULL DEFAULT 0 CHECK (running >= 0),
          -- 1: which of its jobs are held is to be decided anew, by the next claim.
          changed INTEGER NOT NULL DEFAULT 0 CHECK (changed IN (0, 1))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX concurrency_changed ON concurrency(key) WHERE changed = 1;

        CREATE TRIGGER concurrency_limit AFTER UPDATE OF max_running ON concurrency
          WHEN NEW.max_running <> OLD.max_running
        BEGIN
          UPDATE concurrency SET changed = 1 WHERE key = NEW.key;
        END;

        -- A job belongs to the batch of its request, and to those of the requests that joined it.
        CREATE TABLE batch_job(
          batch TEXT NOT NULL,
          job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          PRIMARY KEY (batch, job_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX batch_job_id ON batch_job(job_id);
        INSERT INTO batch_job(batch, job_id) SELECT batch, id FROM job WHERE batch IS NOT NULL;

        DROP TRIGGER job_private;
        CREATE TRIGGER job_private BEFORE INSERT ON job
          WHEN NEW.failure IS NOT NULL OR NEW.attempt <> 0 OR NEW.crash_count <> 0 OR NEW.state <> 'available'
            OR NEW.attempted_at IS NOT NULL OR NEW.finalized_at IS NOT NULL OR NEW.rank IS NOT NULL
            OR NEW.unique_key IS NOT NULL OR NEW.superseded_by IS NOT NULL OR NEW.concurrency_key IS NOT NULL
            OR json_type(NEW.thumbnails, '$[0]') IS NOT CASE WHEN NEW.thumbnails IS NULL THEN NULL ELSE 'object' END
        BEGIN
          SELECT RAISE(ABORT, 'insert only job(request): the other columns belong to Cameo');
        END;

        -- After job_accept, whose last UPDATE gives the new row its rank and its state.
        CREATE TRIGGER job_accept_key AFTER UPDATE OF rank ON job
          WHEN OLD.rank IS NULL AND NEW.rank IS NOT NULL
            AND (NEW.batch IS NOT NULL OR json_type(NEW.request, '$.concurrencyKey') IS NOT NULL)
        BEGIN
          INSERT INTO batch_job(batch, job_id) SELECT NEW.batch, NEW.id WHERE NEW.batch IS NOT NULL;
          -- The latest request that names a limit sets it; without one a key lets one job run at a time.
          UPDATE concurrency SET max_running = CAST(json_extract(NEW.request, '$.concurrencyLimit') AS INTEGER)
            WHERE key = json_extract(NEW.request, '$.concurrencyKey') AND fixed = 0
              AND json_type(NEW.request, '$.concurrencyLimit') IS NOT NULL;
          INSERT INTO concurrency(key, max_running)
            SELECT json_extract(NEW.request, '$.concurrencyKey'),
              coalesce(CAST(json_extract(NEW.request, '$.concurrencyLimit') AS INTEGER), 1)
            WHERE json_type(NEW.request, '$.concurrencyKey') IS NOT NULL AND NOT EXISTS (
              SELECT 1 FROM concurrency WHERE key = json_extract(NEW.request, '$.concurrencyKey'));
          UPDATE job SET concurrency_key = json_extract(NEW.request, '$.concurrencyKey'), held = 1
            WHERE id = NEW.id AND json_type(NEW.request, '$.concurrencyKey') IS NOT NULL;
          UPDATE concurrency SET changed = 1 WHERE key = json_extract(NEW.request, '$.concurrencyKey');
        END;

        CREATE TRIGGER job_leave_key AFTER UPDATE OF state ON job
          WHEN NEW.joinable = 1 AND NEW.state NOT IN ('scheduled', 'available', 'retryable')
        BEGIN
          UPDATE job SET joinable = 0 WHERE id = NEW.id;
        END;

        CREATE TRIGGER job_hold AFTER UPDATE OF state, rank ON job WHEN NEW.concurrency_key IS NOT NULL
        BEGIN
          UPDATE job SET held = 1 WHERE id = NEW.id AND NEW.state = 'available' AND OLD.state <> 'available';
          UPDATE concurrency SET changed = 1,
            running = running + (NEW.state = 'running') - (OLD.state = 'running') WHERE key = NEW.concurrency_key;
        END;
        CREATE TRIGGER job_remove_key AFTER DELETE ON job WHEN OLD.concurrency_key IS NOT NULL
        BEGIN
          UPDATE concurrency SET changed = 1, running = running - (OLD.state = 'running') WHERE key = OLD.concurrency_key;
        END;

        DROP VIEW job_status;
        CREATE VIEW job_status AS
          SELECT
            id, state, queue, priority, batch, attempt, max_attempts,
            json_extract(request, '$.source') AS source,
            strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
            strftime('%Y-%m-%dT%H:%M:%fZ', available_at / 1000.0, 'unixepoch') AS available_at,
            strftime('%Y-%m-%dT%H:%M:%fZ', attempted_at / 1000.0, 'unixepoch') AS attempted_at,
            strftime('%Y-%m-%dT%H:%M:%fZ', finalized_at / 1000.0, 'unixepoch') AS finalized_at,
            json_extract(failure, '$.code') AS failure_code,
            json_extract(failure, '$.message') AS failure_message, superseded_by,
            (SELECT json_group_array(json_object(
                'name', json_extract(wanted.value, '$.name'),
                'uri', 'cameo://thumb/' || json_extract(wanted.value, '$.id'),
                'blob', 'cameo://blob/sha256-' || thumbnail.blob,
                'width', thumbnail.width,
                'height', thumbnail.height,
                'format', thumbnail.format,
                'bytes', blob.size,
                -- json('1') would print a number: true and false have to be made by name.
                'hasAlpha', json(CASE thumbnail.has_alpha WHEN 1 THEN 'true' WHEN 0 THEN 'false' END),
                'frames', thumbnail.frames,
                'isAnimated', json(CASE thumbnail.frames > 1 WHEN 1 THEN 'true' WHEN 0 THEN 'false' END),
                'thumbHash', thumbnail.thumb_hash,
                'blurHash', thumbnail.blur_hash,
                'dominantColor', thumbnail.dominant_color,
                'source', json(CASE WHEN thumbnail.source_format IS NOT NULL THEN json_object(
                  'format', thumbnail.source_format,
                  'width', thumbnail.source_width,
                  'height', thumbnail.source_height,
                  'pages', thumbnail.source_pages,
                  'hasAlpha', json(iif(thumbnail.source_has_alpha, 'true', 'false')),
                  'isAnimated', json(iif(thumbnail.source_is_animated, 'true', 'false'))) END),
                'truncated', json(CASE thumbnail.is_truncated WHEN 1 THEN 'true' END)))
              FROM json_each(job.thumbnails) AS wanted
              LEFT JOIN thumbnail ON thumbnail.id = json_extract(wanted.value, '$.id')
              LEFT JOIN blob ON blob.digest = thumbnail.blob) AS thumbnails
          FROM job;

        -- One row for each job of each batch.
        CREATE VIEW batch_status AS
          SELECT
            batch_job.batch AS batch, job.id AS id, job.state AS state,
            json_extract(job.request, '$.source') AS source,
            strftime('%Y-%m-%dT%H:%M:%fZ', job.finalized_at / 1000.0, 'unixepoch') AS finalized_at,
            json_extract(job.failure, '$.code') AS failure_code
          FROM batch_job JOIN job ON job.id = batch_job.job_id;
        """
}
