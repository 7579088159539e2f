internal import CameoQueue

/// Version 13. Tenants, and queues that are fair between them.
extension Schema {
    // DESIGN. In a queue that is not fair, and for jobs without a tenant, claims cost what they did. Lanes of tenants have heads,
    // like those of keys. What attempts have cost is inserted into a table of its own: a lane's row is written by enqueuers and
    // claims, and settlements would wait for it until the commits of all of them.
    static let shares = """
        ALTER TABLE queue ADD COLUMN fair boolean NOT NULL DEFAULT false;
        -- What the lane had had that was claimed from last.
        ALTER TABLE queue ADD COLUMN share_floor double precision NOT NULL DEFAULT 0 CHECK (share_floor BETWEEN 0 AND 1e15);
        CREATE TABLE tenant(
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          name text COLLATE "C" NOT NULL UNIQUE,
          -- How much it gets in fair queues, beside a tenant of weight 1.
          weight double precision NOT NULL DEFAULT 1 CHECK (weight BETWEEN 0.01 AND 100)
        );
        -- A concurrency key is the tenant of requests that name no other.
        INSERT INTO tenant(name) SELECT name FROM key;
        ALTER TABLE lane ADD COLUMN tenant bigint NOT NULL DEFAULT 0;
        -- What it has had, in milliseconds of a processor by its tenant's weight; NULL: its queue is not fair.
        ALTER TABLE lane ADD COLUMN used double precision CHECK (used BETWEEN 0 AND 1e15);
        -- What its recent jobs have cost on average, in milliseconds; what all have cost since its queue is fair; what those of
        -- the minute of `charged_at` and of the one before have cost; when one of its attempts ended last.
        ALTER TABLE lane ADD COLUMN mean double precision NOT NULL DEFAULT 50 CHECK (mean BETWEEN 0 AND 1e9);
        ALTER TABLE lane ADD COLUMN spent double precision NOT NULL DEFAULT 0 CHECK (spent BETWEEN 0 AND 1e15);
        ALTER TABLE lane ADD COLUMN spent_minute double precision NOT NULL DEFAULT 0;
        ALTER TABLE lane ADD COLUMN spent_before double precision NOT NULL DEFAULT 0;
        ALTER TABLE lane ADD COLUMN charged_at bigint NOT NULL DEFAULT 0;
        -- Costs on their way into the rows of lanes.
        CREATE TABLE lane_cost(
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          lane bigint NOT NULL,
          cost double precision NOT NULL CHECK (cost BETWEEN 0 AND 1e9),
          charged double precision NOT NULL CHECK (charged BETWEEN 0 AND 1e12)
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
        CREATE INDEX lane_cost_lane ON lane_cost(lane);
        -- Each claim from a fair queue moves the first entry of an index, and looks begin there.
        ALTER TABLE lane SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
          autovacuum_vacuum_cost_delay = 0);
        ALTER TABLE task ADD COLUMN tenant bigint NOT NULL DEFAULT 0;
        -- What the running attempt was charged, in the unit of `lane.used`; NULL: its queue was not fair.
        ALTER TABLE task ADD COLUMN charged double precision CHECK (charged BETWEEN 0 AND 1e12);
        ALTER TABLE accepted ADD COLUMN tenant bigint NOT NULL DEFAULT 0;
        UPDATE lane SET tenant = tenant.id FROM key JOIN tenant ON tenant.name = key.name
          WHERE key.id = lane.key AND lane.key <> 0;
        UPDATE task SET tenant = tenant.id FROM key JOIN tenant ON tenant.name = key.name
          WHERE key.id = task.key AND task.key <> 0;
        UPDATE accepted SET tenant = task.tenant FROM task WHERE task.id = accepted.id AND task.tenant <> 0;
        ALTER TABLE lane DROP CONSTRAINT lane_queue_key_key;
        CREATE UNIQUE INDEX lane_place ON lane(queue, tenant, key);
        -- Claim: the lanes that have had least.
        CREATE INDEX lane_fair ON lane(queue, used, head) WHERE head IS NOT NULL AND used IS NOT NULL;
        -- Settle: the lanes of a tenant that wait.
        CREATE INDEX lane_share ON lane(queue, tenant) WHERE head IS NOT NULL AND used IS NOT NULL;
        -- Prune: the lanes of a tenant; whether one still has a job, even an ended one. Lists: its jobs.
        CREATE INDEX lane_tenant ON lane(tenant) WHERE tenant <> 0;
        CREATE INDEX accepted_tenant ON accepted(tenant) WHERE tenant <> 0;

        CREATE FUNCTION keep_tenant() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
          BEGIN
            IF EXISTS (SELECT 1 FROM lane WHERE lane.tenant = OLD.id AND lane.tenant <> 0) THEN
              RAISE EXCEPTION 'the tenant % may have jobs', OLD.name USING ERRCODE = 'integrity_constraint_violation',
                HINT = 'cameo-admin prune removes tenants without any.';
            END IF;
            RETURN OLD;
          END $$;
        CREATE TRIGGER tenant_is_needed BEFORE DELETE ON tenant FOR EACH ROW EXECUTE FUNCTION keep_tenant();

        -- The lanes to claim from: each open queue's lane of jobs without a tenant and a key, and its first lanes of others with
        -- room: those of lowest rank, in a fair queue those that have had least. `place` is a lower bound of the lane's lowest
        -- rank, `front` of the ranks by which its queue waits for its turn; `room` what the queue's limit allows, NULL: any
        -- number. STABLE: both its statements see the same jobs.
        DROP FUNCTION open_lanes(text[], boolean, integer);
        CREATE FUNCTION open_lanes(queues text[], with_background boolean, most integer) RETURNS TABLE (\(laneColumns))
          LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off
            SET plan_cache_mode = force_generic_plan
        AS $$
          BEGIN
            RETURN QUERY
            WITH \(claimableQueues)
            SELECT lane.id, lane.key, lane.tenant, open.id, open.name, open.background, open.room, open.rated, first.rank,
              first.rank, CASE WHEN open.fair THEN CASE WHEN lane.head IS NULL AND (lane.used < open.share_floor
                OR lane.charged_at < now_ms() - 600000) THEN open.share_floor ELSE lane.used END END, lane.mean,
              1.0::double precision, true
            FROM open JOIN lane ON lane.queue = open.id AND lane.tenant = 0 AND lane.key = 0
              CROSS JOIN LATERAL (
                SELECT task.rank FROM task WHERE task.lane = lane.id AND task.state = 1 AND task.crash_count < 3
                ORDER BY task.rank LIMIT 1) AS first
            WHERE open.room IS NULL OR open.room > 0;
            -- Most stores have no keys or tenants. Only their lanes, and those of fair queues, have a head.
            IF NOT EXISTS (SELECT 1 FROM lane WHERE lane.head IS NOT NULL) THEN
              RETURN;
            END IF;
            RETURN QUERY
            WITH full_key AS MATERIALIZED (
              SELECT busy.key FROM (
                SELECT task.key, count(*) AS running FROM task WHERE task.state = 2 AND task.key <> 0 GROUP BY task.key)
                AS busy JOIN key ON key.id = busy.key WHERE busy.running >= key.max_running
              UNION ALL SELECT key.id FROM key WHERE key.opens_at <> 0
            ), \(claimableQueues),
            -- Few lanes have a head that is too low; only claims from them raise it.
            front AS MATERIALIZED (
              SELECT open.id, (
                SELECT coalesce(min(first.rank), CASE WHEN count(*) < 16 THEN 9223372036854775807 ELSE max(low.head) END) FROM (
                  SELECT lane.id, lane.head FROM lane WHERE lane.queue = open.id AND lane.head IS NOT NULL
                    AND lane.key NOT IN (SELECT full_key.key FROM full_key) ORDER BY lane.head LIMIT 16) AS low
                  LEFT JOIN LATERAL (
                    SELECT task.rank FROM task WHERE task.lane = low.id AND task.state = 1 AND task.crash_count < 3
                    ORDER BY task.rank LIMIT 1) AS first ON true) AS rank
              FROM open WHERE open.fair)
            SELECT first.id, first.key, first.tenant, open.id, open.name, open.background, open.room, open.rated, first.head,
              coalesce((SELECT front.rank FROM front WHERE front.id = open.id), first.head),
              CASE WHEN open.fair THEN first.used END, first.mean,
              coalesce((SELECT tenant.weight FROM tenant WHERE tenant.id = first.tenant), 1.0::double precision),
              CASE WHEN open.fair THEN first.key = 0 AND NOT EXISTS (SELECT 1 FROM lane AS other
                WHERE other.queue = open.id AND other.tenant = first.tenant AND other.id <> first.id) END
            FROM open CROSS JOIN LATERAL (
              (SELECT lane.* FROM lane
              WHERE NOT open.fair AND lane.queue = open.id AND lane.head IS NOT NULL AND (lane.key <> 0 OR lane.tenant <> 0)
                AND lane.key NOT IN (SELECT full_key.key FROM full_key)
              ORDER BY lane.head LIMIT most)
              UNION ALL
              (SELECT lane.* FROM lane
              WHERE open.fair AND lane.queue = open.id AND lane.head IS NOT NULL AND lane.used IS NOT NULL
                AND (lane.key <> 0 OR lane.tenant <> 0)
                AND lane.key NOT IN (SELECT full_key.key FROM full_key)
              ORDER BY lane.used, lane.head LIMIT most)) AS first
            WHERE open.room IS NULL OR open.room > 0;
          END $$;

        -- Claims the first jobs of lanes of a fair queue, `many` of each, except those that another transaction is claiming, and
        -- charges the lanes, which have had `had`. Lanes that another transaction has locked are left alone. After the jobs
        -- follows a row for each lane that was not, in which only `lane` is set. As the lanes are locked first, the later statements
        -- see all jobs that ever lowered their heads.
        CREATE FUNCTION claim_shares(lanes bigint[], many bigint[], beyonds bigint[], had double precision[],
            charges double precision[], claim text, by text, at bigint)
          RETURNS TABLE (place bigint, id bigint, due bigint, attempt integer, max_attempts integer, crash_count integer,
            tries integer, failed integer, refresh smallint, upload bigint, fetch_after bigint, request json,
            created_at bigint, seen bigint, lane bigint)
          LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
            SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
        AS $$
          #variable_conflict use_column
          DECLARE
            free bigint[] := ARRAY(SELECT lane.id FROM lane WHERE lane.id = ANY(lanes) ORDER BY lane.id FOR UPDATE SKIP LOCKED);
            ids bigint[];
          BEGIN
            ids := ARRAY(
              SELECT first.id
              FROM unnest(lanes, many, beyonds) WITH ORDINALITY AS plan(lane, many, beyond, place) CROSS JOIN LATERAL (
                SELECT task.id, task.rank FROM task
                WHERE task.lane = plan.lane AND task.state = 1 AND task.crash_count < 3 AND task.rank > plan.beyond
                ORDER BY task.rank LIMIT plan.many FOR UPDATE SKIP LOCKED) AS first
              WHERE plan.lane = ANY(free) ORDER BY plan.place, first.rank);
            RETURN QUERY
            UPDATE task SET state = 2, attempt = task.attempt + 1, tries = task.tries + 1, attempted_at = at,
                token = claim || '-' || wanted.place, worker = by, charged = plan.charge
              FROM unnest(ids) WITH ORDINALITY AS wanted(id, place) LEFT JOIN job ON job.id = wanted.id,
                unnest(lanes, charges) AS plan(lane, charge)
              WHERE task.id = wanted.id AND plan.lane = task.lane
              RETURNING wanted.place, task.id, task.due, task.attempt, task.max_attempts, task.crash_count, task.tries,
                task.failed, task.refresh, task.upload, task.fetch_after, job.request, job.created_at,
                nextval('source_seen'), task.lane;
            UPDATE lane SET
                used = least(1e15::double precision, plan.had + plan.charge * (
                  SELECT count(*) FROM task WHERE task.id = ANY(ids) AND task.lane = lane.id)),
                head = (SELECT task.rank FROM task
                  WHERE task.lane = lane.id AND task.state = 1 AND task.crash_count < 3 ORDER BY task.rank LIMIT 1)
              FROM unnest(lanes, had, charges) AS plan(lane, had, charge)
              WHERE lane.id = ANY(free) AND lane.id = plan.lane;
            RETURN QUERY
            SELECT NULL::bigint, NULL::bigint, NULL::bigint, NULL::integer, NULL::integer, NULL::integer, NULL::integer,
              NULL::integer, NULL::smallint, NULL::bigint, NULL::bigint, NULL::json, NULL::bigint, NULL::bigint, raised.lane
            FROM unnest(free) AS raised(lane);
          END $$;

        -- Makes jobs available whose time has come, the earliest first.
        DROP FUNCTION promote_due(bigint, bigint);
        CREATE FUNCTION promote_due(at bigint, many bigint)
          RETURNS TABLE (before smallint, id bigint, queue bigint, key bigint, lane bigint, tenant bigint, due bigint,
            priority integer, crash_count integer)
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
            RETURNING due_now.state, task.id, task.queue, task.key, task.lane, task.tenant, task.due, task.priority,
              task.crash_count;
          END $$;

        -- Completes jobs as `complete_jobs` does, by which older workers still end theirs, and records what they have cost.
        -- Never changed: a newer version gets another.
        CREATE FUNCTION complete_and_charge(ids bigint[], tokens text[], at bigint, waits bigint[], fetches bigint[],
            queues bigint[], renders bigint[], stores bigint[], sources bigint[], outputs bigint[], processors bigint[],
            costs double precision[])
          RETURNS TABLE (token text, id bigint, queue bigint, key bigint, hooked boolean, limited boolean)
          LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET enable_bitmapscan = off
            SET plan_cache_mode = force_generic_plan
        AS $$
          #variable_conflict use_column
          BEGIN
            RETURN QUERY
            WITH ended AS (
              DELETE FROM task WHERE id = ANY($1) AND token = ANY($2)
              RETURNING id, queue, key, lane, priority, due, attempt, max_attempts, crash_count, tries, attempted_at, token,
                worker, hooked, charged),
            clock AS (SELECT coalesce($3, now_ms()) AS now),
            timed AS (SELECT * FROM unnest($2, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS timed(token, \(timings), cpu_ms, cost)),
            kept AS (
              INSERT INTO outcome(id, state, queue, priority, available_at, attempt, max_attempts, crash_count,
                attempted_at, finalized_at, number, worker, \(timings), cpu_ms)
              SELECT id, 4, queue, priority, due, attempt, max_attempts, crash_count,
                attempted_at, now, tries, worker, \(timings), cpu_ms
              FROM timed JOIN ended ON ended.token = timed.token CROSS JOIN clock),
            charges AS (
              INSERT INTO lane_cost(lane, cost, charged)
              SELECT lane, cost, charged FROM timed JOIN ended ON ended.token = timed.token
              WHERE charged IS NOT NULL AND cost IS NOT NULL)
            SELECT token, id, queue, key, hooked,
              (SELECT max_running IS NOT NULL FROM queue WHERE queue.id = ended.queue)
            FROM ended;
          END $$;
        """

    private static let laneColumns = """
        lane bigint, key bigint, tenant bigint, queue bigint, name text, background boolean, room bigint, rated boolean,
            place bigint, front bigint, used double precision, mean double precision, weight double precision,
            alone boolean
        """

    /// The queues of `open_lanes`.
    static let claimableQueues = """
        open AS MATERIALIZED (
              SELECT queue.id, queue.name, queue.background, queue.rate_count IS NOT NULL AS rated, queue.fair,
                queue.share_floor, CASE WHEN queue.max_running IS NOT NULL THEN queue.max_running
                  - (SELECT count(*) FROM task WHERE task.queue = queue.id AND task.state = 2) END AS room
              FROM queue
              WHERE NOT queue.paused AND queue.opens_at = 0 AND (queues IS NULL OR queue.name = ANY(queues))
                AND (with_background OR NOT queue.background)
            )
        """
}
