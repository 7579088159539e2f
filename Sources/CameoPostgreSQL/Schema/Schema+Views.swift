extension Schema {
    /// The counts of queues with what was not folded yet, and the polling contract. An unaccepted job is shown with the
    /// values of its request.
    static let views = """
        CREATE VIEW queue_total AS
          SELECT queue, \(sums) FROM (SELECT * FROM queue_count UNION ALL SELECT * FROM queue_delta) AS parts
          GROUP BY queue;

        CREATE VIEW job_status AS
          SELECT
            job.id AS id,
            CASE coalesce(task.state, outcome.state)
              WHEN 0 THEN 'scheduled' WHEN 1 THEN 'available' WHEN 2 THEN 'running' WHEN 3 THEN 'retryable'
              WHEN 4 THEN 'completed' WHEN 5 THEN 'discarded' WHEN 6 THEN 'cancelled'
              ELSE CASE WHEN time_field(request, 'runAt') > now_ms() THEN 'scheduled' ELSE 'available' END END AS state,
            coalesce((SELECT name FROM queue WHERE queue.id = coalesce(task.queue, outcome.queue)),
              field(request, 'queue'), 'default') AS queue,
            coalesce(task.priority, outcome.priority, number_field(request, 'priority'), 0) AS priority,
            field(request, 'batch') AS batch,
            coalesce(task.attempt, outcome.attempt, 0) AS attempt,
            coalesce(task.max_attempts, outcome.max_attempts, number_field(request, 'maxAttempts'), 5)
              AS max_attempts,
            coalesce((SELECT 'cameo://blob/sha256-' || digest FROM upload WHERE job_id = job.id),
              field(request, 'source')) AS source,
            time_text(job.created_at) AS created_at,
            time_text(coalesce(task.due, outcome.available_at,
              greatest(job.created_at, time_field(request, 'runAt')))) AS available_at,
            time_text(coalesce(task.attempted_at, outcome.attempted_at)) AS attempted_at,
            time_text(outcome.finalized_at) AS finalized_at,
            coalesce(code, failed.failure ->> 'code') AS failure_code,
            field(coalesce(outcome.failure, failed.failure), 'message') AS failure_message,
            superseded_by,
            (SELECT coalesce(json_agg(\(thumbnail) ORDER BY place), '[]'::json)
              FROM json_array_elements(accepted.thumbnails) WITH ORDINALITY AS wanted(item, place)
              LEFT JOIN thumbnail ON thumbnail.id = wanted.item ->> 'id'
              LEFT JOIN blob ON blob.digest = thumbnail.blob) AS thumbnails
          FROM job
            LEFT JOIN task ON task.id = job.id
            LEFT JOIN outcome ON outcome.id = job.id
            LEFT JOIN accepted ON accepted.id = job.id
            LEFT JOIN earlier_attempt AS failed ON failed.job_id = task.id AND failed.number = task.failed;

        -- One row for each job of each batch.
        CREATE VIEW batch_status AS
          SELECT
            batch.name AS batch, job_status.id AS id, job_status.state AS state, job_status.source AS source,
            job_status.finalized_at AS finalized_at, job_status.failure_code AS failure_code
          FROM batch JOIN batch_job ON batch_job.batch = batch.id JOIN job_status ON job_status.id = batch_job.job_id
          UNION ALL
          SELECT job_status.batch, job_status.id, job_status.state, job_status.source, job_status.finalized_at,
            job_status.failure_code
          FROM arrival JOIN job_status ON job_status.id = arrival.id WHERE job_status.batch IS NOT NULL;
        """

    private static let sums = [
        "scheduled", "available", "running", "retryable", "completed", "discarded", "cancelled", "ever_completed",
        "ever_discarded", "ever_cancelled",
    ]
    .map { "sum(\($0))::bigint AS \($0)" }.joined(separator: ", ")

    private static let thumbnail = """
        json_build_object(
                'name', wanted.item ->> 'name',
                'uri', 'cameo://thumb/' || (wanted.item ->> 'id'),
                'blob', 'cameo://blob/sha256-' || thumbnail.blob,
                'width', thumbnail.width,
                'height', thumbnail.height,
                'format', thumbnail.format,
                'bytes', blob.size,
                'hasAlpha', thumbnail.has_alpha,
                'frames', thumbnail.frames,
                'isAnimated', thumbnail.frames > 1,
                'thumbHash', thumbnail.thumb_hash,
                'blurHash', thumbnail.blur_hash,
                'dominantColor', thumbnail.dominant_color,
                'source', CASE WHEN thumbnail.id IS NOT NULL THEN json_strip_nulls(json_build_object(
                  'format', thumbnail.source_format,
                  'width', thumbnail.source_width,
                  'height', thumbnail.source_height,
                  'pages', thumbnail.source_pages,
                  'hasAlpha', thumbnail.source_has_alpha,
                  'isAnimated', thumbnail.source_is_animated,
                  'video', thumbnail.source_video)) END,
                'truncated', CASE WHEN thumbnail.is_truncated THEN true END)
        """
}

extension Schema {
    static let upkeep = """
        -- The maintenance lock: who holds it, and until when. A process that died loses it then.
        CREATE TABLE maintenance(
          one boolean PRIMARY KEY DEFAULT true CHECK (one),
          holder text,
          lease_until bigint NOT NULL DEFAULT 0
        );
        INSERT INTO maintenance DEFAULT VALUES;

        -- The beginnings of downloads that broke off.
        CREATE UNLOGGED TABLE partial(
          -- The SHA-256 of the URI.
          uri text COLLATE "C" NOT NULL,
          scope text COLLATE "C" NOT NULL,
          -- What is known of the response, in JSON.
          head text NOT NULL,
          size bigint NOT NULL CHECK (size >= 0),
          at bigint NOT NULL,
          PRIMARY KEY (uri, scope)
        );
        CREATE UNLOGGED TABLE partial_piece(
          uri text COLLATE "C" NOT NULL,
          scope text COLLATE "C" NOT NULL,
          number integer NOT NULL,
          bytes bytea NOT NULL,
          PRIMARY KEY (uri, scope, number),
          FOREIGN KEY (uri, scope) REFERENCES partial ON DELETE CASCADE
        );
        -- Pictures are compressed already.
        ALTER TABLE partial_piece ALTER COLUMN bytes SET STORAGE EXTERNAL;
        """
}
