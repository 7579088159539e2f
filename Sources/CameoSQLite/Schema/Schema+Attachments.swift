internal import CameoQueue

/// Tables of other programs that are followed.
extension Schema {
    /// Version 11. Tables of programs that are followed. Their triggers insert into the view `attaching` what a row has now; its
    /// trigger keeps the mirror, and those of the mirror enqueue and forget. `is_change` is false where rows are only read again.
    static let attachments = """
        CREATE VIEW attaching AS SELECT attachment, key, number, NULL AS value, label, queue, 0 AS is_change FROM attached;
        \(words.attachmentTables)
        CREATE TRIGGER attach_row INSTEAD OF INSERT ON attaching BEGIN
          DELETE FROM attached WHERE attachment = NEW.attachment AND key = NEW.key AND (
            coalesce(length(NEW.value), 0) = 0 OR label IS NOT NEW.label
            OR EXISTS (SELECT 1 FROM \(given) WHERE CASE
              WHEN why IS NOT NULL THEN attached.source IS NOT NULL OR attached.message IS NOT why
              WHEN kind = 'bytes' THEN NEW.is_change OR attached.size IS NOT \(size)
              ELSE attached.source IS NOT \(words.source(ofKey: "NEW.key", value)) END));
          INSERT INTO attached(attachment, key, number, source, size, label, queue, message)
            SELECT id, NEW.key, NEW.number, CASE WHEN why IS NULL THEN \(words.source(ofKey: "NEW.key", value)) END,
              CASE kind WHEN 'bytes' THEN \(size) END, NEW.label, NEW.queue, why
            FROM \(given)
            WHERE length(NEW.value) > 0
              AND NOT EXISTS (SELECT 1 FROM attached WHERE attachment = NEW.attachment AND key = NEW.key);
          INSERT INTO upload(data, request, cachekey)
            SELECT CAST(NEW.value AS BLOB), \(words.request(of: "attached", namingSource: false)), substr(source, 16)
            FROM attached JOIN attachment ON attachment.id = attached.attachment
            WHERE \(isNewUpload);
          UPDATE attached SET job_id = (SELECT job_id FROM upload WHERE id = last_insert_rowid()), version = \(version)
            WHERE \(isNewUpload);
          UPDATE attached SET job_id = NULL, queue = NEW.queue WHERE attachment = NEW.attachment AND key = NEW.key
            AND source IS NOT NULL AND coalesce(version, 0) < \(version);
        END;
        CREATE TRIGGER attached_again AFTER UPDATE OF job_id ON attached WHEN NEW.source IS NOT NULL AND NEW.job_id IS NULL BEGIN
          INSERT INTO job(request) SELECT \(words.request(of: "NEW")) FROM attachment WHERE id = NEW.attachment;
          UPDATE attached SET job_id = last_insert_rowid(), version = \(version), thumbnails = NULL, code = NULL, message = NULL
            WHERE attachment = NEW.attachment AND key = NEW.key;
        END;
        CREATE TRIGGER attached_leaves AFTER DELETE ON attached WHEN OLD.source IS NOT NULL BEGIN
          INSERT INTO forget(selector)
            SELECT \(words.selector(of: "OLD", name: "attachment.name")) FROM attachment WHERE id = OLD.attachment;
          \(words.removingUploads("SELECT substr(OLD.source, 16) AS name WHERE OLD.size IS NOT NULL").map { "\($0);" }.joined(separator: "\n  "))
        END;
        """

    private static let words = SQLiteWords()
    private static let value = "CAST(NEW.value AS TEXT)"
    private static let size = "length(CAST(NEW.value AS BLOB))"
    /// The attachment, and why the value is no source.
    private static let given = """
        (SELECT *, CASE WHEN typeof(NEW.value) = 'blob' AND kind <> 'bytes' THEN 'it is no text'
          ELSE \(words.refusal(ofKey: "NEW.key", value, size: size)) END AS why
        FROM attachment WHERE id = NEW.attachment) AS attachment
        """
    private static let version = "(SELECT version FROM attachment WHERE id = NEW.attachment)"
    private static let isNewUpload = """
        attached.attachment = NEW.attachment AND attached.key = NEW.key AND attached.source IS NOT NULL
              AND attached.size IS NOT NULL AND attached.job_id IS NULL
        """
}
