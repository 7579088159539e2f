-- Roles with the least rights for each of Cameo's programs. Run it as the owner of the tables with CREATEROLE, or as a
-- superuser, once the first program has made the tables, and again after each upgrade; nothing is lost by repeating it.
--
--   psql -d pictures -f deploy/postgresql/roles.sql
--   psql -d pictures -v schema=shop -v producers_read=on -f deploy/postgresql/roles.sql
--
-- Variables:
--   schema           the schema of Cameo's tables (default: cameo)
--   producers_read   whether producers may read what readers may: states, requests of others, pictures (default: off)
--
-- Makes four roles without a login, named after the schema; grant them to those of your programs:
--   cameo_producer   cameo-enqueue and INSERT INTO cameo.job(request), cameo.upload(data, request)
--   cameo_reader     cameo-status
--   cameo_worker     cameo-worker
--   cameo_operator   cameo-admin and cameo-web: what a worker may, enqueueing, and settings of queues and keys
-- They belong to the whole server: databases with schemas of one name share them, each with rights of its own.
--
--   CREATE ROLE uploads LOGIN PASSWORD '…' IN ROLE cameo_producer;
\set ON_ERROR_STOP on
\set QUIET on
\if :{?schema} \else \set schema cameo \endif
\if :{?producers_read} \else \set producers_read off \endif
-- Fails here, and not as an incomplete script, if it is neither on nor off.
SELECT :'producers_read'::boolean AS producers_read \gset
\set producer :schema _producer
\set reader :schema _reader
\set worker :schema _worker
\set operator :schema _operator

BEGIN;
SET LOCAL client_min_messages TO warning; -- not what was granted already
SET LOCAL search_path TO :"schema", pg_temp;
-- Fails if there are no tables here.
SELECT version FROM schema_version \g /dev/null
SELECT format('CREATE ROLE %I NOLOGIN', role)
FROM (VALUES (:'producer'), (:'reader'), (:'worker'), (:'operator')) AS wanted(role)
WHERE NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = role) \gexec

-- Whatever an earlier version granted.
REVOKE ALL ON ALL TABLES IN SCHEMA :"schema" FROM :"producer", :"reader", :"worker", :"operator";
REVOKE ALL ON ALL SEQUENCES IN SCHEMA :"schema" FROM :"producer", :"reader", :"worker", :"operator";
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA :"schema" FROM :"producer", :"reader", :"worker", :"operator";
SELECT format('REVOKE %I FROM %I', :'reader', :'producer') FROM pg_auth_members
WHERE roleid = :'reader'::regrole AND member = :'producer'::regrole \gexec
GRANT USAGE ON SCHEMA :"schema" TO :"producer", :"reader", :"worker", :"operator";
GRANT SELECT ON schema_version TO :"producer", :"reader", :"worker", :"operator";

-- What columns, views and statements call, for databases that withhold functions from the public.
GRANT EXECUTE ON FUNCTION now_ms, field, number_field, time_field, time_text, is_restored,
  shown_source, shown_request
  TO :"producer", :"reader", :"worker", :"operator";
GRANT EXECUTE ON FUNCTION text_digest, changes_since, known_source, as_uuid TO :"reader", :"worker";
GRANT EXECUTE ON FUNCTION next_due, open_lanes, take_jobs, claim_lane, claim_shares, complete_jobs, complete_and_charge, promote_due TO :"worker";

-- Producers insert, and learn the ids. Triggers with the owner's rights do the rest.
GRANT INSERT (request), SELECT (id, created_at) ON job TO :"producer";
GRANT INSERT (data, request, cachekey, name, labels), SELECT (id, job_id) ON upload TO :"producer";
GRANT INSERT (batch, hook) ON batch_seal TO :"producer";
GRANT EXECUTE ON FUNCTION known_receipt(text, text), keep_receipt(text, text, text, json) TO :"producer";
\if :producers_read
GRANT :"reader" TO :"producer";
\endif

-- Readers read all but the secrets of requests, the URLs of originals, bytes that are on their way and the receipts of
-- idempotency keys.
GRANT SELECT ON
  job_request, task, accepted, arrival, outcome, earlier_attempt, attempt, queue, queue_count, queue_delta, queue_total, key,
  tenant, lane, worker, batch, batch_job, batch_removed, job_hook, delivery, worker_hook, worker_lack, change, new_change, feed,
  sequence, counter, total,
  total_delta, total_now, shown_thumbnail, thumbnail_facts, thumbnail_labels, thumbnail_batches, promise, label,
  thumbnail_label, forget, forgotten, batch_seal, attachment, attached, blob, ingredient, orphan, epoch, maintenance, job_status,
  batch_status
  TO :"reader";
SELECT format('GRANT SELECT ON %I TO %I', relname, :'reader') FROM pg_class
WHERE relnamespace = :'schema'::regnamespace AND relkind = 'v' AND starts_with(relname, 'app_cameo_') \gexec
GRANT SELECT (id, created_at) ON job TO :"reader";
GRANT SELECT (id, blob, format, renderer_version, source_digest, source_seen, created_at, updated_at, read_at, used_at,
  source_video) ON thumbnail TO :"reader";
GRANT SELECT (id, job_id, digest) ON upload TO :"reader";
GRANT SELECT (size, pinned, blob) ON source TO :"reader";
GRANT SELECT (blob) ON set_aside TO :"reader";
GRANT SELECT (until) ON source_failure TO :"reader";

-- Workers accept and run jobs, keep what they make and fetch, and remove what has expired. They insert no jobs, and of
-- queues and keys they change only what starts use up, and the limits that requests name.
GRANT SELECT ON ALL TABLES IN SCHEMA :"schema" TO :"worker";
GRANT DELETE ON job TO :"worker";
GRANT INSERT, UPDATE, DELETE ON
  task, accepted, arrival, outcome, earlier_attempt, queue_count, queue_delta, lane, lane_cost, worker, batch, batch_job,
  batch_removed, job_hook,
  delivery, worker_hook, worker_lack, change, new_change, feed, sequence, counter, total, total_delta, thumbnail, blob, source,
  source_failure, ingredient, orphan, maintenance, first_receipt, partial, partial_piece, set_aside, promise, label, thumbnail_label,
  forgotten, attached, attached_gone, batch_seal TO :"worker";
-- What programs' tables ask for, and what two of their transactions left undone.
GRANT UPDATE ON attachment TO :"worker";
GRANT INSERT (selector) ON forget TO :"worker";
GRANT EXECUTE ON FUNCTION attach_again, attach_row TO :"worker";
GRANT UPDATE (looked, done_at, arriving), DELETE ON forget TO :"worker";
GRANT UPDATE (data, digest), DELETE ON upload TO :"worker";
GRANT INSERT (name), UPDATE (rate_spent, opens_at, share_floor), DELETE ON queue TO :"worker";
GRANT INSERT (name), UPDATE (name), DELETE ON tenant TO :"worker";
GRANT INSERT (name, max_running), UPDATE (max_running, rate_spent, opens_at), DELETE ON key TO :"worker";
GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA :"schema" TO :"worker";
GRANT EXECUTE ON FUNCTION make_partition(text, bigint), empty_partitions(text, bigint), drop_partition(text, bigint)
  TO :"worker";

-- Operators may do what workers may, enqueue, and change the settings of queues and keys.
GRANT :"worker" TO :"operator";
GRANT INSERT ON job, upload TO :"operator";
GRANT INSERT (selector) ON forget TO :"operator";
GRANT UPDATE ON queue, key, tenant TO :"operator";
COMMIT;
