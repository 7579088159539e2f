extension Schema {
    /// The feed of changes; see ``ChangeFeed``.
    static let changes = """
        -- The changes of a transaction, until they are numbered: a row for each would cost as much as the outcome. Each
        -- row lives for about a second, so that autovacuum runs early, and compression would be in vain.
        CREATE TABLE new_change(
          entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          jobs bigint[] NOT NULL,
          states smallint[] NOT NULL CHECK (0 <= ALL (states) AND 6 >= ALL (states)),
          at bigint NOT NULL,
          CONSTRAINT "a change has a job and a state" CHECK (cardinality(jobs) = cardinality(states))
        ) WITH (toast_tuple_target = 8160, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0,
          autovacuum_vacuum_cost_delay = 0);
        ALTER TABLE new_change ALTER COLUMN jobs SET STORAGE EXTERNAL, ALTER COLUMN states SET STORAGE EXTERNAL;

        -- Every change of a job's state, in commit order, without gaps.
        CREATE TABLE change(
          seq bigint PRIMARY KEY,
          job_id bigint NOT NULL,
          state smallint NOT NULL CHECK (state BETWEEN 0 AND 6),
          at bigint NOT NULL
        );
        CREATE TABLE feed(
          one boolean PRIMARY KEY DEFAULT true CHECK (one),
          -- The number of the last change.
          last bigint NOT NULL DEFAULT 0,
          -- All entries up to this one are numbered or were rolled back.
          low bigint NOT NULL DEFAULT 0,
          -- What `low` will be once all transactions before the one of this number have ended.
          next_low bigint NOT NULL DEFAULT 0,
          next_xid xid8 NOT NULL DEFAULT '0'
        ) WITH (fillfactor = 50);
        INSERT INTO feed DEFAULT VALUES;
        """
}
