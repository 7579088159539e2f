internal import CameoQueue

/// The tables of what has happened, and of counts.
extension Schema {
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

        \(SQLiteWords().batchTables)
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
