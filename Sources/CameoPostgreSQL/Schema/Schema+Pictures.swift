internal import CameoQueue

/// The tables of pictures and their counts.
extension Schema {
    /// Blobs, thumbnails, and the cache of sources.
    static let pictures = """
        -- Immutable bytes by digest: in the row or, if data is NULL, in the storage of large blobs.
        CREATE TABLE blob(
          digest text COLLATE "C" PRIMARY KEY CHECK (length(digest) = 64),
          size bigint NOT NULL CHECK (size >= 0),
          data bytea CHECK (data IS NULL OR octet_length(data) = size),
          media_type text,
          created_at bigint NOT NULL,
          -- Stored directly by a program, and kept without a reference.
          pinned boolean NOT NULL DEFAULT false
        );
        -- Pictures are compressed already.
        ALTER TABLE blob ALTER COLUMN data SET STORAGE EXTERNAL;

        \(PostgreSQLWords().pictureTables)
        CREATE FUNCTION note_orphan() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
          BEGIN
            INSERT INTO orphan VALUES (OLD.blob, now_ms()) ON CONFLICT (digest) DO UPDATE SET since = excluded.since;
            RETURN NULL;
          END $$;
        \(orphans(of: "source"))
        \(orphans(of: "thumbnail"))
        -- Collection drops a blob from `orphan` while a job references it, so it is recorded again here.
        CREATE FUNCTION note_left_ingredient() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
          BEGIN
            INSERT INTO orphan VALUES (OLD.name, now_ms()) ON CONFLICT (digest) DO UPDATE SET since = excluded.since;
            RETURN NULL;
          END $$;
        CREATE TRIGGER ingredient_left AFTER DELETE ON ingredient FOR EACH ROW WHEN (length(OLD.name) = 64)
          EXECUTE FUNCTION note_left_ingredient();
        """

    /// Version 9. What repairs have removed from the index, and can bring back.
    static let removals = """
        CREATE TABLE set_aside(
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          -- The thumbnail, or null for an original; its source or URI; the row that it was, in JSON.
          thumbnail text COLLATE "C",
          source text COLLATE "C" NOT NULL,
          blob text COLLATE "C" NOT NULL REFERENCES blob(digest),
          entry text NOT NULL,
          at bigint NOT NULL
        );
        CREATE INDEX set_aside_blob ON set_aside(blob);
        \(orphans(of: "set_aside"))
        """

    /// Triggers that record the blobs that rows of a table stop referencing.
    private static func orphans(of table: String) -> String {
        """
        CREATE TRIGGER \(table)_left AFTER DELETE ON \(table) FOR EACH ROW EXECUTE FUNCTION note_orphan();
        CREATE TRIGGER \(table)_changed AFTER UPDATE OF blob ON \(table) FOR EACH ROW
          WHEN (OLD.blob IS DISTINCT FROM NEW.blob) EXECUTE FUNCTION note_orphan();
        """
    }

    // DESIGN. One row with the number of blobs would be locked by each transaction that stores one, until its commit. So
    // each statement appends what it changed, and the view adds it; `PostgreSQLTransaction.foldCounts` moves it into `total` from time to
    // time. Uploads under a key do not count as cached originals.

    /// Counts and bytes of blobs, thumbnails and cached originals.
    static let totals = """
        CREATE TABLE total(name text PRIMARY KEY, value bigint NOT NULL);
        INSERT INTO total VALUES ('blobs', 0), ('blob_bytes', 0), ('thumbnails', 0), ('sources', 0),
          ('source_bytes', 0), ('sources_evicted', 0), ('source_bytes_evicted', 0);
        CREATE TABLE total_delta(name text NOT NULL, value bigint NOT NULL) WITH (
          autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
        CREATE VIEW total_now AS
          SELECT name, sum(value)::bigint AS value
          FROM (SELECT name, value FROM total UNION ALL SELECT name, value FROM total_delta) AS parts GROUP BY name;

        CREATE FUNCTION count_rows() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
          DECLARE
            sign integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
            many bigint;
            bytes bigint;
          BEGIN
            IF TG_TABLE_NAME = 'thumbnail' THEN
              SELECT count(*) INTO many FROM moved;
              IF many > 0 THEN INSERT INTO total_delta VALUES ('thumbnails', sign * many); END IF;
            ELSIF TG_TABLE_NAME = 'blob' THEN
              SELECT count(*), coalesce(sum(size), 0) INTO many, bytes FROM moved;
              IF many > 0 THEN
                INSERT INTO total_delta VALUES ('blobs', sign * many), ('blob_bytes', sign * bytes);
              END IF;
            ELSE
              SELECT count(*), coalesce(sum(size), 0) INTO many, bytes FROM moved WHERE NOT pinned;
              IF many > 0 THEN
                INSERT INTO total_delta VALUES ('sources', sign * many), ('source_bytes', sign * bytes);
              END IF;
            END IF;
            RETURN NULL;
          END $$;
        \(["blob", "thumbnail", "source"].map(counting).joined(separator: "\n"))

        CREATE FUNCTION count_changed_sources() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
          BEGIN
            INSERT INTO total_delta VALUES
              ('sources', (NOT NEW.pinned)::int - (NOT OLD.pinned)::int),
              ('source_bytes', (NOT NEW.pinned)::int * NEW.size - (NOT OLD.pinned)::int * OLD.size);
            RETURN NULL;
          END $$;
        CREATE TRIGGER source_resized AFTER UPDATE OF size, pinned ON source FOR EACH ROW
          WHEN (OLD.size <> NEW.size OR OLD.pinned <> NEW.pinned) EXECUTE FUNCTION count_changed_sources();
        """

    private static func counting(_ table: String) -> String {
        """
        CREATE TRIGGER \(table)_added AFTER INSERT ON \(table) REFERENCING NEW TABLE AS moved
          FOR EACH STATEMENT EXECUTE FUNCTION count_rows();
        CREATE TRIGGER \(table)_removed AFTER DELETE ON \(table) REFERENCING OLD TABLE AS moved
          FOR EACH STATEMENT EXECUTE FUNCTION count_rows();
        """
    }
}
