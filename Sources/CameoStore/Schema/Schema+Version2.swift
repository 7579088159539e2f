extension Schema {
    /// What is known of every thumbnail and of its source, and which overlay it carries.
    ///
    /// The facts are NULL together in rows that version 1 wrote. `source_digest` stays the digest of the source alone.
    static let version2 = """
        ALTER TABLE thumbnail ADD COLUMN has_alpha INTEGER CHECK (has_alpha IN (0, 1));
        ALTER TABLE thumbnail ADD COLUMN frames INTEGER CHECK (frames >= 1);
        -- Base64 of the hash's bytes, 25 at the most.
        ALTER TABLE thumbnail ADD COLUMN thumb_hash TEXT CHECK (length(thumb_hash) BETWEEN 4 AND 64);
        ALTER TABLE thumbnail ADD COLUMN blur_hash TEXT CHECK (length(blur_hash) BETWEEN 6 AND 128);
        ALTER TABLE thumbnail ADD COLUMN dominant_color TEXT CHECK (
          length(dominant_color) = 7 AND dominant_color GLOB '#[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]');
        ALTER TABLE thumbnail ADD COLUMN source_format TEXT CHECK (length(source_format) > 0);
        ALTER TABLE thumbnail ADD COLUMN source_width INTEGER CHECK (source_width > 0);
        ALTER TABLE thumbnail ADD COLUMN source_height INTEGER CHECK (source_height > 0);
        ALTER TABLE thumbnail ADD COLUMN source_pages INTEGER CHECK (source_pages >= 1);
        ALTER TABLE thumbnail ADD COLUMN source_has_alpha INTEGER CHECK (source_has_alpha IN (0, 1));
        -- Follows from format and pages; stands here for the view.
        ALTER TABLE thumbnail ADD COLUMN source_is_animated INTEGER CHECK (source_is_animated IN (0, 1));
        ALTER TABLE thumbnail ADD COLUMN is_truncated INTEGER
          CHECK (is_truncated IN (0, 1))
          CONSTRAINT "the facts of a thumbnail come together" CHECK (
            (has_alpha IS NULL) + (frames IS NULL) + (thumb_hash IS NULL) + (blur_hash IS NULL)
              + (dominant_color IS NULL) + (source_format IS NULL) + (source_width IS NULL) + (source_height IS NULL)
              + (source_pages IS NULL) + (source_has_alpha IS NULL) + (source_is_animated IS NULL)
              + (is_truncated IS NULL) IN (0, 12));
        -- SHA-256 of the overlay's bytes, of a rendition that has one.
        ALTER TABLE thumbnail ADD COLUMN overlay_digest TEXT CHECK (length(overlay_digest) = 64);

        -- Facts are those of the blob and its source: a worker of version 1 that still runs replaces them and knows nothing
        -- of facts.
        CREATE TRIGGER thumbnail_replaced AFTER UPDATE OF blob, source_digest, renderer_version ON thumbnail
          WHEN NEW.blob IS NOT OLD.blob OR NEW.source_digest IS NOT OLD.source_digest
            OR NEW.renderer_version IS NOT OLD.renderer_version
        BEGIN
          UPDATE thumbnail SET has_alpha = NULL, frames = NULL, thumb_hash = NULL, blur_hash = NULL,
            dominant_color = NULL, source_format = NULL, source_width = NULL, source_height = NULL, source_pages = NULL,
            source_has_alpha = NULL, source_is_animated = NULL, is_truncated = NULL, overlay_digest = NULL
          WHERE id = NEW.id;
        END;

        DROP VIEW job_status;
        CREATE VIEW job_status AS
          SELECT
            id, state, queue, priority, batch, attempt, max_attempts,
            json_extract(request, '$.source') AS source,
            strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
            strftime('%Y-%m-%dT%H:%M:%fZ', available_at / 1000.0, 'unixepoch') AS available_at,
            strftime('%Y-%m-%dT%H:%M:%fZ', attempted_at / 1000.0, 'unixepoch') AS attempted_at,
            strftime('%Y-%m-%dT%H:%M:%fZ', finalized_at / 1000.0, 'unixepoch') AS finalized_at,
            json_extract(failure, '$.code') AS failure_code,
            json_extract(failure, '$.message') AS failure_message,
            (SELECT json_group_array(json_object(
                'name', json_extract(wanted.value, '$.name'),
                'uri', 'cameo://thumb/' || json_extract(wanted.value, '$.id'),
                'blob', 'cameo://blob/sha256-' || thumbnail.blob,
                'width', thumbnail.width,
                'height', thumbnail.height,
                'format', thumbnail.format,
                'bytes', blob.size,
                -- json('1') would print a number: true and false have to be made by name.
                'hasAlpha', json(CASE thumbnail.has_alpha WHEN 1 THEN 'true' WHEN 0 THEN 'false' END),
                'frames', thumbnail.frames,
                'isAnimated', json(CASE thumbnail.frames > 1 WHEN 1 THEN 'true' WHEN 0 THEN 'false' END),
                'thumbHash', thumbnail.thumb_hash,
                'blurHash', thumbnail.blur_hash,
                'dominantColor', thumbnail.dominant_color,
                'source', json(CASE WHEN thumbnail.source_format IS NOT NULL THEN json_object(
                  'format', thumbnail.source_format,
                  'width', thumbnail.source_width,
                  'height', thumbnail.source_height,
                  'pages', thumbnail.source_pages,
                  'hasAlpha', json(iif(thumbnail.source_has_alpha, 'true', 'false')),
                  'isAnimated', json(iif(thumbnail.source_is_animated, 'true', 'false'))) END),
                'truncated', json(CASE thumbnail.is_truncated WHEN 1 THEN 'true' END)))
              FROM json_each(job.thumbnails) AS wanted
              LEFT JOIN thumbnail ON thumbnail.id = json_extract(wanted.value, '$.id')
              LEFT JOIN blob ON blob.digest = thumbnail.blob) AS thumbnails
          FROM job;
        """
}
