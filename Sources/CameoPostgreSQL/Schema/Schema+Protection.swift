/// What guards the tables against other programs.
extension Schema {
    // DESIGN. What an operator's statement or a restore must not do to unfinished jobs. An ended job may be deleted with all
    // that is kept about it; retention needs no exemption.

    /// Version 3. Deleting and emptying what unfinished jobs need is refused; rows that a restore brings are not taken for new
    /// ones; every table has a key, without which a publication of all tables forbids to change it.
    static let protection = """
        ALTER TABLE queue_delta ADD COLUMN entry bigint GENERATED ALWAYS AS IDENTITY, ADD PRIMARY KEY (queue, entry);
        DROP INDEX queue_delta_queue;
        ALTER TABLE total_delta ADD COLUMN entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
        ALTER TABLE source ADD COLUMN entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
        ALTER TABLE source_failure ADD COLUMN entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;

        CREATE OR REPLACE FUNCTION note_arrivals() RETURNS trigger LANGUAGE plpgsql
          SECURITY DEFINER SET search_path FROM CURRENT AS $$
          BEGIN
            -- Cameo's own enqueuers accept in the same transaction.
            IF coalesce(current_setting('cameo.accepts', true), '') <> 'on' THEN
              -- A restore may have brought the row of `arrival` before.
              INSERT INTO arrival SELECT id FROM added ON CONFLICT DO NOTHING;
              PERFORM pg_notify(TG_TABLE_SCHEMA || '.work', '');
            END IF;
            RETURN NULL;
          END $$;

        -- A restore brings the upload of a job that is there.
        CREATE FUNCTION is_restored(upload bigint, of bigint) RETURNS boolean LANGUAGE sql STABLE
          SECURITY DEFINER SET search_path FROM CURRENT AS $$
          SELECT EXISTS (SELECT 1 FROM job WHERE id = of AND field(request, 'source') = 'upload:' || upload)
        $$;
        DROP TRIGGER upload_enqueues ON upload;
        CREATE TRIGGER upload_enqueues BEFORE INSERT ON upload FOR EACH ROW
          WHEN (NEW.job_id IS NULL OR NOT is_restored(NEW.id, NEW.job_id)) EXECUTE FUNCTION enqueue_upload();

        -- Whether a job is in the queue or waits for acceptance. One query: acceptance moves it from one to the other.
        CREATE FUNCTION is_unfinished(job bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
          SELECT EXISTS (SELECT 1 FROM task WHERE task.id = job) OR EXISTS (SELECT 1 FROM arrival WHERE arrival.id = job)
        $$;

        -- What is kept about a job goes with it. Tables with a foreign key cascade by themselves.
        CREATE OR REPLACE FUNCTION remove_with_job() RETURNS trigger LANGUAGE plpgsql
          SECURITY DEFINER SET search_path FROM CURRENT AS $$
          DECLARE unfinished bigint := (SELECT removed.id FROM removed WHERE is_unfinished(removed.id) LIMIT 1);
          BEGIN
            IF unfinished IS NOT NULL THEN
              RAISE EXCEPTION 'job % has not ended', unfinished USING ERRCODE = 'integrity_constraint_violation',
                HINT = 'End it with cameo-admin cancel; cameo-admin prune removes ended jobs.';
            END IF;
            DELETE FROM accepted USING removed WHERE accepted.id = removed.id;
            DELETE FROM outcome USING removed WHERE outcome.id = removed.id;
            DELETE FROM earlier_attempt USING removed WHERE earlier_attempt.job_id = removed.id;
            RETURN NULL;
          END $$;

        CREATE FUNCTION keep_upload() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
          BEGIN
            IF is_unfinished(OLD.job_id) THEN
              RAISE EXCEPTION 'job % of this upload has not ended', OLD.job_id
                USING ERRCODE = 'integrity_constraint_violation', HINT = 'End it with cameo-admin cancel.';
            END IF;
            RETURN OLD;
          END $$;
        CREATE TRIGGER upload_is_needed BEFORE DELETE ON upload FOR EACH ROW EXECUTE FUNCTION keep_upload();

        CREATE FUNCTION keep_key() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
          BEGIN
            IF EXISTS (SELECT 1 FROM lane WHERE lane.key = OLD.id AND lane.key <> 0) THEN
              RAISE EXCEPTION 'the key % may have jobs', OLD.name USING ERRCODE = 'integrity_constraint_violation',
                HINT = 'cameo-admin prune removes keys without any.';
            END IF;
            RETURN OLD;
          END $$;
        CREATE TRIGGER key_is_needed BEFORE DELETE ON key FOR EACH ROW EXECUTE FUNCTION keep_key();

        CREATE FUNCTION keep_unfinished() RETURNS trigger LANGUAGE plpgsql
          SECURITY DEFINER SET search_path FROM CURRENT AS $$
          BEGIN
            IF EXISTS (SELECT 1 FROM task) OR EXISTS (SELECT 1 FROM arrival) THEN
              RAISE EXCEPTION 'the store has unfinished jobs' USING ERRCODE = 'integrity_constraint_violation',
                HINT = 'End them with cameo-admin cancel.';
            END IF;
            RETURN NULL;
          END $$;
        \(["job", "task", "arrival", "accepted", "upload", "queue", "key", "lane"].map(kept).joined(separator: "\n"))

        \(claiming("LEFT JOIN"))
        """

    /// Version 4. Whether a job was accepted is seen in the tables and not said by a setting: any client could make that, and
    /// behind a pooler also for others.
    static let arrivals = """
        CREATE OR REPLACE FUNCTION note_arrivals() RETURNS trigger LANGUAGE plpgsql
          SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off
          SET enable_mergejoin = off AS $$
          BEGIN
            -- Cameo's own enqueuers enter the task first. A restore may have brought the row of `arrival` before.
            INSERT INTO arrival SELECT id FROM added
            WHERE NOT EXISTS (SELECT 1 FROM task WHERE task.id = added.id)
              AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = added.id)
            ON CONFLICT DO NOTHING;
            IF FOUND THEN PERFORM pg_notify(TG_TABLE_SCHEMA || '.work', ''); END IF;
            RETURN NULL;
          END $$;
        """

    private static func kept(_ table: String) -> String {
        """
        CREATE TRIGGER \(table)_is_not_emptied BEFORE TRUNCATE ON \(table)
          FOR EACH STATEMENT EXECUTE FUNCTION keep_unfinished();
        """
    }
}

extension Schema {
    // DESIGN. These functions run with the rights of the tables' owner, for roles that have fewer
    // (`deploy/postgresql/roles.sql`, which grants them): only an owner may change the partitions of the history, and a
    // producer may see and leave the receipts of its own idempotency keys but not read the table. Each checks what it is
    // asked for, names no table that it is given, and has a fixed search path.

    /// What others do with the owner's rights.
    static let ownersFunctions = """
        CREATE FUNCTION history_time(history text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
          BEGIN
            RETURN CASE history WHEN 'outcome' THEN 'finalized_at' WHEN 'earlier_attempt' THEN 'finished_at' END;
          END $$;

        -- Makes a week's partition, unless the default one has rows of that week: they would have to be moved.
        CREATE FUNCTION make_partition(history text, week bigint) RETURNS void LANGUAGE plpgsql
          SECURITY DEFINER SET search_path FROM CURRENT AS $$
          DECLARE
            at text := history_time(history);
            first bigint := week * 604800000;
            name text := history || '_w' || week;
            taken boolean;
          BEGIN
            IF at IS NULL THEN RAISE EXCEPTION 'there is no history %', history; END IF;
            EXECUTE format('SELECT EXISTS (SELECT 1 FROM %1$I WHERE %2$I >= %3$s AND %2$I < %4$s)',
              history || '_other', at, first, first + 604800000) INTO taken;
            IF taken THEN RETURN; END IF;
            -- Attaching locks less than creating it in its place.
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', name, history);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', history, name, first,
              first + 604800000);
          END $$;

        -- The weeks before one whose partitions have no rows.
        CREATE FUNCTION empty_partitions(history text, before bigint) RETURNS SETOF bigint LANGUAGE plpgsql
          SECURITY DEFINER SET search_path FROM CURRENT AS $$
          DECLARE
            week bigint;
            filled boolean;
          BEGIN
            IF history_time(history) IS NULL THEN RAISE EXCEPTION 'there is no history %', history; END IF;
            FOR week IN
              SELECT substr(relname, length(history) + 3)::bigint FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
              WHERE inhparent = to_regclass(history) AND relname ~ ('^' || history || '_w[0-9]+$') ORDER BY 1
            LOOP
              CONTINUE WHEN week >= before;
              EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', history || '_w' || week) INTO filled;
              IF NOT filled THEN RETURN NEXT week; END IF;
            END LOOP;
          END $$;

        -- Drops a week's partition if it has no rows.
        CREATE FUNCTION drop_partition(history text, week bigint) RETURNS void LANGUAGE plpgsql
          SECURITY DEFINER SET search_path FROM CURRENT AS $$
          DECLARE
            name text := history || '_w' || week;
            filled boolean;
          BEGIN
            IF history_time(history) IS NULL THEN RAISE EXCEPTION 'there is no history %', history; END IF;
            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', name);
            -- Nothing ends in the past, but a clock may have been set back.
            EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', name) INTO filled;
            IF NOT filled THEN EXECUTE format('DROP TABLE %I', name); END IF;
          END $$;

        -- The receipt of an idempotency key, for who knows the digest of its request; whether it is for that request.
        CREATE FUNCTION known_receipt(of text, digest text) RETURNS TABLE (same boolean, receipt text) LANGUAGE sql
          STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
          SELECT request = digest, CASE WHEN request = digest THEN first_receipt.receipt::text END
          FROM first_receipt WHERE key = of AND at > now_ms() - 86400000 $$;

        -- Keeps the receipt of a key that has none.
        CREATE FUNCTION keep_receipt(of text, digest text, given json) RETURNS void LANGUAGE sql
          SECURITY DEFINER SET search_path FROM CURRENT AS $$
          INSERT INTO first_receipt(key, request, receipt, at) VALUES (of, digest, given, now_ms())
          ON CONFLICT (key) DO UPDATE SET request = excluded.request, receipt = excluded.receipt, at = excluded.at
          WHERE first_receipt.at <= now_ms() - 86400000 $$;

        REVOKE ALL ON FUNCTION make_partition(text, bigint), empty_partitions(text, bigint), drop_partition(text, bigint),
          known_receipt(text, text), keep_receipt(text, text, json) FROM PUBLIC;
        """

    /// A receipt is kept only for the very request of a job that the same transaction has inserted, so that nobody can leave
    /// one for another's request. A part of version 6.
    static let receipts = """
        -- Keeps the receipt of a key that has none; `asked` is the request, and `bytes` the digest of its picture's bytes or
        -- empty.
        DROP FUNCTION keep_receipt(text, text, json);
        CREATE FUNCTION keep_receipt(of text, asked text, bytes text, given json) RETURNS void LANGUAGE plpgsql
          SECURITY DEFINER SET search_path FROM CURRENT AS $$
          DECLARE
            digest text := encode(sha256(convert_to(asked || chr(10) || bytes, 'UTF8')), 'hex');
            -- Rows of this transaction are seen while it, or its savepoint, is in progress.
            era bigint := pg_current_xact_id()::text::bigint >> 32 << 32;
          BEGIN
            IF NOT EXISTS (
              SELECT 1 FROM job LEFT JOIN upload ON upload.job_id = job.id
              WHERE job.id = (given ->> 'id')::bigint
                AND pg_xact_status((era + job.xmin::text::bigint)::text::xid8) = 'in progress'
                AND CASE WHEN bytes = '' THEN upload.id IS NULL AND job.request::text = asked
                  ELSE encode(sha256(upload.data), 'hex') = bytes AND upload.request::jsonb = asked::jsonb - 'source' END)
            THEN
              RAISE EXCEPTION 'a receipt must be for a job of the same transaction'
                USING ERRCODE = 'integrity_constraint_violation';
            END IF;
            INSERT INTO first_receipt(key, request, receipt, at) VALUES (of, digest, given, now_ms())
            ON CONFLICT (key) DO UPDATE SET request = excluded.request, receipt = excluded.receipt, at = excluded.at
            WHERE first_receipt.at <= now_ms() - 86400000;
          END $$;
        REVOKE ALL ON FUNCTION keep_receipt(text, text, text, json) FROM PUBLIC;
        """

    /// Whoever asks for a receipt has its row until the end of the transaction, and makes one if there is none. A part of
    /// version 8.
    static let receiptLocks = """
        CREATE OR REPLACE FUNCTION known_receipt(of text, digest text) RETURNS TABLE (same boolean, receipt text)
          LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
          \(lockingReceipt("of", "digest"));
          SELECT request = digest, CASE WHEN request = digest THEN first_receipt.receipt::text END
          FROM first_receipt WHERE key = of AND at > now_ms() - 86400000 $$;
        """

    /// Locks the row of a key, which does not count as a receipt if it is new.
    static func lockingReceipt(_ key: String, _ digest: String) -> String {
        """
        INSERT INTO first_receipt(key, request, receipt, at) VALUES (\(key), \(digest), 'null', 0)
            ON CONFLICT (key) DO UPDATE SET at = first_receipt.at
        """
    }
}
