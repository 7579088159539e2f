internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

// DESIGN. What a status says of recent jobs comes from the newest rows of existing indexes, a bounded number of each, so
// that its cost does not depend on the number of jobs. The numbers of the change feed have no gaps, so that the changes of
// a period are counted by the numbers at its two ends; which of them are ends of jobs is counted if they are few, and
// otherwise estimated by samples. The times of the feed grow with its numbers but for the moments between the writing of
// a change and its commit.

/// What happened recently.
struct Activity {
    /// The most codes of failures, and running jobs of a worker, that are shown.
    static let shown = (codes: 5, jobs: 4)

    let lastMinute: StatusReport.Finished
    let throughput: [StatusReport.Throughput]
    let stages: [StatusReport.StageTimes]
    let failures: [StatusReport.Failures]
    let etaSeconds: Double?
}

extension PostgreSQLStore {
    /// The most ended jobs whose times, and the most failed ones whose reasons are read.
    private static let newest = 500

    static func activity(
        queues: [StatusReport.Queue],
        workers: [StatusReport.Worker],
        now: Int64,
        _ db: Database
    ) throws -> Activity {
        let periods = try [1, 5, 15].map { try RecentEnds(minutes: $0, now: now, db) }
        let backlog = queues.filter { !$0.paused && $0.opensAt == nil }.reduce(0) { sum, queue in
            sum + [JobState.available, .running, .retryable].reduce(0) { $0 + (queue.jobs[$1] ?? 0) }
        }
        let ended = Double(periods[1].completed + periods[1].discarded)
        let isShrinking = backlog > 0 && ended > 0 && workers.contains(where: \.isAlive)
        return Activity(
            lastMinute: StatusReport.Finished(completed: periods[0].completed, discarded: periods[0].discarded),
            throughput: periods.map {
                StatusReport.Throughput(minutes: $0.minutes, completed: $0.completed, discarded: $0.discarded)
            },
            stages: try stages(db),
            failures: try failures(db),
            etaSeconds: isShrinking ? Double(backlog) * periods[1].seconds / ended : nil
        )
    }

    /// The stages of an attempt in their order, each with its time in milliseconds.
    private static let stageTimes: [(stage: StatusReport.StageTimes.Stage, milliseconds: String)] = [
        (.wait, "greatest(0, ended.attempted_at - ended.available_at)"), (.fetch, "attempt.fetch_ms"),
        (.queue, "attempt.queue_ms"), (.render, "attempt.render_ms"), (.store, "attempt.store_ms"),
    ]

    /// The times of the jobs that were completed last.
    private static func stages(_ db: Database) throws -> [StatusReport.StageTimes] {
        let rows = try db.query(
            """
            SELECT \(stageTimes.map(\.milliseconds).joined(separator: ", "))
            FROM (SELECT * FROM outcome WHERE state = 4 ORDER BY finalized_at DESC LIMIT $1) AS ended
              CROSS JOIN LATERAL (
                SELECT ended.fetch_ms, ended.queue_ms, ended.render_ms, ended.store_ms WHERE ended.number IS NOT NULL
                UNION ALL
                -- Of a job that came from another store.
                SELECT fetch_ms, queue_ms, render_ms, store_ms FROM earlier_attempt
                WHERE ended.number IS NULL AND job_id = ended.id AND started_at = ended.attempted_at) AS attempt
            """,
            [newest]
        )
        return try stageTimes.enumerated().compactMap { index, stage in
            let sorted = try rows.compactMap { try $0[index] as Int? }.sorted()
            guard !sorted.isEmpty else { return nil }
            func rank(_ percent: Int) -> Int { sorted[(sorted.count * percent + 99) / 100 - 1] }
            return StatusReport.StageTimes(stage: stage.stage, p50: rank(50), p95: rank(95))
        }
    }

    /// Why the newest discarded jobs, and the newest that wait for another attempt, failed last.
    private static func failures(_ db: Database) throws -> [StatusReport.Failures] {
        let rows = try db.query(
            """
            SELECT code, count(*), max(id) FROM (
              (SELECT id, code FROM outcome WHERE state = 5 ORDER BY finalized_at DESC LIMIT $1)
              UNION ALL
              (SELECT task.id, failed.failure ->> 'code'
                FROM task JOIN earlier_attempt AS failed ON job_id = task.id AND number = task.failed
                WHERE task.failed IS NOT NULL ORDER BY task.id DESC LIMIT $1)) AS failed
            GROUP BY code ORDER BY 2 DESC, code COLLATE "C" LIMIT $2
            """,
            [newest, Activity.shown.codes]
        )
        return try rows.map { row in
            let job = try job(try row[2], attempts: nil, db)
            return try StatusReport.Failures(
                code: (row[0] as String?).flatMap(JobFailure.Code.init) ?? .unknown,
                count: row[1],
                example: StatusReport.FailedJob(
                    id: job.id,
                    source: job.source.map(SourceName.of),
                    message: job.failure?.message ?? ""
                )
            )
        }
    }
}
