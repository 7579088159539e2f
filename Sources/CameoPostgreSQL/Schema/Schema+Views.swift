internal import CameoQueue

/// The views that everybody may read.
extension Schema {
    /// The counts of queues with what was not folded yet, and the polling contract. An unaccepted job is shown with the
    /// values of its request.
    static let views = """
        CREATE VIEW queue_total AS
          SELECT queue, \(sums) FROM (SELECT * FROM queue_count UNION ALL SELECT * FROM queue_delta) AS parts
          GROUP BY queue;

        \(jobStatus(source: "field(request, 'source')"))

        -- One row for each job of each batch.
        CREATE VIEW batch_status AS
          SELECT
            batch.name AS batch, job_status.id AS id, job_status.state AS state, job_status.source AS source,
            job_status.finalized_at AS finalized_at, job_status.failure_code AS failure_code
          FROM batch JOIN batch_job ON batch_job.batch = batch.id JOIN job_status ON job_status.id = batch_job.job_id
          UNION ALL
          SELECT job_status.batch, job_status.id, job_status.state, job_status.source, job_status.finalized_at,
            job_status.failure_code
          FROM arrival JOIN job_status ON job_status.id = arrival.id WHERE job_status.batch IS NOT NULL;
        """

    private static func jobStatus(source: String) -> String {
        """
        CREATE VIEW job_status AS
          SELECT
            job.id AS id,
            CASE coalesce(task.state, outcome.state)
              WHEN 0 THEN 'scheduled' WHEN 1 THEN 'available' WHEN 2 THEN 'running' WHEN 3 THEN 'retryable'
              WHEN 4 THEN 'completed' WHEN 5 THEN 'discarded' WHEN 6 THEN 'cancelled'
              ELSE CASE WHEN time_field(request, 'runAt') > now_ms() THEN 'scheduled' ELSE 'available' END END AS state,
            coalesce((SELECT name FROM queue WHERE queue.id = coalesce(task.queue, outcome.queue)),
              field(request, 'queue'), 'default') AS queue,
            coalesce(task.priority, outcome.priority, number_field(request, 'priority'), 0) AS priority,
            field(request, 'batch') AS batch,
            coalesce(task.attempt, outcome.attempt, 0) AS attempt,
            coalesce(task.max_attempts, outcome.max_attempts, number_field(request, 'maxAttempts'), 5)
              AS max_attempts,
            coalesce((SELECT 'cameo://blob/sha256-' || digest FROM upload WHERE job_id = job.id),
              \(source)) AS source,
            time_text(job.created_at) AS created_at,
            time_text(coalesce(task.due, outcome.available_at,
              greatest(job.created_at, time_field(request, 'runAt')))) AS available_at,
            time_text(coalesce(task.attempted_at, outcome.attempted_at)) AS attempted_at,
            time_text(outcome.finalized_at) AS finalized_at,
            coalesce(code, failed.failure ->> 'code') AS failure_code,
            field(coalesce(outcome.failure, failed.failure), 'message') AS failure_message,
            superseded_by,
            (SELECT coalesce(json_agg(\(thumbnail) ORDER BY place), '[]'::json)
              FROM json_array_elements(accepted.thumbnails) WITH ORDINALITY AS wanted(item, place)
              LEFT JOIN thumbnail ON thumbnail.id = wanted.item ->> 'id'
              LEFT JOIN blob ON blob.digest = thumbnail.blob) AS thumbnails
          FROM job
            LEFT JOIN task ON task.id = job.id
            LEFT JOIN outcome ON outcome.id = job.id
            LEFT JOIN accepted ON accepted.id = job.id
            LEFT JOIN earlier_attempt AS failed ON failed.job_id = task.id AND failed.number = task.failed;
        """
    }

    private static let sums = Ledger.Counts.columns.map { "sum(\($0))::bigint AS \($0)" }.joined(separator: ", ")

    private static let thumbnail = """
        json_build_object(
                'name', wanted.item ->> 'name',
                'uri', 'cameo://thumb/' || (wanted.item ->> 'id'),
                'blob', 'cameo://blob/sha256-' || thumbnail.blob,
                'width', thumbnail.width,
                'height', thumbnail.height,
                'format', thumbnail.format,
                'bytes', blob.size,
                'hasAlpha', thumbnail.has_alpha,
                'frames', thumbnail.frames,
                'isAnimated', thumbnail.frames > 1,
                'thumbHash', thumbnail.thumb_hash,
                'blurHash', thumbnail.blur_hash,
                'dominantColor', thumbnail.dominant_color,
                'source', CASE WHEN thumbnail.id IS NOT NULL THEN json_strip_nulls(json_build_object(
                  'format', thumbnail.source_format,
                  'width', thumbnail.source_width,
                  'height', thumbnail.source_height,
                  'pages', thumbnail.source_pages,
                  'hasAlpha', thumbnail.source_has_alpha,
                  'isAnimated', thumbnail.source_is_animated,
                  'video', thumbnail.source_video)) END,
                'truncated', CASE WHEN thumbnail.is_truncated THEN true END)
        """
}

extension Schema {
    // DESIGN. Headers and the user names and passwords in URLs let whoever has them act for the request's author. Acceptance
    // and claims read them from `job`; all others read them from `job_request`, which shows them to those who may read
    // `job.request` anyway. What it shows is for reading: a source may be shortened more than needed where its URL is malformed.

    /// Version 6. What shows requests shows no secrets.
    static let shownRequests = """
        -- A source with … in place of the user name and password of its URL; `SourceName.withoutPassword` in SQL.
        CREATE FUNCTION shown_source(source text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
          SELECT \(maskedSource)
        $$;

        -- A request, or a part of it, for everyone who may see jobs; … in place of what is nested too deep to be valid.
        CREATE FUNCTION shown_request(request json, depth integer) RETURNS json LANGUAGE plpgsql IMMUTABLE
          PARALLEL UNSAFE SET search_path FROM CURRENT AS $$
          BEGIN
            RETURN CASE
              WHEN json_typeof(request) = 'object' AND depth < 8 THEN (
                SELECT coalesce(json_object_agg(name, CASE
                  WHEN name = 'metadata' AND depth = 0 THEN item
                  WHEN name = 'source' AND json_typeof(item) = 'string' THEN to_json(shown_source(item #>> '{}'))
                  WHEN name = 'headers' AND json_typeof(item) = 'object' THEN (
                    SELECT coalesce(json_object_agg(header, '…'), '{}') FROM json_object_keys(item) AS header)
                  WHEN name = 'headers' THEN to_json('…'::text)
                  ELSE shown_request(item, depth + 1) END), '{}')
                FROM json_each(request) AS field(name, item))
              WHEN json_typeof(request) = 'array' AND depth < 8 THEN (
                SELECT coalesce(json_agg(shown_request(item, depth + 1)), '[]') FROM json_array_elements(request) AS item)
              WHEN json_typeof(request) IN ('object', 'array') THEN to_json('…'::text)
              ELSE request END;
          -- Text that a database cannot hold.
          EXCEPTION WHEN data_exception THEN RETURN to_json('…'::text);
          END $$;

        CREATE VIEW job_request AS
          SELECT id, CASE WHEN has_column_privilege('job'::regclass, 'request', 'SELECT') THEN request
            ELSE shown_request(request, 0) END AS request, created_at
          FROM job;

        \(newJobStatus)

        \(receipts)
        """

    private static let maskedSource = """
        CASE
            WHEN strpos(source, '@') + strpos(source, '%40') = 0 OR source ILIKE 'data:%' THEN source
            WHEN source ~* '^cameo://source/' THEN regexp_replace(source,
              '^(cameo://source/.*?(?:%3A|:)(?:%2F|/){2})(?:(?!%2F|%3F|%23|%5C)[^/?#])*(@|%40)', '\\1…\\2', 'i')
            WHEN source ~ '^[^:/]*://[^/\\\\?#]*@' THEN regexp_replace(source, '^([^:/]*://)[^/\\\\?#]*@', '\\1…@')
            -- A password with a slash, and no port.
            WHEN source ~ '^[^:/]*://[^][/\\\\?#]*:[0-9]*[^][0-9/\\\\?#].*@'
              THEN regexp_replace(source, '^([^:/]*://).*@', '\\1…@')
            ELSE source END
        """

    private static let newJobStatus = jobStatus(source: "shown_source(field(request, 'source'))")
        .replacing("CREATE VIEW", with: "CREATE OR REPLACE VIEW")

    /// Version 7. What of a source its thumbnails leave out, since when a queue is paused, what a worker suffers, and of
    /// thumbnails what readers may see: not the requests that they were made for.
    static let omissions = """
        ALTER TABLE thumbnail ADD COLUMN source_omitted json;
        ALTER TABLE queue ADD COLUMN paused_at bigint;
        ALTER TABLE worker ADD COLUMN trouble json;
        CREATE VIEW shown_thumbnail AS
          SELECT id, blob, width, height, format, source_digest, source_seen, renderer_version, job_id, created_at, updated_at,
            read_at, used_at, has_alpha, frames, thumb_hash, blur_hash, dominant_color, source_format, source_width,
            source_height, source_pages, source_has_alpha, source_is_animated, is_truncated, source_video, source_omitted,
            CASE WHEN source_video IS NOT NULL THEN rendition ->> 'storyboard' END AS storyboard
          FROM thumbnail;
        \(newJobStatus.replacing(videoFacts, with: "\(videoFacts), 'omitted', thumbnail.source_omitted"))
        """

    /// Version 11. What is known of thumbnails whatever became of their jobs.
    static let library = """
        ALTER TABLE thumbnail ADD COLUMN source_size bigint, ADD COLUMN taken_at text, ADD COLUMN camera text;
        CREATE OR REPLACE VIEW shown_thumbnail AS
          SELECT id, blob, width, height, format, source_digest, source_seen, renderer_version, job_id, created_at, updated_at,
            read_at, used_at, has_alpha, frames, thumb_hash, blur_hash, dominant_color, source_format, source_width,
            source_height, source_pages, source_has_alpha, source_is_animated, is_truncated, source_video, source_omitted,
            CASE WHEN source_video IS NOT NULL THEN rendition ->> 'storyboard' END AS storyboard, source_size, taken_at,
            camera, shown_source(source) AS shown_source, shown_request(rendition, 1) AS shown_rendition
          FROM thumbnail;
        CREATE INDEX thumbnail_shown_source ON thumbnail((left(shown_source(source), 512) COLLATE "C"));
        \(PostgreSQLWords().libraryTables)
        \(PostgreSQLWords().libraryContent)
        \(PostgreSQLWords().factViews { "time_text(\($0))" })
        \(PostgreSQLWords().namedUploads)
        CREATE OR REPLACE FUNCTION enqueue_upload() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
        AS $$
          DECLARE
            rest text := substr(ltrim(NEW.request::text, E' \\t\\r\\n'), 2);
            more text := CASE WHEN NEW.labels IS NULL THEN '' ELSE ',"labels":' || NEW.labels::text END
              || CASE WHEN NEW.name IS NULL THEN '' ELSE ',"metadata":' || json_build_object('name', NEW.name)::text END;
          BEGIN
            IF NEW.job_id IS NOT NULL OR NEW.digest IS NOT NULL THEN
              RAISE EXCEPTION 'insert only upload(data, request, cacheKey, name, labels): Cameo sets the other columns'
                USING ERRCODE = 'integrity_constraint_violation';
            END IF;
            IF NEW.data IS NULL OR octet_length(NEW.data) NOT BETWEEN 1 AND 104857600 THEN
              RAISE EXCEPTION 'data must have 1 byte to 100 MiB' USING ERRCODE = 'check_violation';
            END IF;
            -- The text of the request stays as it is, even if the strict parser will refuse it.
            IF json_typeof(NEW.request) = 'object' AND NEW.request -> 'source' IS NULL THEN
              IF NEW.name IS NOT NULL AND NEW.request -> 'metadata' IS NOT NULL
                OR NEW.labels IS NOT NULL AND NEW.request -> 'labels' IS NOT NULL
              THEN
                RAISE EXCEPTION '\(PostgreSQLWords().refusalOfTwice)' USING ERRCODE = 'integrity_constraint_violation';
              END IF;
              INSERT INTO job(request) VALUES (('{"source":"upload:' || NEW.id || '"' || more
                || CASE WHEN ltrim(rest, E' \\t\\r\\n') LIKE '}%' THEN '' ELSE ',' END || rest)::json)
                RETURNING id INTO NEW.job_id;
            END IF;
            RETURN NEW;
          END $$;
        \(PostgreSQLWords().forgetTables)
        CREATE FUNCTION \(forgetSelected())
        -- An import brings the number with the row.
        CREATE TRIGGER forget_is_done AFTER INSERT ON forget FOR EACH ROW WHEN (NEW.seen IS NULL)
          EXECUTE FUNCTION forget_selected();
        CREATE TRIGGER forget_goes_on AFTER UPDATE OF looked ON forget FOR EACH ROW EXECUTE FUNCTION forget_selected();
        CREATE FUNCTION refuse_forgotten_source() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
          SET search_path FROM CURRENT AS $$
          BEGIN
            IF \(PostgreSQLWords().isForgottenSource) THEN RETURN NULL; END IF;
            RETURN NEW;
          END $$;
        CREATE TRIGGER source_is_forgotten BEFORE INSERT ON source FOR EACH ROW EXECUTE FUNCTION refuse_forgotten_source();
        """

    // DESIGN. A forget and an acceptance that run at the same time do not see each other, and the job may even end before the
    // forget is committed. So a forget notes the first job that arrived and that others may be accepting, and once none of those
    // is left it looks at them again, and at what they have made meanwhile.

    /// Version 12. A forget knows the jobs that were being accepted beside it, and finds those of a source by an index.
    static let forgetsBeside = """
        ALTER TABLE forget ADD COLUMN arriving bigint;
        \(PostgreSQLWords().sourceTails)
        CREATE OR REPLACE FUNCTION \(forgetSelected(noting: noting, byTail: true, beside: (madeBeside, askedBeside)))
        ALTER FUNCTION forget_selected() SET enable_seqscan = off;
        ALTER FUNCTION forget_selected() SET jit = off;
        """

    private static let noting = ",\n        arriving = (SELECT min(id) FROM arrival)"
    private static let askedBeside = "(NEW.arriving IS NULL AND task.id BETWEEN OLD.arriving AND NEW.last_job)"
    private static func madeBeside(_ id: String) -> String {
        """
        \(id) IN (SELECT \(PostgreSQLWords().item.id) FROM accepted CROSS JOIN \(PostgreSQLWords().item.list)
              WHERE NEW.arriving IS NULL AND accepted.id BETWEEN OLD.arriving AND NEW.last_job
                AND EXISTS (SELECT 1 FROM outcome WHERE outcome.id = accepted.id))
        """
    }

    private static func forgetSelected(
        noting: String = "",
        byTail: Bool = false,
        beside: (made: (String) -> String, asked: String)? = nil
    ) -> String {
        """
        forget_selected() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
          BEGIN
            IF TG_OP = 'INSERT' THEN
              IF json_typeof(NEW.selector) <> 'object'
                OR (SELECT count(*) FROM json_each(NEW.selector) WHERE key <> 'evenShared') <> 1
                OR EXISTS (SELECT 1 FROM json_each(NEW.selector) WHERE NOT CASE
                  WHEN key = 'uri' THEN json_typeof(value) = 'string' AND value #>> '{}' ~ '^(cameo://thumb/)?[0-9a-f]{32}$'
                  WHEN key IN ('source', 'prefix', 'label', 'batch')
                    THEN json_typeof(value) = 'string' AND value #>> '{}' <> ''
                  WHEN key = 'job' THEN json_typeof(value) = 'number' AND value #>> '{}' ~ '^[1-9][0-9]{0,17}$'
                  WHEN key = 'evenShared' THEN json_typeof(value) = 'boolean' ELSE false END)
              THEN
                RAISE EXCEPTION '\(PostgreSQLWords().neededSelector)' USING ERRCODE = 'check_violation';
              END IF;
              UPDATE forget SET seen = nextval('source_seen'),
                last_job = (SELECT last_value - (NOT is_called)::int FROM job_id_seq)\(noting) WHERE id = NEW.id;
            END IF;
            \(PostgreSQLWords().forgetting(byTail: byTail, beside: beside).map { "\($0);" }.joined(separator: "\n"))
            PERFORM pg_notify(TG_TABLE_SCHEMA || '.work', '');
            RETURN NULL;
          END $$;
        """
    }

    private static let videoFacts = "'video', thumbnail.source_video"

    /// Version 8. Functions that views call run with the search path of whoever reads, whose own operators must not see what
    /// the view hides: a body that is no text is bound here, and the others name the schema of what they call, and cast where
    /// they catch what is too large. And readers read no rows of originals, whose URIs may have passwords.
    static let boundCalls = """
        CREATE OR REPLACE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
          RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
        CREATE OR REPLACE FUNCTION time_text(milliseconds bigint) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
          RETURN to_char(to_timestamp(milliseconds / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
        CREATE OR REPLACE FUNCTION shown_source(source text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
          RETURN \(maskedSource);

        CREATE OR REPLACE FUNCTION field(request json, name text) RETURNS text LANGUAGE plpgsql IMMUTABLE
          PARALLEL UNSAFE AS $$
          BEGIN
            RETURN CASE WHEN \(typeOfField) 'string' THEN \(textOfField) END;
          EXCEPTION WHEN data_exception THEN RETURN NULL;
          END $$;
        CREATE OR REPLACE FUNCTION number_field(request json, name text) RETURNS integer LANGUAGE plpgsql IMMUTABLE
          PARALLEL UNSAFE AS $$
          BEGIN
            RETURN CASE WHEN \(typeOfField) 'number' THEN pg_catalog.trunc((\(textOfField))::numeric)::integer END;
          EXCEPTION WHEN data_exception THEN RETURN NULL;
          END $$;
        CREATE OR REPLACE FUNCTION time_field(request json, name text) RETURNS bigint LANGUAGE plpgsql STABLE
          PARALLEL UNSAFE AS $$
          BEGIN
            RETURN CASE WHEN \(typeOfField) 'string' THEN pg_catalog.round(
              extract(epoch FROM (\(textOfField))::timestamp with time zone) OPERATOR(pg_catalog.*) 1000)::bigint END;
          -- The latter for "infinity".
          EXCEPTION WHEN data_exception OR feature_not_supported THEN RETURN NULL;
          END $$;

        -- The originals of a URI that anyone may fetch, for those who know all of it.
        CREATE FUNCTION known_source(of text) RETURNS SETOF source LANGUAGE sql
          STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
          SELECT * FROM source WHERE text_digest(uri) = text_digest(of) AND uri = of AND scope = '' $$;
        REVOKE ALL ON FUNCTION known_source(text) FROM PUBLIC;

        \(receiptLocks)
        """

    private static let typeOfField =
        "pg_catalog.json_typeof(request OPERATOR(pg_catalog.->) name) OPERATOR(pg_catalog.=)"
    private static let textOfField = "request OPERATOR(pg_catalog.->>) name"
}

extension Schema {
    static let upkeep = """
        -- The maintenance lock: who holds it, and until when. A process that died loses it then.
        CREATE TABLE maintenance(
          one boolean PRIMARY KEY DEFAULT true CHECK (one),
          holder text,
          lease_until bigint NOT NULL DEFAULT 0
        );
        INSERT INTO maintenance DEFAULT VALUES;

        -- The beginnings of downloads that broke off.
        CREATE UNLOGGED TABLE partial(
          -- The SHA-256 of the URI.
          uri text COLLATE "C" NOT NULL,
          scope text COLLATE "C" NOT NULL,
          -- What is known of the response, in JSON.
          head text NOT NULL,
          size bigint NOT NULL CHECK (size >= 0),
          at bigint NOT NULL,
          PRIMARY KEY (uri, scope)
        );
        CREATE UNLOGGED TABLE partial_piece(
          uri text COLLATE "C" NOT NULL,
          scope text COLLATE "C" NOT NULL,
          number integer NOT NULL,
          bytes bytea NOT NULL,
          PRIMARY KEY (uri, scope, number),
          FOREIGN KEY (uri, scope) REFERENCES partial ON DELETE CASCADE
        );
        -- Pictures are compressed already.
        ALTER TABLE partial_piece ALTER COLUMN bytes SET STORAGE EXTERNAL;
        """
}
