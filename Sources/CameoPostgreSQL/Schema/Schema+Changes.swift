/// The tables of the feed.
extension Schema {
    /// The feed of changes; see ``ChangeNumbers``.
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

        -- Every change of a job's state, in commit order. Changes have numbers without gaps; a row has those of one
        -- transaction, up to the number `last`.
        CREATE TABLE change(
          last bigint PRIMARY KEY,
          jobs bigint[] NOT NULL,
          states smallint[] NOT NULL CHECK (0 <= ALL (states) AND 6 >= ALL (states)),
          at bigint NOT NULL,
          CONSTRAINT "a change has a job and a state" CHECK (cardinality(jobs) = cardinality(states))
        );
        -- The changes after a number, at most so many. No row after the one that has the last of them is read.
        CREATE FUNCTION changes_since(number bigint, many bigint)
          RETURNS TABLE (seq bigint, job_id bigint, state smallint, at bigint) LANGUAGE sql STABLE
        AS $$
          WITH first AS (
            SELECT greatest(number, last - cardinality(jobs)) AS before FROM change WHERE last > number
            ORDER BY last LIMIT 1)
          SELECT last - cardinality(jobs) + place, job, state, at
          FROM change CROSS JOIN unnest(jobs, states) WITH ORDINALITY AS one(job, state, place)
          WHERE last > number AND last - cardinality(jobs) + place > number
            AND last <= coalesce((
              SELECT final.last FROM change AS final
              WHERE final.last >= (SELECT before FROM first) + least(many, 1000000000) ORDER BY final.last LIMIT 1),
              9223372036854775807)
          ORDER BY 1 LIMIT many
        $$;
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

    /// Version 10. Changes that were removed from the middle of the feed, after the server's clock had jumped, left gaps, at which
    /// no status could be computed.
    static let unbrokenFeed = """
        DELETE FROM change WHERE last < (
          SELECT max(last) FROM (
            SELECT last, last - cardinality(jobs) AS start,
              lag(last, 1, last - cardinality(jobs)) OVER (ORDER BY last) AS before
            FROM change) AS neighbours
          WHERE before <> start);
        """
}
