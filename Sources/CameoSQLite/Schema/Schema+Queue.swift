internal import CameoQueue

/// The tables of requests and of the queue.
extension Schema {
    // DESIGN. A job has three kinds of row. `job` is the contract with its producer: append-only, so that a plain
    // INSERT costs no more than its own row. `task` is the queue entry: one narrow row for each accepted, unfinished
    // job, and all that a claim reads. `outcome` and `attempt` are history: appended once, pruned by age.
    //
    // Times are milliseconds since 1970. States are the numbers of `JobState.code`: 0 scheduled, 1 available, 2
    // running, 3 retryable, 4 completed, 5 discarded, 6 cancelled. CHECKs have ranges and OR where IN would list three
    // or more values: SQLite builds such a list anew for each row.

    /// The tables that producers write. `INSERT INTO job(request)` and `INSERT INTO upload(data, request)` are the
    /// public contract.
    static let producerTables = """
        CREATE TABLE job(
          id INTEGER PRIMARY KEY AUTOINCREMENT
            CONSTRAINT "insert only job(request): Cameo assigns ids" CHECK (id > 0),
          request TEXT NOT NULL
            CONSTRAINT "request must be a JSON object"
              CHECK (CASE WHEN json_valid(request) THEN json_type(request) IS 'object' ELSE 0 END)
            CONSTRAINT "request must have at most 1048576 bytes"
              CHECK (length(CAST(request AS BLOB)) <= 1048576)
            CONSTRAINT "source must be a non-empty string"
              CHECK (json_type(request, '$.source') IS 'text' AND json_extract(request, '$.source') <> '')
            CONSTRAINT "renditions must be an array of 1 to 32 objects"
              CHECK (json_type(request, '$.renditions') IS 'array'
                     AND json_array_length(request, '$.renditions') BETWEEN 1 AND 32),
          created_at INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000.0 + 0.5 AS INTEGER))
            CONSTRAINT "created_at must be in milliseconds since 1970" CHECK (created_at BETWEEN 0 AND 253402300799999)
        ) STRICT;

        -- Before the row has its id, NEW.id is -1 unless the statement chose one; the table's CHECK refuses -1 itself.
        CREATE TRIGGER job_id BEFORE INSERT ON job WHEN NEW.id IS NOT -1 BEGIN
          SELECT RAISE(ABORT, 'insert only job(request): Cameo assigns ids');
        END;
        CREATE TRIGGER job_is_kept BEFORE UPDATE ON job BEGIN
          SELECT RAISE(ABORT, 'a job is never rewritten: enqueue another');
        END;

        -- A picture's bytes with the request for it. The data moves to the blob `digest` when the job first runs.
        CREATE TABLE upload(
          id INTEGER PRIMARY KEY AUTOINCREMENT
            CONSTRAINT "insert only upload(data, request): Cameo sets the other columns" CHECK (id > 0),
          data BLOB
            CONSTRAINT "data must have 1 byte to 100 MiB"
              CHECK (data IS NULL OR length(data) BETWEEN 1 AND 104857600),
          request TEXT NOT NULL
            CONSTRAINT "request must be a JSON object"
              CHECK (CASE WHEN json_valid(request) THEN json_type(request) IS 'object' ELSE 0 END)
            CONSTRAINT "the request of an upload must have no source: its data is the source"
              CHECK (json_type(request, '$.source') IS NULL),
          job_id INTEGER REFERENCES job(id) ON DELETE CASCADE,
          digest TEXT CHECK (length(digest) = 64)
        ) STRICT;
        CREATE INDEX upload_job ON upload(job_id);

        CREATE TRIGGER upload_id BEFORE INSERT ON upload
          WHEN NEW.id IS NOT -1 OR NEW.job_id IS NOT NULL OR NEW.digest IS NOT NULL
        BEGIN
          SELECT RAISE(ABORT, 'insert only upload(data, request): Cameo sets the other columns');
        END;
        CREATE TRIGGER upload_enqueues AFTER INSERT ON upload BEGIN
          SELECT RAISE(ABORT, 'CHECK constraint failed: data must have 1 byte to 100 MiB') WHERE NEW.data IS NULL;
          INSERT INTO job(request) VALUES (json_set(NEW.request, '$.source', 'upload:' || NEW.id));
          UPDATE upload SET job_id = last_insert_rowid() WHERE id = NEW.id;
        END;
        CREATE TRIGGER upload_is_kept BEFORE UPDATE OF id, data, request ON upload
          WHEN NEW.data IS NOT NULL OR NEW.id <> OLD.id OR NEW.request <> OLD.request
        BEGIN
          SELECT RAISE(ABORT, 'an upload is never rewritten: enqueue another');
        END;

        -- What acceptance decided: the thumbnails that a request asks for, as [{"id":…,"name":…}], and its unique key.
        -- A refused request has no row.
        CREATE TABLE accepted(
          id INTEGER PRIMARY KEY REFERENCES job(id) ON DELETE CASCADE,
          queue INTEGER NOT NULL REFERENCES queue(id),
          key INTEGER NOT NULL DEFAULT 0,
          unique_key TEXT CHECK (length(unique_key) = 32),
          thumbnails TEXT NOT NULL CHECK (json_type(thumbnails) IS 'array')
        ) STRICT;
        -- Prune: whether a key still has a job, even an ended one, which may be retried.
        CREATE INDEX accepted_key ON accepted(key) WHERE key <> 0;

        -- Receipts of requests that were sent with an idempotency key, for a day.
        CREATE TABLE first_receipt(
          key TEXT PRIMARY KEY,
          -- The digest of the request.
          request TEXT NOT NULL CHECK (length(request) = 64),
          receipt TEXT NOT NULL CHECK (json_valid(receipt)),
          at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        -- Prune: the oldest.
        CREATE INDEX first_receipt_at ON first_receipt(at);

        -- Numbers that only grow: `source_seen` orders fetches across workers; all jobs up to `accepted` were accepted
        -- or refused.
        CREATE TABLE sequence(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO sequence VALUES ('accepted', 0), ('source_seen', 0);
        """

    /// Version 2. The number of the last fetch that had begun when the job was accepted, or joined: it shares only later
    /// ones.
    static let laterFetches = "ALTER TABLE task ADD COLUMN fetch_after INTEGER NOT NULL DEFAULT 0;"

    /// Version 3. What a worker's host cannot do (`HostLack`), and the queues that it takes jobs of, a JSON list; NULL: all.
    static let lacks = """
        ALTER TABLE worker ADD COLUMN queues TEXT CHECK (queues IS NULL OR json_valid(queues));
        CREATE TABLE worker_lack(
          worker TEXT NOT NULL REFERENCES worker(id) ON DELETE CASCADE,
          lack TEXT NOT NULL,
          PRIMARY KEY (worker, lack)
        ) STRICT, WITHOUT ROWID;
        """

    /// Version 12. Tenants, and queues that are fair between them. The table of lanes is made anew, because a table's UNIQUE cannot
    /// be dropped; the index lets SQLite find the tasks of each of its rows meanwhile.
    static let shares = """
        ALTER TABLE queue ADD COLUMN fair INTEGER NOT NULL DEFAULT 0 CHECK (fair IN (0, 1));
        -- What the lane had had that was claimed from last.
        ALTER TABLE queue ADD COLUMN share_floor REAL NOT NULL DEFAULT 0 CHECK (share_floor BETWEEN 0 AND 1e15);
        CREATE TABLE tenant(
          id INTEGER PRIMARY KEY,
          name TEXT NOT NULL UNIQUE,
          -- How much it gets in fair queues, beside a tenant of weight 1.
          weight REAL NOT NULL DEFAULT 1 CHECK (weight BETWEEN 0.01 AND 100)
        ) STRICT;
        -- A concurrency key is the tenant of requests that name no other.
        INSERT INTO tenant(name) SELECT name FROM key;
        ALTER TABLE task ADD COLUMN tenant INTEGER NOT NULL DEFAULT 0;
        -- What the running attempt was charged, in the unit of `lane.used`; NULL: its queue was not fair.
        ALTER TABLE task ADD COLUMN charged REAL CHECK (charged BETWEEN 0 AND 1e12);
        ALTER TABLE accepted ADD COLUMN tenant INTEGER NOT NULL DEFAULT 0;
        UPDATE task SET tenant = coalesce((
          SELECT tenant.id FROM key JOIN tenant ON tenant.name = key.name WHERE key.id = task.key), 0) WHERE key <> 0;
        UPDATE accepted SET tenant = (SELECT task.tenant FROM task WHERE task.id = accepted.id)
          WHERE id IN (SELECT id FROM task WHERE tenant <> 0);
        -- Prune: whether a tenant still has a job, even an ended one. Lists: its jobs.
        CREATE INDEX accepted_tenant ON accepted(tenant) WHERE tenant <> 0;

        PRAGMA defer_foreign_keys = ON;
        CREATE INDEX task_lane ON task(lane);
        CREATE TABLE lane_before AS SELECT lane.*, coalesce((
          SELECT tenant.id FROM key JOIN tenant ON tenant.name = key.name WHERE key.id = lane.key), 0) AS tenant FROM lane;
        DROP TABLE lane;
        -- A lane has the jobs of one queue, tenant and key; 0: none. It is shut while its key has no room, so that a job waiting
        -- for its key never blocks others.
        CREATE TABLE lane(
          id INTEGER PRIMARY KEY,
          queue INTEGER NOT NULL REFERENCES queue(id),
          key INTEGER NOT NULL,
          tenant INTEGER NOT NULL,
          -- A lower bound of the ranks of its available jobs; NULL: none.
          head INTEGER,
          shut INTEGER NOT NULL DEFAULT 0 CHECK (shut IN (0, 1)),
          -- What it has had, in milliseconds of a processor by its tenant's weight; NULL: its queue is not fair.
          used REAL CHECK (used BETWEEN 0 AND 1e15),
          -- What its recent jobs have cost on average, in milliseconds; what all have cost since its queue is fair; what
          -- those of the minute of `charged_at` and of the one before have cost.
          mean REAL NOT NULL DEFAULT 50 CHECK (mean BETWEEN 0 AND 1e9),
          spent REAL NOT NULL DEFAULT 0 CHECK (spent BETWEEN 0 AND 1e15),
          spent_minute REAL NOT NULL DEFAULT 0,
          spent_before REAL NOT NULL DEFAULT 0,
          -- When one of its attempts ended last.
          charged_at INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        INSERT INTO lane(id, queue, key, tenant, head, shut) SELECT id, queue, key, tenant, head, shut FROM lane_before;
        DROP INDEX task_lane;
        DROP TABLE lane_before;
        CREATE UNIQUE INDEX lane_place ON lane(queue, tenant, key);
        -- Claim: the lane of lowest rank in a queue, or the one that has had least.
        CREATE INDEX lane_open ON lane(queue, head) WHERE head IS NOT NULL AND shut = 0;
        CREATE INDEX lane_fair ON lane(queue, used, head) WHERE head IS NOT NULL AND shut = 0 AND used IS NOT NULL;
        -- Settle: the lanes of a key; those of a tenant that wait.
        CREATE INDEX lane_key ON lane(key) WHERE key <> 0;
        CREATE INDEX lane_share ON lane(queue, tenant) WHERE head IS NOT NULL AND used IS NOT NULL;
        -- Prune: the lanes of a tenant.
        CREATE INDEX lane_tenant ON lane(tenant) WHERE tenant <> 0;
        \(refusal(
            of: "tenant",
            where: "EXISTS (SELECT 1 FROM lane WHERE lane.tenant = OLD.id)",
            "the tenant may have jobs: `cameo-admin prune` removes tenants without any"
        ))
        """

    /// Version 4. What other programs must not delete. Their connections need not check foreign keys.
    static let refusals =
        [
            refusal(
                of: "job",
                where: isNeeded("OLD.id"),
                "the job has not ended: end it with `cameo-admin cancel`; `cameo-admin prune` removes ended jobs"
            ),
            refusal(of: "upload", where: isNeeded("OLD.job_id"), "the job of this upload has not ended"),
            refusal(
                of: "task",
                where: """
                    EXISTS (SELECT 1 FROM job WHERE job.id = OLD.id)
                      AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = OLD.id)
                    """,
                "the job has not ended: end it with `cameo-admin cancel`"
            ),
            refusal(
                of: "queue",
                where: "EXISTS (SELECT 1 FROM lane WHERE lane.queue = OLD.id)",
                "the queue may have jobs: `cameo-admin prune` removes queues without any"
            ),
            refusal(
                of: "key",
                where: "EXISTS (SELECT 1 FROM lane WHERE lane.key = OLD.id)",
                "the key may have jobs: `cameo-admin prune` removes keys without any"
            ),
            refusal(
                of: "blob",
                where: """
                    EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.blob = OLD.digest)
                      OR EXISTS (SELECT 1 FROM source WHERE source.blob = OLD.digest)
                    """,
                "the blob is in use: `cameo-admin forget` and `cameo-admin prune` remove what is not"
            ),
        ]
        .joined(separator: "\n")

    /// Whether the job of an id is in the queue or waits for acceptance.
    private static func isNeeded(_ id: String) -> String {
        """
        EXISTS (SELECT 1 FROM task WHERE task.id = \(id))
            OR (\(id) > (SELECT value FROM sequence WHERE name = 'accepted')
              AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = \(id)))
        """
    }

    private static func refusal(of table: String, where condition: String, _ reason: String) -> String {
        """
        CREATE TRIGGER \(table)_is_needed BEFORE DELETE ON \(table) WHEN \(condition) BEGIN
          SELECT RAISE(ABORT, '\(reason)');
        END;
        """
    }

    /// The tables that a claim reads.
    static let queueTables = """
        CREATE TABLE queue(
          id INTEGER PRIMARY KEY,
          name TEXT NOT NULL UNIQUE,
          paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
          -- 1: its jobs are claimed only when those of other queues are not waiting.
          background INTEGER NOT NULL DEFAULT 0 CHECK (background IN (0, 1)),
          max_running INTEGER CHECK (max_running >= 1),
          -- Jobs that may start per period, in milliseconds.
          rate_count INTEGER CHECK (rate_count >= 1),
          rate_period INTEGER CHECK (rate_period >= 1)
            CONSTRAINT "a rate must have a count and a period" CHECK ((rate_count IS NULL) = (rate_period IS NULL)),
          -- The time up to which starts are used; one period before now, all are free (generic cell rate algorithm).
          rate_spent REAL NOT NULL DEFAULT 0,
          -- When the rate allows the next job to start; 0: now.
          opens_at INTEGER NOT NULL DEFAULT 0,
          -- 1: the queue has reached max_running.
          full INTEGER NOT NULL DEFAULT 0 CHECK (full IN (0, 1)),
          -- A lower bound of the ranks in its open lanes; NULL: nothing to claim.
          head INTEGER,
          -- The hook that is told of the end of each of its jobs.
          hook TEXT
        ) STRICT;
        -- Claim: the queue of lowest rank, background queues last.
        CREATE INDEX queue_open ON queue(background, head)
          WHERE head IS NOT NULL AND paused = 0 AND opens_at = 0 AND full = 0;
        -- Claim: rates that allow a job to start again.
        CREATE INDEX queue_opening ON queue(opens_at) WHERE opens_at <> 0;

        -- Jobs of a queue by state, updated in the transaction that moves a job. Separate from the queue, so that
        -- settlements do not touch the indexes that a claim scans.
        CREATE TABLE queue_count(
          queue INTEGER PRIMARY KEY REFERENCES queue(id) ON DELETE CASCADE,
          scheduled INTEGER NOT NULL DEFAULT 0 CHECK (scheduled >= 0),
          available INTEGER NOT NULL DEFAULT 0 CHECK (available >= 0),
          running INTEGER NOT NULL DEFAULT 0 CHECK (running >= 0),
          retryable INTEGER NOT NULL DEFAULT 0 CHECK (retryable >= 0),
          completed INTEGER NOT NULL DEFAULT 0 CHECK (completed >= 0),
          discarded INTEGER NOT NULL DEFAULT 0 CHECK (discarded >= 0),
          cancelled INTEGER NOT NULL DEFAULT 0 CHECK (cancelled >= 0),
          -- How often jobs have ended, including those that were retried or removed since.
          ever_completed INTEGER NOT NULL DEFAULT 0,
          ever_discarded INTEGER NOT NULL DEFAULT 0,
          ever_cancelled INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TRIGGER queue_is_counted AFTER INSERT ON queue BEGIN
          INSERT INTO queue_count(queue) VALUES (NEW.id);
        END;

        -- Concurrency keys and their limits.
        CREATE TABLE key(
          id INTEGER PRIMARY KEY,
          name TEXT NOT NULL UNIQUE,
          max_running INTEGER NOT NULL CHECK (max_running >= 1),
          -- 1: set by an operator; requests do not change it.
          fixed INTEGER NOT NULL DEFAULT 0 CHECK (fixed IN (0, 1)),
          running INTEGER NOT NULL DEFAULT 0 CHECK (running >= 0),
          rate_count INTEGER CHECK (rate_count >= 1),
          rate_period INTEGER CHECK (rate_period >= 1)
            CONSTRAINT "a rate must have a count and a period" CHECK ((rate_count IS NULL) = (rate_period IS NULL)),
          rate_spent REAL NOT NULL DEFAULT 0,
          opens_at INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX key_opening ON key(opens_at) WHERE opens_at <> 0;

        -- A lane has the jobs of one queue and key; jobs without a key are in the lane of key 0. A lane is shut while
        -- its key has no room, so that a job waiting for its key never blocks others.
        CREATE TABLE lane(
          id INTEGER PRIMARY KEY,
          queue INTEGER NOT NULL REFERENCES queue(id),
          key INTEGER NOT NULL,
          -- A lower bound of the ranks of its available jobs; NULL: none.
          head INTEGER,
          shut INTEGER NOT NULL DEFAULT 0 CHECK (shut IN (0, 1)),
          UNIQUE (queue, key)
        ) STRICT;
        -- Claim: the lane of lowest rank in a queue.
        CREATE INDEX lane_open ON lane(queue, head) WHERE head IS NOT NULL AND shut = 0;
        -- Settle: the lanes of a key.
        CREATE INDEX lane_key ON lane(key) WHERE key <> 0;

        CREATE TABLE task(
          id INTEGER PRIMARY KEY REFERENCES job(id) ON DELETE CASCADE,
          queue INTEGER NOT NULL REFERENCES queue(id),
          key INTEGER NOT NULL DEFAULT 0,
          lane INTEGER NOT NULL REFERENCES lane(id),
          state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
          priority INTEGER NOT NULL,
          due INTEGER NOT NULL,
          -- The order of claims, lowest first: `due` minus a minute per step of priority, then the id.
          rank INTEGER NOT NULL,
          attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
          max_attempts INTEGER NOT NULL CHECK (max_attempts >= 1),
          crash_count INTEGER NOT NULL DEFAULT 0 CHECK (crash_count >= 0),
          -- All claims so far, counted as attempts or not; the running attempt's number.
          tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
          attempted_at INTEGER,
          -- The number of the last failed attempt.
          failed INTEGER,
          refresh INTEGER NOT NULL DEFAULT 1 CHECK (refresh BETWEEN 0 AND 2),
          unique_key TEXT,
          -- The upload that contains the picture, until it becomes a blob.
          upload INTEGER,
          -- 1: its end is to be delivered to the hooks in `job_hook`.
          hooked INTEGER NOT NULL DEFAULT 0 CHECK (hooked IN (0, 1)),
          token TEXT,
          worker TEXT,
          CONSTRAINT "only a running job has a claim" CHECK (
            (state = 2) = (token IS NOT NULL) AND (state = 2) = (worker IS NOT NULL))
        ) STRICT;
        \(SQLiteWords().taskIndexes)
        -- Enqueue: at most one waiting job per unique key.
        CREATE UNIQUE INDEX task_unique ON task(unique_key) WHERE state <> 2;
        -- Lists: jobs with a failure.
        CREATE INDEX task_failed ON task(id) WHERE failed IS NOT NULL;
        """
}
