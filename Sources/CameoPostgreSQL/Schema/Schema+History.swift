internal import CameoQueue

/// The tables of what has ended, of batches and of workers.
extension Schema {
    /// What became of jobs, which batches they belong to, and the workers.
    static let history = """
        -- Partitioned by week, so that what retention removes leaves no dead rows behind (``Partitions``). Rows of
        -- times without a partition go to the default one, so that no insert fails. No foreign keys: each would lock and
        -- rewrite the header of a row of `job`; `job_is_removed` cascades instead.
        CREATE TABLE outcome(
          id bigint NOT NULL,
          state smallint NOT NULL CHECK (state BETWEEN 4 AND 6),
          queue bigint NOT NULL,
          priority integer NOT NULL,
          available_at bigint NOT NULL,
          attempt integer NOT NULL,
          max_attempts integer NOT NULL,
          crash_count integer NOT NULL,
          attempted_at bigint,
          finalized_at bigint NOT NULL,
          failure json,
          code text COLLATE "C" CHECK ((code IS NULL) = (failure IS NULL)),
          superseded_by bigint CHECK (superseded_by IS NULL OR state = 6),
          -- The attempt that ended with the job, if one did; see `attempt`.
          number integer CHECK (number >= 1),
          worker text COLLATE "C",
        \(timeColumns),
          PRIMARY KEY (id, finalized_at),
          CONSTRAINT "an attempt must have a number, a worker and a start" CHECK (
            (number IS NULL) = (worker IS NULL) AND (number IS NULL OR attempted_at IS NOT NULL)),
          CONSTRAINT "a discarded job must have a failure" CHECK (state <> 5 OR failure IS NOT NULL)
        ) PARTITION BY RANGE (finalized_at);
        CREATE TABLE outcome_other PARTITION OF outcome DEFAULT;
        -- Prune: the oldest outcomes; status: the newest.
        CREATE INDEX outcome_end ON outcome(state, finalized_at);
        -- Lists: by queue and by failure code.
        CREATE INDEX outcome_queue ON outcome(queue, id);
        CREATE INDEX outcome_code ON outcome(code, id) WHERE code IS NOT NULL;

        -- The attempts that are not in an outcome, a row each, written when they end. Most jobs need one attempt, and a
        -- second row for it would cost as much as the outcome.
        CREATE TABLE earlier_attempt(
          job_id bigint NOT NULL,
          number integer NOT NULL CHECK (number >= 1),
          worker text COLLATE "C" NOT NULL,
          started_at bigint NOT NULL,
          finished_at bigint NOT NULL,
          outcome text COLLATE "C" NOT NULL CHECK (
            outcome IN ('completed', 'retryable', 'discarded', 'cancelled', 'released', 'interrupted')),
          failure json,
        \(timeColumns),
          PRIMARY KEY (job_id, number, finished_at)
        ) PARTITION BY RANGE (finished_at);
        CREATE TABLE earlier_attempt_other PARTITION OF earlier_attempt DEFAULT;
        -- All attempts that have ended.
        CREATE VIEW attempt AS
          SELECT \(firstAttemptColumns) FROM earlier_attempt
          UNION ALL
          SELECT \(firstFinalAttempt) FROM outcome WHERE number IS NOT NULL;
        -- Those of the first weeks; maintenance goes on.
        DO $$
          DECLARE week bigint := 604800000;
          BEGIN
            FOR number IN now_ms() / week .. now_ms() / week + 4 LOOP
              EXECUTE format('CREATE TABLE outcome_w%s PARTITION OF outcome FOR VALUES FROM (%s) TO (%s)',
                number, number * week, (number + 1) * week);
              EXECUTE format('CREATE TABLE earlier_attempt_w%s PARTITION OF earlier_attempt FOR VALUES FROM (%s) TO (%s)',
                number, number * week, (number + 1) * week);
            END LOOP;
          END $$;

        -- What is kept about a job goes with it. Tables with a foreign key cascade by themselves.
        CREATE FUNCTION remove_with_job() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
        AS $$
          BEGIN
            DELETE FROM arrival USING removed WHERE arrival.id = removed.id;
            DELETE FROM task USING removed WHERE task.id = removed.id;
            DELETE FROM accepted USING removed WHERE accepted.id = removed.id;
            DELETE FROM outcome USING removed WHERE outcome.id = removed.id;
            DELETE FROM earlier_attempt USING removed WHERE earlier_attempt.job_id = removed.id;
            RETURN NULL;
          END $$;
        CREATE TRIGGER job_is_removed AFTER DELETE ON job REFERENCING OLD TABLE AS removed
          FOR EACH STATEMENT EXECUTE FUNCTION remove_with_job();

        -- Numbers that only grow (StoreCounters).
        CREATE TABLE counter(
          family text COLLATE "C" NOT NULL,
          label text COLLATE "C" NOT NULL,
          value bigint NOT NULL,
          PRIMARY KEY (family, label)
        );

        \(PostgreSQLWords().batchTables)

        -- One row per worker process, alive while its lease lasts.
        CREATE TABLE worker(
          id text COLLATE "C" PRIMARY KEY CONSTRAINT "a worker's id must be 1 to 64 of A-Z a-z 0-9 _ - ."
            CHECK (id ~ '^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$'),
          host text NOT NULL,
          pid bigint NOT NULL,
          version text NOT NULL,
          concurrency integer NOT NULL,
          renderers integer NOT NULL DEFAULT 0,
          -- The version of the pictures that it makes; NULL: unknown.
          renderer_version text,
          -- When it takes jobs of background queues; NULL: always.
          quiet_hours text,
          started_at bigint NOT NULL,
          -- By the server's clock.
          lease_until bigint NOT NULL,
          -- The jobs that were taken from it when its lease ended. They are to blame for its death if it stays silent
          -- for as long again.
          suspects bigint[] NOT NULL DEFAULT '{}',
          -- How far its downloads had come when it last extended its lease.
          transfers json,
          -- Set by an operator; the worker reads it at every sweep.
          stop_requested_at bigint,
          stop_mode text CHECK (stop_mode IN ('drain', 'stop')),
          CONSTRAINT "a stop request must have a mode" CHECK ((stop_mode IS NULL) = (stop_requested_at IS NULL))
        ) WITH (fillfactor = 50);
        """

    private static let timeColumns = """
          -- Times spent waiting for a host or memory, fetching, waiting for a renderer, rendering, and storing.
          wait_ms bigint,
          fetch_ms bigint,
          queue_ms bigint,
          render_ms bigint,
          store_ms bigint,
          source_bytes bigint,
          output_bytes bigint
        """

    /// The columns of `AttemptTimings` as version 1 named them: what a script says is frozen.
    static let timings = "wait_ms, fetch_ms, queue_ms, render_ms, store_ms, source_bytes, output_bytes"

    /// What ``attemptColumns`` and ``finalAttempt`` were in version 1.
    private static let firstAttemptColumns = """
        job_id, number, worker, started_at, finished_at, outcome, failure, \(timings)
        """
    private static let firstFinalAttempt = """
        id, number, worker, attempted_at, finalized_at,
            CASE state WHEN 4 THEN 'completed' WHEN 5 THEN 'discarded' ELSE 'cancelled' END, failure,
            \(timings)
        """

    /// The columns of `attempt` and `earlier_attempt`.
    static let attemptColumns = "\(firstAttemptColumns), cpu_ms"
    /// The same of the attempt in a row of `outcome`, which ended as the job did.
    static let finalAttempt = "\(firstFinalAttempt), cpu_ms"

    /// Version 2. What a worker's host cannot do (`HostLack`), and the queues that it takes jobs of; NULL: all.
    static let lacks = """
        ALTER TABLE worker ADD COLUMN queues text[];
        CREATE TABLE worker_lack(
          worker text COLLATE "C" NOT NULL REFERENCES worker(id) ON DELETE CASCADE,
          lack text COLLATE "C" NOT NULL,
          PRIMARY KEY (worker, lack)
        );
        """

    /// Version 13. What attempts cost: processor time in milliseconds.
    static let costs = """
        ALTER TABLE outcome ADD COLUMN cpu_ms bigint;
        ALTER TABLE earlier_attempt ADD COLUMN cpu_ms bigint;
        CREATE OR REPLACE VIEW attempt AS
          SELECT \(firstAttemptColumns), cpu_ms FROM earlier_attempt
          UNION ALL
          SELECT \(firstFinalAttempt), cpu_ms FROM outcome WHERE number IS NOT NULL;
        """
}
