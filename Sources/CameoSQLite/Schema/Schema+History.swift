extension Schema {
    /// Version 5. How many ended jobs of a batch retention has removed, so that its counts outlive them; `code` is that of
    /// a failure, or empty.
    static let removedJobs = """
        CREATE TABLE batch_removed(
          batch INTEGER NOT NULL REFERENCES batch(id) ON DELETE CASCADE,
          state INTEGER NOT NULL,
          code TEXT NOT NULL,
          jobs INTEGER NOT NULL,
          PRIMARY KEY (batch, state, code)
        ) STRICT, WITHOUT ROWID;
        """

    static let counters = """
        CREATE TABLE counter(
          family TEXT NOT NULL,
          label TEXT NOT NULL,
          value INTEGER NOT NULL,
          PRIMARY KEY (family, label)
        ) STRICT, WITHOUT ROWID;
        """

    /// What became of jobs, which batches they belong to, and the workers.
    static let history = """
        CREATE TABLE outcome(
          id INTEGER PRIMARY KEY REFERENCES job(id) ON DELETE CASCADE,
          state INTEGER NOT NULL CHECK (state BETWEEN 4 AND 6),
          queue INTEGER NOT NULL REFERENCES queue(id),
          priority INTEGER NOT NULL,
          available_at INTEGER NOT NULL,
          attempt INTEGER NOT NULL,
          max_attempts INTEGER NOT NULL,
          crash_count INTEGER NOT NULL,
          attempted_at INTEGER,
          finalized_at INTEGER NOT NULL,
          failure TEXT CHECK (failure IS NULL OR json_valid(failure)),
          code TEXT CHECK ((code IS NULL) = (failure IS NULL)),
          superseded_by INTEGER CHECK (superseded_by IS NULL OR state = 6),
          CONSTRAINT "a discarded job must have a failure" CHECK (state <> 5 OR failure IS NOT NULL)
        ) STRICT;
        -- Prune: the oldest outcomes; status: the newest.
        CREATE INDEX outcome_end ON outcome(state, finalized_at);
        -- Lists: by queue and by failure code.
        CREATE INDEX outcome_queue ON outcome(queue);
        CREATE INDEX outcome_code ON outcome(code) WHERE code IS NOT NULL;

        -- One row per attempt, written when it ends.
        CREATE TABLE attempt(
          job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          number INTEGER NOT NULL CHECK (number >= 1),
          worker TEXT NOT NULL,
          started_at INTEGER NOT NULL,
          finished_at INTEGER NOT NULL,
          outcome TEXT NOT NULL CHECK (
            outcome = 'completed' OR outcome = 'retryable' OR outcome = 'discarded' OR outcome = 'cancelled'
            OR outcome = 'released' OR outcome = 'interrupted'),
          failure TEXT CHECK (failure IS NULL OR json_valid(failure)),
          -- Times spent waiting for a host or memory, fetching, waiting for a renderer, rendering, and storing.
          wait_ms INTEGER,
          fetch_ms INTEGER,
          queue_ms INTEGER,
          render_ms INTEGER,
          store_ms INTEGER,
          source_bytes INTEGER,
          output_bytes INTEGER,
          PRIMARY KEY (job_id, number)
        ) STRICT, WITHOUT ROWID;

        -- Numbers that only grow (StoreCounters).
        \(counters)

        -- Every change of a job's state, in commit order. The last row is never removed, because the next number
        -- follows it.
        CREATE TABLE change(
          seq INTEGER PRIMARY KEY,
          job_id INTEGER NOT NULL,
          state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
          at INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE batch(
          id INTEGER PRIMARY KEY,
          name TEXT NOT NULL UNIQUE
        ) STRICT;
        -- A job belongs to the batch of its request and to those of requests that joined it.
        CREATE TABLE batch_job(
          batch INTEGER NOT NULL REFERENCES batch(id),
          job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          -- The unique key of a request that needed no job.
          answered TEXT,
          PRIMARY KEY (batch, job_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX batch_job_id ON batch_job(job_id);
        CREATE INDEX batch_job_answered ON batch_job(batch, answered) WHERE answered IS NOT NULL;

        -- The stored inputs of a job (source and overlays): thumbnails by id, blobs by digest.
        CREATE TABLE ingredient(
          name TEXT NOT NULL,
          job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          PRIMARY KEY (name, job_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX ingredient_job ON ingredient(job_id);
        -- Collection drops a blob from `orphan` while a job references it, so it is recorded again here.
        CREATE TRIGGER ingredient_left AFTER DELETE ON ingredient WHEN length(OLD.name) = 64 BEGIN
          INSERT INTO orphan VALUES (OLD.name, CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER))
            ON CONFLICT DO UPDATE SET since = excluded.since;
        END;

        -- One row per worker process; the lock on `workers/<id>.lock` shows whether it is alive.
        CREATE TABLE worker(
          id TEXT PRIMARY KEY CONSTRAINT "a worker's id must be a valid file name" CHECK (
            length(CAST(id AS BLOB)) BETWEEN 1 AND 64 AND length(id) = length(CAST(id AS BLOB))
            AND id NOT GLOB '*[^A-Za-z0-9_.-]*' AND id NOT GLOB '.*'),
          host TEXT NOT NULL,
          pid INTEGER NOT NULL,
          version TEXT NOT NULL,
          concurrency INTEGER NOT NULL,
          renderers INTEGER NOT NULL DEFAULT 0,
          -- The version of the pictures that it makes; NULL: unknown.
          renderer_version TEXT,
          -- When it takes jobs of background queues; NULL: always.
          quiet_hours TEXT,
          started_at INTEGER NOT NULL,
          boot_id TEXT NOT NULL,
          lease_until INTEGER NOT NULL,
          -- How far its downloads had come when it last extended its lease.
          transfers TEXT CHECK (transfers IS NULL OR json_valid(transfers)),
          -- Set by an operator; the worker reads it at every sweep.
          stop_requested_at INTEGER,
          stop_mode TEXT CHECK (stop_mode IN ('drain', 'stop'))
            CONSTRAINT "a stop request must have a mode" CHECK ((stop_mode IS NULL) = (stop_requested_at IS NULL))
        ) STRICT, WITHOUT ROWID;
        """
}

extension Schema {
    // DESIGN. Most jobs name no hook, and those have no row here: `task.hooked` tells. What a hooked job names is in
    // `job_hook`; its end adds a row to `delivery` for each hook, in the transaction of the end, so that no crash comes
    // between the two. A delivery is claimed and fenced as a job is: by a worker that is alive, and by the number of
    // the try.

    /// Hooks and their deliveries.
    static let hooks = """
        CREATE TABLE job_hook(
          job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          hook TEXT NOT NULL,
          -- The job whose request named the hook: this one, or one that it superseded.
          named_by INTEGER NOT NULL,
          PRIMARY KEY (job_id, hook, named_by)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE delivery(
          seq INTEGER PRIMARY KEY,
          -- By which a receiver recognizes a delivery that it has already had.
          id TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(16)))),
          job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          hook TEXT NOT NULL,
          -- How the job ended. The job's own rows change if it is retried.
          state INTEGER NOT NULL CHECK (state BETWEEN 4 AND 6),
          ended_at INTEGER NOT NULL,
          failure TEXT CHECK (failure IS NULL OR json_valid(failure)),
          -- 0 waiting, 1 running, 2 delivered, 3 given up.
          status INTEGER NOT NULL DEFAULT 0 CHECK (status BETWEEN 0 AND 3),
          -- When it is due or, once delivered or given up, when that was.
          at INTEGER NOT NULL,
          -- From when its age counts: the end of the job, or an operator's retry.
          since INTEGER NOT NULL,
          tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
          -- Failed tries in a row, which decide the delay before the next.
          failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
          worker TEXT,
          -- Why the last try failed.
          trouble TEXT,
          CONSTRAINT "a running delivery must have a worker" CHECK ((status = 1) = (worker IS NOT NULL))
        ) STRICT;
        -- Claim: what is due for a hook; reports: counts.
        CREATE INDEX delivery_due ON delivery(hook, status, at);
        -- Rescue: the deliveries of a worker.
        CREATE INDEX delivery_worker ON delivery(worker) WHERE worker IS NOT NULL;
        CREATE INDEX delivery_job ON delivery(job_id);

        -- The hooks that a worker can deliver to.
        CREATE TABLE worker_hook(
          worker TEXT NOT NULL REFERENCES worker(id) ON DELETE CASCADE,
          hook TEXT NOT NULL,
          PRIMARY KEY (worker, hook)
        ) STRICT, WITHOUT ROWID;
        """
}
