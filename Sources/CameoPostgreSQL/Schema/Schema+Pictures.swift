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

        CREATE TABLE thumbnail(
          id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 32),
          blob text COLLATE "C" NOT NULL REFERENCES blob(digest),
          width integer NOT NULL CHECK (width > 0),
          height integer NOT NULL CHECK (height > 0),
          format text NOT NULL,
          source text COLLATE "C" NOT NULL,
          rendition json NOT NULL,
          source_digest text COLLATE "C" NOT NULL,
          -- SHA-256 of the overlay's bytes, if the rendition has one.
          overlay_digest text COLLATE "C" CHECK (length(overlay_digest) = 64),
          source_seen bigint NOT NULL,
          renderer_version text NOT NULL,
          job_id bigint NOT NULL,
          created_at bigint NOT NULL,
          updated_at bigint NOT NULL,
          -- Recorded to the hour only; 0: not read since recording began.
          read_at bigint NOT NULL DEFAULT 0,
          -- When it was last read or made.
          used_at bigint GENERATED ALWAYS AS (greatest(read_at, updated_at)) STORED,
          has_alpha boolean NOT NULL,
          frames integer NOT NULL CHECK (frames >= 1),
          -- Base64 of at most 25 bytes.
          thumb_hash text NOT NULL CHECK (length(thumb_hash) BETWEEN 4 AND 64),
          blur_hash text NOT NULL CHECK (length(blur_hash) BETWEEN 6 AND 128),
          dominant_color text NOT NULL CHECK (dominant_color ~ '^#[0-9a-f]{6}$'),
          source_format text NOT NULL CHECK (length(source_format) > 0),
          source_width integer NOT NULL CHECK (source_width > 0),
          source_height integer NOT NULL CHECK (source_height > 0),
          source_pages integer NOT NULL CHECK (source_pages >= 1),
          source_has_alpha boolean NOT NULL,
          -- Derived from format and pages; stored for the view.
          source_is_animated boolean NOT NULL,
          is_truncated boolean NOT NULL,
          -- What is known of a video beyond the size of its frames; NULL for pictures.
          source_video json
        );
        CREATE INDEX thumbnail_blob ON thumbnail(blob);
        -- By its beginning where a source is too long for an index entry.
        CREATE INDEX thumbnail_source ON thumbnail(left(source, 512));
        CREATE INDEX thumbnail_use ON thumbnail(used_at);

        -- When the recording of something began. Until then any thumbnail may have been read; one row says so for all
        -- of them.
        CREATE TABLE epoch(name text PRIMARY KEY, since bigint NOT NULL);
        INSERT INTO epoch VALUES ('readings', now_ms());

        -- One answer of a source's server, whose bytes are a blob; or bytes that a program uploaded under a key.
        CREATE TABLE source(
          uri text COLLATE "C" NOT NULL CHECK (uri <> ''),
          -- A digest of the request's credentials; empty if there are none.
          scope text COLLATE "C" NOT NULL,
          -- The request's values that the answer depends on (Vary); empty if there are none.
          variant text COLLATE "C" NOT NULL,
          blob text COLLATE "C" NOT NULL REFERENCES blob(digest),
          size bigint NOT NULL CHECK (size >= 0),
          final_url text NOT NULL,
          status integer NOT NULL CHECK (status BETWEEN 200 AND 599),
          fields json NOT NULL CHECK (json_typeof(fields) = 'array'),
          hops json NOT NULL CHECK (json_typeof(hops) = 'array'),
          media_type text,
          text_encoding text,
          requested_at bigint NOT NULL,
          responded_at bigint NOT NULL,
          fresh_until bigint NOT NULL,
          source_seen bigint NOT NULL,
          pinned boolean NOT NULL DEFAULT false,
          -- The servers that the bytes came from; a worker checks them against its own address guard.
          peers json NOT NULL CHECK (
            CASE WHEN json_typeof(peers) = 'array' THEN pinned OR json_array_length(peers) > 0 ELSE false END),
          stored_at bigint NOT NULL,
          last_used_at bigint NOT NULL
        );
        -- An index entry holds less than 2.7 kB, so that the texts, which may be longer, go in by their digests.
        CREATE UNIQUE INDEX source_key ON source(text_digest(uri), scope,
          text_digest(variant));
        CREATE INDEX source_blob ON source(blob);
        CREATE INDEX source_use ON source(last_used_at) WHERE NOT pinned;

        CREATE TABLE source_failure(
          uri text COLLATE "C" NOT NULL,
          scope text COLLATE "C" NOT NULL,
          failure json NOT NULL,
          since bigint NOT NULL,
          until bigint NOT NULL,
          source_seen bigint NOT NULL,
          peers json NOT NULL CHECK (json_typeof(peers) = 'array')
        );
        CREATE UNIQUE INDEX source_failure_key ON source_failure(text_digest(uri), scope);
        CREATE INDEX source_failure_end ON source_failure(until);

        -- Blobs that lost a reference, and when; they may have others.
        CREATE TABLE orphan(digest text COLLATE "C" PRIMARY KEY, since bigint NOT NULL);
        CREATE INDEX orphan_since ON orphan(since);
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
