extension Schema {
    /// The polling contract. An unaccepted job is shown with the values of its request.
    static let views = """
        CREATE VIEW job_status AS
          SELECT
            job.id AS id,
            CASE coalesce(task.state, outcome.state)
              WHEN 0 THEN 'scheduled' WHEN 1 THEN 'available' WHEN 2 THEN 'running' WHEN 3 THEN 'retryable'
              WHEN 4 THEN 'completed' WHEN 5 THEN 'discarded' WHEN 6 THEN 'cancelled'
              ELSE iif(julianday(\(text("runAt"))) > julianday('now'), 'scheduled', 'available') END AS state,
            coalesce((SELECT name FROM queue WHERE queue.id = coalesce(task.queue, outcome.queue)),
              \(text("queue")), 'default') AS queue,
            coalesce(task.priority, outcome.priority, \(number("priority")), 0) AS priority,
            \(text("batch")) AS batch,
            coalesce(task.attempt, outcome.attempt, 0) AS attempt,
            coalesce(task.max_attempts, outcome.max_attempts, \(number("maxAttempts")), 5) AS max_attempts,
            coalesce((SELECT 'cameo://blob/sha256-' || digest FROM upload WHERE job_id = job.id),
              json_extract(request, '$.source')) AS source,
            \(time("created_at")) AS created_at,
            \(time("coalesce(task.due, outcome.available_at, \(dueByRequest))")) AS available_at,
            \(time("coalesce(task.attempted_at, outcome.attempted_at)")) AS attempted_at,
            \(time("outcome.finalized_at")) AS finalized_at,
            coalesce(code, json_extract(attempt.failure, '$.code')) AS failure_code,
            json_extract(coalesce(outcome.failure, attempt.failure), '$.message') AS failure_message, superseded_by,
            (SELECT json_group_array(json_object(
                'name', json_extract(wanted.value, '$.name'),
                'uri', 'cameo://thumb/' || json_extract(wanted.value, '$.id'),
                'blob', 'cameo://blob/sha256-' || thumbnail.blob,
                'width', thumbnail.width,
                'height', thumbnail.height,
                'format', thumbnail.format,
                'bytes', blob.size,
                -- json('1') would print a number; true and false must be written out.
                'hasAlpha', json(CASE thumbnail.has_alpha WHEN 1 THEN 'true' WHEN 0 THEN 'false' END),
                'frames', thumbnail.frames,
                'isAnimated', json(CASE thumbnail.frames > 1 WHEN 1 THEN 'true' WHEN 0 THEN 'false' END),
                'thumbHash', thumbnail.thumb_hash,
                'blurHash', thumbnail.blur_hash,
                'dominantColor', thumbnail.dominant_color,
                'source', json(CASE WHEN thumbnail.source_format IS NOT NULL THEN json_patch(json_object(
                  'format', thumbnail.source_format,
                  'width', thumbnail.source_width,
                  'height', thumbnail.source_height,
                  'pages', thumbnail.source_pages,
                  'hasAlpha', json(iif(thumbnail.source_has_alpha, 'true', 'false')),
                  'isAnimated', json(iif(thumbnail.source_is_animated, 'true', 'false'))),
                  iif(thumbnail.source_video IS NULL, '{}', json_object('video', json(thumbnail.source_video)))) END),
                'truncated', json(CASE thumbnail.is_truncated WHEN 1 THEN 'true' END)))
              FROM json_each(accepted.thumbnails) AS wanted
              LEFT JOIN thumbnail ON thumbnail.id = json_extract(wanted.value, '$.id')
              LEFT JOIN blob ON blob.digest = thumbnail.blob) AS thumbnails
          FROM job
            LEFT JOIN task ON task.id = job.id
            LEFT JOIN outcome ON outcome.id = job.id
            LEFT JOIN accepted ON accepted.id = job.id
            LEFT JOIN attempt ON attempt.job_id = task.id AND attempt.number = task.failed;

        -- One row for each job of each batch.
        CREATE VIEW batch_status AS
          SELECT
            batch.name AS batch, job_status.id AS id, job_status.state AS state, job_status.source AS source,
            job_status.finalized_at AS finalized_at, job_status.failure_code AS failure_code
          FROM batch JOIN batch_job ON batch_job.batch = batch.id JOIN job_status ON job_status.id = batch_job.job_id
          UNION ALL
          SELECT job_status.batch, job_status.id, job_status.state, job_status.source, job_status.finalized_at,
            job_status.failure_code
          FROM job_status
          WHERE job_status.id > (SELECT value FROM sequence WHERE name = 'accepted') AND job_status.batch IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM batch_job WHERE batch_job.job_id = job_status.id);
        """

    /// A field of a request; NULL if it is not text.
    static func text(_ field: String) -> String {
        "iif(json_type(request, '$.\(field)') IS 'text', json_extract(request, '$.\(field)'), NULL)"
    }

    private static func number(_ field: String) -> String {
        """
        iif(json_type(request, '$.\(field)') IN ('integer', 'real'),
              CAST(json_extract(request, '$.\(field)') AS INTEGER), NULL)
        """
    }

    /// When an unaccepted job becomes due.
    static let dueByRequest = """
        max(created_at, coalesce(\(runAt), 0))
        """

    /// The request's `runAt` in milliseconds since 1970; NULL if it has none.
    static let runAt = "CAST((julianday(\(text("runAt"))) - 2440587.5) * 86400000.0 + 0.5 AS INTEGER)"

    private static func time(_ milliseconds: String) -> String {
        "strftime('%Y-%m-%dT%H:%M:%fZ', (\(milliseconds)) / 1000.0, 'unixepoch')"
    }
}
