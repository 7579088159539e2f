internal import CameoQueue

/// Tables of other programs that are followed.
extension Schema {
    // DESIGN. Nothing that is done to a program's table may fail or wait because of what follows it. No transaction locks what
    // another's rows name: whether a source is still needed is decided when the transaction commits, by what it sees then, and
    // noted in `attached_gone`, so that it is looked at again once all transactions are over that ran beside it.

    /// Version 12. Tables of programs that are followed. The trigger of each calls `attach_row` with what a row has now.
    static let attachments = """
        CREATE FUNCTION encoded_path(path text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
          SELECT CASE WHEN path ~ '^[A-Za-z0-9._~/-]*$' THEN path ELSE (
            SELECT string_agg(CASE WHEN chr(byte) ~ '[A-Za-z0-9._~/-]' AND byte < 128 THEN chr(byte)
              ELSE '%' || upper(lpad(to_hex(byte), 2, '0')) END, '' ORDER BY place)
            FROM (SELECT place, get_byte(convert_to(path, 'UTF8'), place) AS byte
              FROM generate_series(0, octet_length(path) - 1) AS place) AS bytes) END
        $$;
        CREATE FUNCTION as_uuid(key text) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
          SELECT CASE WHEN key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN key::uuid END $$;
        \(words.attachmentTables)
        CREATE INDEX attached_new ON attached(job_id) WHERE job_id IS NOT NULL AND thumbnails IS NULL;
        CREATE INDEX attached_uuid ON attached(attachment, as_uuid(key)) WHERE as_uuid(key) IS NOT NULL;
        -- Sources that a row had before. `shared`: another had them too; NULL: they were looked at again, and forgotten. `horizon`: the first transaction that began too late to
        -- have seen less than the row's.
        CREATE TABLE attached_gone(
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          source text NOT NULL,
          shared boolean,
          horizon xid8
        );

        -- Asks for the thumbnails of a row. Its plans may be made while the tables are empty, and are kept.
        CREATE FUNCTION attach_again(of bigint, row_key text) RETURNS void LANGUAGE plpgsql
          SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off SET jit = off AS $$
          #variable_conflict use_column
          DECLARE
            attachment attachment%ROWTYPE;
            mirrored attached%ROWTYPE;
            job bigint;
          BEGIN
            SELECT * INTO attachment FROM attachment WHERE id = of;
            SELECT * INTO mirrored FROM attached WHERE attachment = of AND key = row_key;
            IF mirrored.source IS NULL THEN RETURN; END IF;
            INSERT INTO job(request) VALUES ((\(words.request(of: "mirrored")))::json) RETURNING id INTO job;
            UPDATE attached SET job_id = job, version = attachment.version, thumbnails = NULL, code = NULL, message = NULL
              WHERE attachment = of AND key = row_key;
          END $$;

        CREATE FUNCTION attach_row(of bigint, row_key text, row_number bigint, given text, picture bytea, row_label text,
          row_queue text, is_change boolean) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
          SET enable_seqscan = off SET jit = off AS $$
          #variable_conflict use_column
          DECLARE
            attachment attachment%ROWTYPE;
            known attached%ROWTYPE;
            mirrored attached%ROWTYPE;
            bytes bigint := octet_length(picture);
            is_there boolean := coalesce(octet_length(picture), octet_length(given), 0) > 0;
          BEGIN
            SELECT * INTO attachment FROM attachment WHERE id = of;
            IF attachment.id IS NULL OR row_key IS NULL THEN RETURN; END IF;
            IF is_there THEN
              mirrored.message := \(words.refusal(ofKey: "row_key", "given", size: "bytes"));
              IF mirrored.message IS NULL THEN mirrored.source := \(words.source(ofKey: "row_key", "given")); END IF;
            END IF;
            SELECT * INTO known FROM attached WHERE attachment = of AND key = row_key;
            IF known.key IS NOT NULL THEN
              IF is_there AND known.label IS NOT DISTINCT FROM row_label AND (CASE
                WHEN mirrored.source IS NULL THEN known.source IS NULL AND known.message IS NOT DISTINCT FROM mirrored.message
                WHEN attachment.kind = 'bytes' THEN NOT is_change AND known.size IS NOT DISTINCT FROM bytes
                ELSE known.source IS NOT DISTINCT FROM mirrored.source END)
              THEN
                IF known.version < attachment.version THEN
                  UPDATE attached SET queue = row_queue WHERE attachment = of AND key = row_key;
                  PERFORM attach_again(of, row_key);
                END IF;
                RETURN;
              END IF;
              DELETE FROM attached WHERE attachment = of AND key = row_key;
              -- By the bytes of an inline picture, of which only the label tells, what this row asks for now would be meant too.
              IF lower(left(known.source, 5)) = 'data:' THEN
                INSERT INTO forget(selector) SELECT (\(words.selector(of: "known", name: "attachment.name")))::json;
              END IF;
            END IF;
            IF NOT is_there THEN RETURN; END IF;
            mirrored.attachment := of;
            mirrored.key := row_key;
            mirrored.label := row_label;
            mirrored.queue := row_queue;
            IF mirrored.source IS NULL THEN
            ELSIF attachment.kind = 'bytes' THEN
              INSERT INTO upload(data, request, cachekey)
                VALUES (picture, (\(words.request(of: "mirrored", namingSource: false)))::json, substr(mirrored.source, 16))
                RETURNING job_id INTO mirrored.job_id;
            ELSE
              INSERT INTO job(request) VALUES ((\(words.request(of: "mirrored")))::json) RETURNING id INTO mirrored.job_id;
            END IF;
            INSERT INTO attached(attachment, key, number, source, size, label, queue, version, job_id, message)
              VALUES (of, row_key, row_number, mirrored.source, bytes, row_label, row_queue, attachment.version, mirrored.job_id,
                mirrored.message)
              ON CONFLICT (attachment, key) DO UPDATE SET source = excluded.source, size = excluded.size, label = excluded.label,
                version = excluded.version, job_id = excluded.job_id, message = excluded.message, thumbnails = NULL, code = NULL;
          END $$;

        CREATE FUNCTION attached_left() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
          DECLARE
            of text := (SELECT name FROM attachment WHERE id = OLD.attachment);
            is_shared boolean := EXISTS (SELECT 1 FROM attached AS other
              WHERE other.source IS NOT NULL AND \(words.isKey("other.source", "OLD.source")));
          BEGIN
            -- Detached; or taken out and put back.
            IF of IS NULL OR lower(left(OLD.source, 5)) = 'data:' OR EXISTS (SELECT 1 FROM attached
              WHERE attachment = OLD.attachment AND key = OLD.key AND source = OLD.source) THEN RETURN NULL; END IF;
            INSERT INTO forget(selector) SELECT (\(words.selector(of: "OLD", name: "of")))::json;
            IF OLD.size IS NOT NULL THEN
              \(words.removingUploads("SELECT substr(OLD.source, 16) AS name").map { "\($0);" }.joined(separator: "\n      "))
              RETURN NULL;
            END IF;
            INSERT INTO attached_gone(source, shared) VALUES (OLD.source, is_shared);
            RETURN NULL;
          END $$;
        CREATE CONSTRAINT TRIGGER attached_leaves AFTER DELETE ON attached DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
          WHEN (OLD.source IS NOT NULL) EXECUTE FUNCTION attached_left();

        -- The table is empty, or not followed any more: all that it alone has is forgotten.
        CREATE FUNCTION attach_emptied(of bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
          BEGIN
            INSERT INTO forget(selector)
              SELECT json_build_object('label', name, 'evenShared', true) FROM attachment WHERE id = of;
            \(words.removingUploads(uploads).map { "\($0);" }.joined(separator: "\n    "))
            PERFORM attach_again(other.attachment, other.key) FROM attached AS mine JOIN attached AS other
              ON text_digest(other.source) = text_digest(mine.source) AND other.source IS NOT NULL
              WHERE mine.attachment = of AND mine.source IS NOT NULL AND other.attachment <> of;
            UPDATE attached SET source = NULL WHERE attachment = of;
            DELETE FROM attached WHERE attachment = of;
          END $$;

        -- Says why rows are not followed, unless another transaction is saying it.
        CREATE FUNCTION attach_lost(of bigint, why text) RETURNS void LANGUAGE sql
          SECURITY DEFINER SET search_path FROM CURRENT AS $$
          UPDATE attachment SET trouble = why
            WHERE id IN (SELECT id FROM attachment WHERE id = of AND trouble IS NULL FOR UPDATE SKIP LOCKED) $$;
        REVOKE ALL ON FUNCTION attach_again, attach_row, attach_emptied, attach_lost FROM PUBLIC;
        """
    /// Version 12. Batches are sealed.
    static let sealedBatches = """
        \(words.sealTable)
        CREATE FUNCTION seal_batch() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
          BEGIN
            NEW.last_job := (SELECT last_value - (NOT is_called)::int FROM job_id_seq);
            PERFORM pg_notify(TG_TABLE_SCHEMA || '.work', '');
            RETURN NEW;
          END $$;
        -- An import brings the number with the row.
        CREATE TRIGGER batch_is_sealed BEFORE INSERT ON batch_seal FOR EACH ROW WHEN (NEW.last_job IS NULL)
          EXECUTE FUNCTION seal_batch();
        """

    private static let words = PostgreSQLWords()
    private static let uploads =
        "SELECT substr(source, 16) AS name FROM attached WHERE attachment = of AND size IS NOT NULL"
}
