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
