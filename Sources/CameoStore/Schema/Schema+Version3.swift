extension Schema {
    /// Cached originals, remembered failures, and which blobs nobody names any more.
    static let version3 = """
        -- One answer of a source's server, whose bytes are a blob; or bytes that a program handed over under a key.
        CREATE TABLE source(
          uri TEXT NOT NULL CHECK (uri <> ''),
          -- A digest of the request's credentials; empty without any.
          scope TEXT NOT NULL,
          -- What of the request the answer depends on (Vary); empty where it depends on nothing.
          variant TEXT NOT NULL,
          blob TEXT NOT NULL REFERENCES blob(digest),
          size INTEGER NOT NULL CHECK (size >= 0),
          final_url TEXT NOT NULL,
          status INTEGER NOT NULL CHECK (status BETWEEN 200 AND 599),
          fields TEXT NOT NULL CHECK (json_type(fields) IS 'array'),
          hops TEXT NOT NULL CHECK (json_type(hops) IS 'array'),
          media_type TEXT,
          text_encoding TEXT,
          requested_at INTEGER NOT NULL,
          responded_at INTEGER NOT NULL,
          fresh_until INTEGER NOT NULL,
          source_seen INTEGER NOT NULL,
          pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
          stored_at INTEGER NOT NULL,
          last_used_at INTEGER NOT NULL,
          PRIMARY KEY (uri, scope, variant)
        ) STRICT;
        CREATE INDEX source_blob ON source(blob);
        CREATE INDEX source_use ON source(last_used_at) WHERE pinned = 0;

        CREATE TABLE source_failure(
          uri TEXT NOT NULL,
          scope TEXT NOT NULL,
          failure TEXT NOT NULL CHECK (json_valid(failure)),
          since INTEGER NOT NULL,
          until INTEGER NOT NULL,
          source_seen INTEGER NOT NULL,
          PRIMARY KEY (uri, scope)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX source_failure_end ON source_failure(until);

        CREATE INDEX thumbnail_source ON thumbnail(source);

        -- 1: a program put the bytes in by themselves, and no row need name them.
        ALTER TABLE blob ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1));
        -- Up to version 2 nothing told these from what was left over.
        UPDATE blob SET pinned = 1
          WHERE NOT EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.blob = blob.digest)
            AND NOT EXISTS (SELECT 1 FROM job WHERE source_blob = blob.digest);

        -- A job keeps the blob that it is to be made of, however it was enqueued.
        CREATE TRIGGER job_names_blob AFTER INSERT ON job
          WHEN lower(substr(json_extract(NEW.request, '$.source'), 1, 20)) = 'cameo://blob/sha256-'
        BEGIN
          UPDATE job SET source_blob =
              (SELECT digest FROM blob WHERE digest = substr(json_extract(NEW.request, '$.source'), 21))
            WHERE id = NEW.id;
        END;
        UPDATE job SET source_blob = (SELECT digest FROM blob WHERE digest = substr(json_extract(request, '$.source'), 21))
          WHERE source_blob IS NULL AND lower(substr(json_extract(request, '$.source'), 1, 20)) = 'cameo://blob/sha256-';

        -- Blobs that something stopped naming, and when; something else may name them still.
        CREATE TABLE orphan(digest TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX orphan_since ON orphan(since);
        CREATE TRIGGER source_left AFTER DELETE ON source BEGIN
          INSERT INTO orphan VALUES (OLD.blob, CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER))
            ON CONFLICT DO UPDATE SET since = excluded.since;
        END;
        CREATE TRIGGER source_changed AFTER UPDATE OF blob ON source WHEN OLD.blob IS NOT NEW.blob BEGIN
          INSERT INTO orphan VALUES (OLD.blob, CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER))
            ON CONFLICT DO UPDATE SET since = excluded.since;
        END;
        CREATE TRIGGER thumbnail_left AFTER DELETE ON thumbnail BEGIN
          INSERT INTO orphan VALUES (OLD.blob, CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER))
            ON CONFLICT DO UPDATE SET since = excluded.since;
        END;
        CREATE TRIGGER thumbnail_changed AFTER UPDATE OF blob ON thumbnail WHEN OLD.blob IS NOT NEW.blob BEGIN
          INSERT INTO orphan VALUES (OLD.blob, CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER))
            ON CONFLICT DO UPDATE SET since = excluded.since;
        END;
        CREATE TRIGGER job_left_blob AFTER DELETE ON job WHEN OLD.source_blob IS NOT NULL BEGIN
          INSERT INTO orphan VALUES (OLD.source_blob, CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER))
            ON CONFLICT DO UPDATE SET since = excluded.since;
        END;

        -- Of the cache alone: what programs handed over stands apart.
        INSERT INTO total VALUES ('sources', 0), ('source_bytes', 0), ('sources_evicted', 0), ('source_bytes_evicted', 0);
        CREATE TRIGGER source_added AFTER INSERT ON source WHEN NEW.pinned = 0 BEGIN
          UPDATE total SET value = value + CASE name WHEN 'sources' THEN 1 ELSE NEW.size END
            WHERE name IN ('sources', 'source_bytes');
        END;
        CREATE TRIGGER source_removed AFTER DELETE ON source WHEN OLD.pinned = 0 BEGIN
          UPDATE total SET value = value - CASE name WHEN 'sources' THEN 1 ELSE OLD.size END
            WHERE name IN ('sources', 'source_bytes');
        END;
        CREATE TRIGGER source_resized AFTER UPDATE OF size, pinned ON source BEGIN
          UPDATE total SET value = value
              + (NEW.pinned = 0) * CASE name WHEN 'sources' THEN 1 ELSE NEW.size END
              - (OLD.pinned = 0) * CASE name WHEN 'sources' THEN 1 ELSE OLD.size END
            WHERE name IN ('sources', 'source_bytes');
        END;
        """
}
