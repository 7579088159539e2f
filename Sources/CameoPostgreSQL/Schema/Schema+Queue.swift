internal import CameoQueue

/// The tables that producers write, and those of the queue.
extension Schema {
    // DESIGN. A job has three kinds of row. `job` is the contract with its producer: append-only, so that a plain
    // INSERT, in the producer's own transaction beside its own rows, costs little more than its own row. `task` is the
    // queue entry: one narrow row for each accepted, unfinished job, and all that a claim reads. `outcome` and
    // `earlier_attempt` are history: appended once, partitioned by time.
    //
    // Times are milliseconds since 1970 by the server's clock. States are the numbers of `JobState.code`: 0 scheduled, 1
    // available, 2 running, 3 retryable, 4 completed, 5 discarded, 6 cancelled. Names compare by bytes (COLLATE "C").
    //
    // Transactions of many workers commit at the same time, so no row is written by all of them. Changes of counts are
    // appended (`queue_delta`, `total_delta`) and folded into their rows later. What limits a claim is counted from the
    // running tasks themselves.

    /// The tables that producers write. `INSERT INTO job(request)` and `INSERT INTO upload(data, request)` are the
    /// public contract. The type `json` keeps a request's text exactly.
    static let producerTables = """
        CREATE TABLE job(
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          request json NOT NULL
            CONSTRAINT "request must be a JSON object" CHECK (json_typeof(request) = 'object')
            CONSTRAINT "request must have at most 1048576 bytes" CHECK (octet_length(request::text) <= 1048576)
            CONSTRAINT "source must be a non-empty string"
              CHECK (json_typeof(request) <> 'object'
                OR (json_typeof(request -> 'source') = 'string' AND request ->> 'source' <> '') IS TRUE)
            CONSTRAINT "renditions must be an array of 1 to 32 objects"
              CHECK (json_typeof(request) <> 'object'
                OR (CASE WHEN json_typeof(request -> 'renditions') = 'array'
                  THEN json_array_length(request -> 'renditions') BETWEEN 1 AND 32 END) IS TRUE),
          created_at bigint NOT NULL DEFAULT now_ms()
            CONSTRAINT "created_at must be in milliseconds since 1970"
              CHECK (created_at BETWEEN 0 AND 253402300799999)
        );

        CREATE FUNCTION refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN
            RAISE EXCEPTION 'a job is never rewritten: enqueue another' USING ERRCODE = 'integrity_constraint_violation';
          END $$;
        CREATE TRIGGER job_is_kept BEFORE UPDATE ON job FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();

        -- Jobs that a producer's SQL inserted and that no Cameo process has accepted yet. Ids do not become visible in
        -- their order, so no highest id could tell which these are.
        CREATE TABLE arrival(id bigint PRIMARY KEY) WITH (
          -- Rows live for milliseconds; without frequent vacuums the reader of the first ones passes all dead ones.
          autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

        CREATE FUNCTION note_arrivals() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
        AS $$
          BEGIN
            -- Cameo's own enqueuers accept in the same transaction.
            IF coalesce(current_setting('cameo.accepts', true), '') <> 'on' THEN
              INSERT INTO arrival SELECT id FROM added;
              PERFORM pg_notify(TG_TABLE_SCHEMA || '.work', '');
            END IF;
            RETURN NULL;
          END $$;
        CREATE TRIGGER job_arrives AFTER INSERT ON job REFERENCING NEW TABLE AS added
          FOR EACH STATEMENT EXECUTE FUNCTION note_arrivals();

        -- A picture's bytes with the request for it. The data moves to the blob `digest` when the job first runs.
        CREATE TABLE upload(
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          data bytea
            CONSTRAINT "data must have 1 byte to 100 MiB"
              CHECK (data IS NULL OR octet_length(data) BETWEEN 1 AND 104857600),
          request json NOT NULL
            CONSTRAINT "request must be a JSON object" CHECK (json_typeof(request) = 'object')
            CONSTRAINT "the request of an upload has no source: its data is the source"
              CHECK (request -> 'source' IS NULL),
          job_id bigint REFERENCES job(id) ON DELETE CASCADE,
          digest text COLLATE "C" CHECK (length(digest) = 64)
        );
        ALTER TABLE upload ALTER COLUMN data SET STORAGE EXTERNAL;
        CREATE INDEX upload_job ON upload(job_id);

        CREATE FUNCTION enqueue_upload() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
        AS $$
          DECLARE rest text := substr(ltrim(NEW.request::text, E' \\t\\r\\n'), 2);
          BEGIN
            IF NEW.job_id IS NOT NULL OR NEW.digest IS NOT NULL THEN
              RAISE EXCEPTION 'insert only upload(data, request): Cameo sets the other columns'
                USING ERRCODE = 'integrity_constraint_violation';
            END IF;
            IF NEW.data IS NULL OR octet_length(NEW.data) NOT BETWEEN 1 AND 104857600 THEN
              RAISE EXCEPTION 'data must have 1 byte to 100 MiB' USING ERRCODE = 'check_violation';
            END IF;
            -- The text of the request stays as it is, even if the strict parser will refuse it.
            IF json_typeof(NEW.request) = 'object' AND NEW.request -> 'source' IS NULL THEN
              INSERT INTO job(request) VALUES (('{"source":"upload:' || NEW.id || '"'
                || CASE WHEN ltrim(rest, E' \\t\\r\\n') LIKE '}%' THEN '' ELSE ',' END || rest)::json)
                RETURNING id INTO NEW.job_id;
            END IF;
            RETURN NEW;
          END $$;
        CREATE TRIGGER upload_enqueues BEFORE INSERT ON upload FOR EACH ROW EXECUTE FUNCTION enqueue_upload();

        CREATE FUNCTION refuse_other_upload() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN
            RAISE EXCEPTION 'an upload is never rewritten: enqueue another'
              USING ERRCODE = 'integrity_constraint_violation';
          END $$;
        CREATE TRIGGER upload_is_kept BEFORE UPDATE OF id, data, request ON upload FOR EACH ROW
          WHEN (NEW.data IS NOT NULL OR NEW.id <> OLD.id OR NEW.request::text <> OLD.request::text)
          EXECUTE FUNCTION refuse_other_upload();

        -- What acceptance decided: the thumbnails that a request asks for, as [{"id":…,"name":…}], and its unique key.
        -- A refused request has no row. No foreign key: each would lock and rewrite the header of a row of `job`.
        CREATE TABLE accepted(
          id bigint PRIMARY KEY,
          queue bigint NOT NULL,
          key bigint NOT NULL DEFAULT 0,
          unique_key text COLLATE "C" CHECK (length(unique_key) = 32),
          thumbnails json NOT NULL CHECK (json_typeof(thumbnails) = 'array')
        );
        -- Prune: whether a key or queue still has a job, even an ended one, which may be retried.
        CREATE INDEX accepted_key ON accepted(key) WHERE key <> 0;
        CREATE INDEX accepted_queue ON accepted(queue);

        -- Receipts of requests that were sent with an idempotency key, for a day.
        CREATE TABLE first_receipt(
          key text COLLATE "C" PRIMARY KEY,
          -- The digest of the request.
          request text COLLATE "C" NOT NULL CHECK (length(request) = 64),
          receipt json NOT NULL,
          at bigint NOT NULL
        );
        -- Prune: the oldest.
        CREATE INDEX first_receipt_at ON first_receipt(at);

        -- Orders fetches across workers.
        CREATE SEQUENCE source_seen;
        -- Numbers that commits change which change no job: see `version`.
        CREATE TABLE sequence(name text PRIMARY KEY, value bigint NOT NULL);
        INSERT INTO sequence VALUES ('version', 0);
        """

    /// The tables that a claim reads.
    static let queueTables = """
        CREATE TABLE queue(
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          name text COLLATE "C" NOT NULL UNIQUE,
          paused boolean NOT NULL DEFAULT false,
          -- Its jobs are claimed only when those of other queues are not waiting.
          background boolean NOT NULL DEFAULT false,
          max_running integer CHECK (max_running >= 1),
          -- Jobs that may start per period, in milliseconds.
          rate_count integer CHECK (rate_count >= 1),
          rate_period bigint CHECK (rate_period >= 1),
          -- The time up to which starts are used; one period before now, all are free (generic cell rate algorithm).
          rate_spent double precision NOT NULL DEFAULT 0,
          -- When the rate allows the next job to start; 0: now.
          opens_at bigint NOT NULL DEFAULT 0,
          -- The hook that is told of the end of each of its jobs.
          hook text COLLATE "C",
          CONSTRAINT "a rate must have a count and a period" CHECK ((rate_count IS NULL) = (rate_period IS NULL))
        );
        -- Claim: rates that allow a job to start again.
        CREATE INDEX queue_opening ON queue(opens_at) WHERE opens_at <> 0;

        -- Jobs of a queue by state, without the changes in `queue_delta`; the view `queue_total` adds them.
        CREATE TABLE queue_count(
          queue bigint PRIMARY KEY REFERENCES queue(id) ON DELETE CASCADE,
        \(countColumns)
        );
        -- No foreign key: each would lock and rewrite the header of the queue's row.
        CREATE TABLE queue_delta(
          queue bigint NOT NULL,
        \(countColumns)
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
        CREATE INDEX queue_delta_queue ON queue_delta(queue);
        CREATE FUNCTION count_queue() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
          BEGIN
            IF TG_OP = 'INSERT' THEN
              INSERT INTO queue_count(queue) VALUES (NEW.id);
            ELSE
              DELETE FROM queue_delta WHERE queue = OLD.id;
            END IF;
            RETURN NULL;
          END $$;
        CREATE TRIGGER queue_is_counted AFTER INSERT OR DELETE ON queue FOR EACH ROW EXECUTE FUNCTION count_queue();

        -- Concurrency keys and their limits. A key's running jobs are counted by the index `task_key_running`.
        CREATE TABLE key(
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          name text COLLATE "C" NOT NULL UNIQUE,
          max_running integer NOT NULL CHECK (max_running >= 1),
          -- Set by an operator; requests do not change it.
          fixed boolean NOT NULL DEFAULT false,
          rate_count integer CHECK (rate_count >= 1),
          rate_period bigint CHECK (rate_period >= 1),
          rate_spent double precision NOT NULL DEFAULT 0,
          opens_at bigint NOT NULL DEFAULT 0,
          CONSTRAINT "a rate must have a count and a period" CHECK ((rate_count IS NULL) = (rate_period IS NULL))
        );
        CREATE INDEX key_opening ON key(opens_at) WHERE opens_at <> 0;

        -- A lane has the jobs of one queue and key; jobs without a key are in the lane of key 0.
        CREATE TABLE lane(
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          queue bigint NOT NULL REFERENCES queue(id),
          key bigint NOT NULL,
          -- A lower bound of the ranks of its available jobs; NULL: none. Only of lanes with a key. Whoever makes a job
          -- available lowers it after that and before the commit, and a claim that raises it locks the lane first: so
          -- no job is ever below it.
          head bigint,
          UNIQUE (queue, key)
        ) WITH (fillfactor = 50);
        -- Claim: a queue's lanes of lowest rank.
        CREATE INDEX lane_open ON lane(queue, head) WHERE head IS NOT NULL;
        CREATE INDEX lane_key ON lane(key) WHERE key <> 0;

        -- Every job passes through here once: an insert, about two updates of indexed columns and a delete. So the table
        -- is vacuumed after each five thousand dead rows, whatever its size and as fast as can be, or claims would pass
        -- the dead entries at the start of their index; and pages have room for the next version of a row.
        CREATE TABLE task(
          id bigint PRIMARY KEY,
          queue bigint NOT NULL,
          key bigint NOT NULL DEFAULT 0,
          lane bigint NOT NULL,
          state smallint NOT NULL CHECK (state BETWEEN 0 AND 3),
          priority integer NOT NULL,
          due bigint NOT NULL,
          -- The order of claims, lowest first: `due` minus a minute per step of priority, then the id.
          rank bigint NOT NULL,
          attempt integer NOT NULL DEFAULT 0 CHECK (attempt >= 0),
          max_attempts integer NOT NULL CHECK (max_attempts >= 1),
          crash_count integer NOT NULL DEFAULT 0 CHECK (crash_count >= 0),
          -- All claims so far, counted as attempts or not; the running attempt's number.
          tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
          attempted_at bigint,
          -- The number of the last failed attempt.
          failed integer,
          refresh smallint NOT NULL DEFAULT 1 CHECK (refresh BETWEEN 0 AND 2),
          unique_key text COLLATE "C",
          -- The upload that contains the picture, until it becomes a blob.
          upload bigint,
          -- Its end is to be delivered to the hooks in `job_hook`.
          hooked boolean NOT NULL DEFAULT false,
          -- The number of the last fetch that had begun when the job was accepted, or joined: it shares only later ones.
          fetch_after bigint NOT NULL DEFAULT 0,
          token text COLLATE "C",
          worker text COLLATE "C",
          CONSTRAINT "only a running job has a claim" CHECK (
            (state = 2) = (token IS NOT NULL) AND (state = 2) = (worker IS NOT NULL))
        ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
          autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000);
        \(PostgreSQLWords().taskIndexes)
        -- Claim: how many jobs of a limited queue or key are running.
        CREATE INDEX task_queue_running ON task(queue) WHERE state = 2;
        CREATE INDEX task_key_running ON task(key) WHERE state = 2 AND key <> 0;
        -- Enqueue: at most one waiting job per unique key.
        CREATE UNIQUE INDEX task_unique ON task(unique_key) WHERE state <> 2;
        -- Lists: jobs with a failure.
        CREATE INDEX task_failed ON task(id) WHERE failed IS NOT NULL;
        """

    /// Jobs by state, and how often jobs have ended, including those that were retried or removed since.
    private static let countColumns = Ledger.Counts.columns.map { "  \($0) bigint NOT NULL DEFAULT 0" }.joined(
        separator: ",\n"
    )
}
