extension Schema {
    static let pictures = """
        -- Immutable bytes by digest: in the row, or in a file if data is NULL.
        CREATE TABLE blob(
          digest TEXT PRIMARY KEY CHECK (length(digest) = 64),
          size INTEGER NOT NULL CHECK (size >= 0),
          data BLOB CHECK (data IS NULL OR length(data) = size),
          media_type TEXT,
          created_at INTEGER NOT NULL,
          -- 1: stored directly by a program, and kept without a reference.
          pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1))
        ) STRICT;

        CREATE TABLE thumbnail(
          id TEXT PRIMARY KEY CHECK (length(id) = 32),
          blob TEXT NOT NULL REFERENCES blob(digest),
          width INTEGER NOT NULL CHECK (width > 0),
          height INTEGER NOT NULL CHECK (height > 0),
          format TEXT NOT NULL,
          source TEXT NOT NULL,
          rendition TEXT NOT NULL CHECK (json_valid(rendition)),
          source_digest TEXT NOT NULL,
          -- SHA-256 of the overlay's bytes, if the rendition has one.
          overlay_digest TEXT CHECK (length(overlay_digest) = 64),
          source_seen INTEGER NOT NULL,
          renderer_version TEXT NOT NULL,
          job_id INTEGER NOT NULL,
          created_at INTEGER NOT NULL,
          updated_at INTEGER NOT NULL,
          -- Recorded to the hour only; 0: not read since recording began.
          read_at INTEGER NOT NULL DEFAULT 0,
          -- When it was last read or made.
          used_at INTEGER GENERATED ALWAYS AS (max(read_at, updated_at)) VIRTUAL,
          has_alpha INTEGER NOT NULL CHECK (has_alpha IN (0, 1)),
          frames INTEGER NOT NULL CHECK (frames >= 1),
          -- Base64 of at most 25 bytes.
          thumb_hash TEXT NOT NULL CHECK (length(thumb_hash) BETWEEN 4 AND 64),
          blur_hash TEXT NOT NULL CHECK (length(blur_hash) BETWEEN 6 AND 128),
          dominant_color TEXT NOT NULL CHECK (
            length(dominant_color) = 7 AND dominant_color GLOB '#[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]'),
          source_format TEXT NOT NULL CHECK (length(source_format) > 0),
          source_width INTEGER NOT NULL CHECK (source_width > 0),
          source_height INTEGER NOT NULL CHECK (source_height > 0),
          source_pages INTEGER NOT NULL CHECK (source_pages >= 1),
          source_has_alpha INTEGER NOT NULL CHECK (source_has_alpha IN (0, 1)),
          -- Derived from format and pages; stored for the view.
          source_is_animated INTEGER NOT NULL CHECK (source_is_animated IN (0, 1)),
          is_truncated INTEGER NOT NULL CHECK (is_truncated IN (0, 1)),
          -- What is known of a video beyond the size of its frames; NULL for pictures.
          source_video TEXT CHECK (source_video IS NULL OR json_valid(source_video))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX thumbnail_blob ON thumbnail(blob);
        CREATE INDEX thumbnail_source ON thumbnail(source);
        CREATE INDEX thumbnail_use ON thumbnail(used_at);

        -- When the recording of something began. Until then any thumbnail may have been read; one row says so for all
        -- of them.
        CREATE TABLE epoch(name TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO epoch VALUES ('readings', CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER));

        -- One answer of a source's server, whose bytes are a blob; or bytes that a program uploaded under a key.
        CREATE TABLE source(
          uri TEXT NOT NULL CHECK (uri <> ''),
          -- A digest of the request's credentials; empty if there are none.
          scope TEXT NOT NULL,
          -- The request's values that the answer depends on (Vary); empty if there are none.
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
          -- The servers that the bytes came from; a worker checks them against its own address guard.
          peers TEXT NOT NULL CHECK (json_type(peers) IS 'array' AND (pinned = 1 OR json_array_length(peers) > 0)),
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
          peers TEXT NOT NULL CHECK (json_type(peers) IS 'array'),
          PRIMARY KEY (uri, scope)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX source_failure_end ON source_failure(until);

        -- Blobs that lost a reference, and when; they may have others.
        CREATE TABLE orphan(digest TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX orphan_since ON orphan(since);
        \(orphans(of: "source", "blob"))
        \(orphans(of: "thumbnail", "blob"))

        -- Counts and bytes of blobs, thumbnails and cached originals; uploads under a key do not count as originals.
        CREATE TABLE total(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO total VALUES ('blobs', 0), ('blob_bytes', 0), ('thumbnails', 0), ('sources', 0), ('source_bytes', 0),
          ('sources_evicted', 0), ('source_bytes_evicted', 0);
        CREATE TRIGGER blob_added AFTER INSERT ON blob BEGIN
          UPDATE total SET value = value + 1 WHERE name = 'blobs';
          UPDATE total SET value = value + NEW.size WHERE name = 'blob_bytes';
        END;
        CREATE TRIGGER blob_removed AFTER DELETE ON blob BEGIN
          UPDATE total SET value = value - 1 WHERE name = 'blobs';
          UPDATE total SET value = value - OLD.size WHERE name = 'blob_bytes';
        END;
        CREATE TRIGGER thumbnail_added AFTER INSERT ON thumbnail BEGIN
          UPDATE total SET value = value + 1 WHERE name = 'thumbnails';
        END;
        CREATE TRIGGER thumbnail_removed AFTER DELETE ON thumbnail BEGIN
          UPDATE total SET value = value - 1 WHERE name = 'thumbnails';
        END;
        CREATE TRIGGER source_added AFTER INSERT ON source WHEN NEW.pinned = 0 BEGIN
          UPDATE total SET value = value + 1 WHERE name = 'sources';
          UPDATE total SET value = value + NEW.size WHERE name = 'source_bytes';
        END;
        CREATE TRIGGER source_removed AFTER DELETE ON source WHEN OLD.pinned = 0 BEGIN
          UPDATE total SET value = value - 1 WHERE name = 'sources';
          UPDATE total SET value = value - OLD.size WHERE name = 'source_bytes';
        END;
        CREATE TRIGGER source_resized AFTER UPDATE OF size, pinned ON source BEGIN
          UPDATE total SET value = value + (NEW.pinned = 0) - (OLD.pinned = 0) WHERE name = 'sources';
          UPDATE total SET value = value + (NEW.pinned = 0) * NEW.size - (OLD.pinned = 0) * OLD.size
            WHERE name = 'source_bytes';
        END;
        """

    /// Version 8. What repairs have removed from the index, and can bring back.
    static let removals = """
        CREATE TABLE set_aside(
          id INTEGER PRIMARY KEY,
          -- The thumbnail, or null for an original; its source or URI; the row that it was, in JSON.
          thumbnail TEXT,
          source TEXT NOT NULL,
          blob TEXT NOT NULL REFERENCES blob(digest),
          entry TEXT NOT NULL CHECK (json_valid(entry)),
          at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX set_aside_blob ON set_aside(blob);
        \(orphans(of: "set_aside", "blob"))
        """

    /// Triggers that record the blobs that rows of a table stop referencing.
    private static func orphans(of table: String, _ column: String) -> String {
        let note = """
            INSERT INTO orphan VALUES (OLD.\(column), CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER))
                ON CONFLICT DO UPDATE SET since = excluded.since;
            """
        return """
            CREATE TRIGGER \(table)_left AFTER DELETE ON \(table) BEGIN
              \(note)
            END;
            CREATE TRIGGER \(table)_changed AFTER UPDATE OF \(column) ON \(table)
              WHEN OLD.\(column) IS NOT NEW.\(column)
            BEGIN
              \(note)
            END;
            """
    }
}
