extension Schema {
    /// The feed of changes; see ``ChangeFeed``.
    static let changes = """
        -- Changes as they are entered. Autovacuum runs early: each row lives for about a second, and the scan for the
        -- oldest passes over the dead ones before it.
        CREATE TABLE new_change(
          entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          job_id bigint NOT NULL,
          state smallint NOT NULL CHECK (state BETWEEN 0 AND 6),
          at bigint NOT NULL
        ) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);

        -- Every change of a job's state, in commit order, without gaps. The number of the last one is in `sequence`.
        CREATE TABLE change(
          seq bigint PRIMARY KEY,
          job_id bigint NOT NULL,
          state smallint NOT NULL CHECK (state BETWEEN 0 AND 6),
          at bigint NOT NULL
        );
        INSERT INTO sequence(name, value) VALUES ('change', 0);
        """
}
