internal import CameoQueue

/// The tables of thumbnails, blobs and cached sources.
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

        \(SQLiteWords().pictureTables)
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
