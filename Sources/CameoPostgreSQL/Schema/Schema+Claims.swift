/// The functions of claims and completions.
extension Schema {
    // DESIGN. The statements of claims and completions are functions, because the server keeps the plans of a function's
    // statements also behind a pooler, where nothing is prepared. Without that, planning took longer than claiming. It would still plan a
    // statement anew for each list of ids, because it takes a list of unknown length for a long one; so generic plans are
    // forced. Sequential scans are off in them: a plan that was made while the tables were empty must be right for a
    // million rows. No search path is set, which would cost as much as a small statement: whoever calls them has set it
    // for the transaction.

    /// What a claim calls.
    static let claims = """
        -- The next time at which a job becomes due, or a rate allows one to start; NULL: none.
        CREATE FUNCTION next_due() RETURNS bigint
          LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off
        AS $$
          BEGIN
            RETURN least(
              (SELECT min(task.due) FROM task WHERE task.state IN (0, 3)),
              (SELECT min(queue.opens_at) FROM queue WHERE queue.opens_at <> 0),
              (SELECT min(key.opens_at) FROM key WHERE key.opens_at <> 0));
          END $$;

        -- The lanes to claim from: each open queue's lane of jobs without a key, and its first lanes of keys with room.
        -- `place` is a lower bound of the lane's lowest rank; `room` what the queue's limit allows, NULL: any number.
        -- STABLE: both its statements see the same jobs.
        CREATE FUNCTION open_lanes(queues text[], with_background boolean, lanes_of_keys integer)
          RETURNS TABLE (lane bigint, key bigint, queue bigint, name text, background boolean, room bigint,
            rated boolean, place bigint)
          LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off
            SET plan_cache_mode = force_generic_plan
        AS $$
          BEGIN
            RETURN QUERY
            WITH \(openQueues)
            SELECT lane.id, lane.key, open.id, open.name, open.background, open.room, open.rated, first.rank
            FROM open JOIN lane ON lane.queue = open.id AND lane.key = 0
              CROSS JOIN LATERAL (
                SELECT task.rank FROM task WHERE task.lane = lane.id AND task.state = 1 AND task.crash_count < 3
                ORDER BY task.rank LIMIT 1) AS first
            WHERE open.room IS NULL OR open.room > 0;
            -- Most stores have no keys. Only lanes with a key have a head.
            IF NOT EXISTS (\(lanesWithHeads)) THEN
              RETURN;
            END IF;
            RETURN QUERY
            WITH full_key AS MATERIALIZED (
              SELECT busy.key FROM (
                SELECT task.key, count(*) AS running FROM task WHERE task.state = 2 AND task.key <> 0 GROUP BY task.key)
                AS busy JOIN key ON key.id = busy.key WHERE busy.running >= key.max_running
              UNION ALL SELECT key.id FROM key WHERE key.opens_at <> 0
            ), \(openQueues)
            SELECT first.id, first.key, open.id, open.name, open.background, open.room, open.rated, first.head
            FROM open CROSS JOIN LATERAL (
              SELECT lane.id, lane.key, lane.head FROM lane
              WHERE lane.queue = open.id AND lane.head IS NOT NULL AND lane.key <> 0
                AND lane.key NOT IN (SELECT full_key.key FROM full_key)
              ORDER BY lane.head LIMIT lanes_of_keys) AS first
            WHERE open.room IS NULL OR open.room > 0;
          END $$;

        \(claiming("JOIN"))

        -- Completes the jobs whose claims are valid, locking them in the order of their ids; returns what the rest of the
        -- transaction has to know of them. Workers of this version end their jobs by it also once a newer one has changed
        -- the tables, so it is never changed: a newer version gets another.
        CREATE FUNCTION complete_jobs(ids bigint[], tokens text[], at bigint, waits bigint[], fetches bigint[],
            queues bigint[], renders bigint[], stores bigint[], sources bigint[], outputs bigint[])
          RETURNS TABLE (token text, id bigint, queue bigint, key bigint, hooked boolean, limited boolean)
          LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET enable_bitmapscan = off
            SET plan_cache_mode = force_generic_plan
        AS $$
          #variable_conflict use_column
          BEGIN
            RETURN QUERY
            \(completion);
          END $$;

        -- Makes jobs available whose time has come, the earliest first.
        CREATE FUNCTION promote_due(at bigint, many bigint)
          RETURNS TABLE (before smallint, \(taskColumns))
          LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET enable_bitmapscan = off
            SET plan_cache_mode = force_generic_plan
        AS $$
          #variable_conflict use_column
          BEGIN
            RETURN QUERY
            WITH due_now AS MATERIALIZED (
              SELECT task.id, task.state FROM task WHERE task.state IN (0, 3) AND task.due <= at
              ORDER BY task.due LIMIT many FOR UPDATE SKIP LOCKED)
            UPDATE task SET state = 1 FROM due_now WHERE task.id = due_now.id
            RETURNING due_now.state, task.id, task.queue, task.key, task.lane, task.state, task.priority, task.due,
              task.attempt, task.max_attempts, task.crash_count, task.tries, task.attempted_at, task.failed,
              task.refresh, task.unique_key, task.upload, task.token, task.worker, task.hooked,
              task.fetch_after;
          END $$;
        """

    /// The functions that claim. From version 3 on they also return tasks whose jobs another program has deleted, by `LEFT
    /// JOIN`: their claim removes them.
    static func claiming(_ joining: String) -> String {
        """
        -- Claims jobs that the transaction has locked. Each gets a token, from one that only this call has and its place in the
        -- list, and the number of a fetch that begins now.
        CREATE OR REPLACE FUNCTION take_jobs(ids bigint[], claim text, by text, at bigint)
          RETURNS TABLE (\(claimedColumns))
          LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
            SET plan_cache_mode = force_generic_plan
        AS $$
          #variable_conflict use_column
          BEGIN
            RETURN QUERY
            \(taking(joining));
          END $$;

        -- Claims a lane's first jobs of the ranks above `beyond` and up to `bound`, except those that another transaction
        -- is claiming.
        CREATE OR REPLACE FUNCTION claim_lane(of bigint, beyond bigint, bound bigint, many bigint, claim text, by text,
            at bigint)
          RETURNS TABLE (\(claimedColumns))
          LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
            SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
        AS $$
          #variable_conflict use_column
          DECLARE ids bigint[] := ARRAY(
            SELECT task.id FROM task
            WHERE task.lane = of AND task.state = 1 AND task.crash_count < 3 AND task.rank > beyond AND task.rank <= bound
            ORDER BY task.rank LIMIT many FOR UPDATE SKIP LOCKED);
          BEGIN
            IF cardinality(ids) > 0 THEN
              RETURN QUERY
              \(taking(joining));
            END IF;
          END $$;
        """
    }

    /// What `complete_jobs` does. A token is one job's alone, so that the two lists need not be matched pair by pair.
    static let completion = """
        WITH ended AS (
              DELETE FROM task WHERE id = ANY($1) AND token = ANY($2)
              RETURNING id, queue, key, priority, due, attempt, max_attempts, crash_count, tries, attempted_at, token,
                worker, hooked),
            clock AS (SELECT coalesce($3, now_ms()) AS now),
            kept AS (
              INSERT INTO outcome(id, state, queue, priority, available_at, attempt, max_attempts, crash_count,
                attempted_at, finalized_at, number, worker, \(timings))
              SELECT id, 4, queue, priority, due, attempt, max_attempts, crash_count,
                attempted_at, now, tries, worker, \(timings)
              FROM unnest($2, $4, $5, $6, $7, $8, $9, $10) AS timed(token, \(timings))
                JOIN ended ON ended.token = timed.token CROSS JOIN clock)
            SELECT token, id, queue, key, hooked,
              (SELECT max_running IS NOT NULL FROM queue WHERE queue.id = ended.queue)
            FROM ended
        """

    /// The lanes of keys that have available jobs. Their index has only these; that of keys has every lane of one.
    static let lanesWithHeads = "SELECT 1 FROM lane WHERE lane.head IS NOT NULL"

    /// The lanes without tenants and keys of `open_lanes`, but each from a rank on that is no higher than its first job's: the parameters 1
    /// and 2 are those of `open_lanes`, 3 has the lanes, and another the ranks.
    static func openLanes(fromRanks ranks: String) -> String {
        """
        (WITH \(claimableQueues.replacing("queues", with: "$1::text[]").replacing("with_background", with: "$2::boolean"))
        SELECT lane.id AS lane, lane.key, lane.tenant, open.id AS queue, open.name, open.background, open.room, open.rated,
          first.rank AS place, first.rank AS front, lane.used, lane.mean, 1.0::double precision AS weight,
          true AS alone
        FROM unnest($3::bigint[], \(ranks)::bigint[]) AS floor(lane, rank) JOIN lane ON lane.id = floor.lane
          JOIN open ON open.id = lane.queue
          CROSS JOIN LATERAL (
            SELECT task.rank FROM task
            WHERE task.lane = lane.id AND task.state = 1 AND task.crash_count < 3 AND task.rank >= floor.rank
            ORDER BY task.rank LIMIT 1) AS first
        WHERE NOT open.fair AND (open.room IS NULL OR open.room > 0)) AS open_lanes
        """
    }

    /// The queues of `open_lanes`.
    private static let openQueues = """
        open AS MATERIALIZED (
              SELECT queue.id, queue.name, queue.background, queue.rate_count IS NOT NULL AS rated,
                CASE WHEN queue.max_running IS NOT NULL THEN queue.max_running
                  - (SELECT count(*) FROM task WHERE task.queue = queue.id AND task.state = 2) END AS room
              FROM queue
              WHERE NOT queue.paused AND queue.opens_at = 0 AND (queues IS NULL OR queue.name = ANY(queues))
                AND (with_background OR NOT queue.background)
            )
        """

    /// What `take_jobs` and `claim_lane` do with the jobs of `ids`. It stands in both: a call from one to the other would
    /// copy each row once more.
    private static func taking(_ joining: String) -> String {
        """
        UPDATE task SET state = 2, attempt = task.attempt + 1, tries = task.tries + 1, attempted_at = at,
                token = claim || '-' || place, worker = by
              FROM unnest(ids) WITH ORDINALITY AS wanted(id, place) \(joining) job ON job.id = wanted.id
              WHERE task.id = wanted.id
              RETURNING wanted.place, task.id, task.due, task.attempt, task.max_attempts, task.crash_count, task.tries,
                task.failed, task.refresh, task.upload, task.fetch_after, job.request, job.created_at,
                nextval('source_seen')
        """
    }

    private static let taskColumns = """
        id bigint, queue bigint, key bigint, lane bigint, state smallint, priority integer, due bigint,
            attempt integer, max_attempts integer, crash_count integer, tries integer, attempted_at bigint,
            failed integer, refresh smallint, unique_key text, upload bigint, token text, worker text, hooked boolean,
            fetch_after bigint
        """

    private static let claimedColumns = """
        place bigint, id bigint, due bigint, attempt integer, max_attempts integer, crash_count integer,
            tries integer, failed integer, refresh smallint, upload bigint, fetch_after bigint, request json,
            created_at bigint, seen bigint
        """
}
