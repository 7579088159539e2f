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
}
