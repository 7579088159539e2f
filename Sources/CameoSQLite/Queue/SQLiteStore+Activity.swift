internal import CameoModel
internal import CameoStore
internal import Foundation
internal import GRDB

// DESIGN. What a status says of recent jobs comes from the newest rows of existing indexes, a bounded number of each, so
// that its cost does not depend on the number of jobs. Counters by minute would be exact, and one more write for every
// job. The numbers of the change feed have no gaps, so that the changes of a period are counted by the numbers at its two
// ends; which of them are ends of jobs is counted if they are few, and otherwise estimated by samples.
extension SQLiteStore {
    /// What happened recently.
    struct Activity {
        let lastMinute: StatusReport.Finished
        let throughput: [StatusReport.Throughput]
        let stages: [StatusReport.StageTimes]
        let failures: [StatusReport.Failures]
        let etaSeconds: Double?
    }

    /// The most changes of a period that are all counted: they are neighbours on a few pages.
    private static let counted: Int64 = 3_000
    /// The samples of more changes, each on a page of its own. A third of a busy store's changes are ends of jobs, so that
    /// their estimate has a standard error of 6 %.
    private static let samples: Int64 = 500
    /// The most ended jobs whose times, and the most failed ones whose reasons are read.
    private static let newest = 500
    /// The most codes of failures, and running jobs of a worker, that are shown.
    private static let shown = (codes: 5, jobs: 4)

    static func activity(
        queues: [StatusReport.Queue],
        workers: [StatusReport.Worker],
        _ db: SQLiteTransaction
    ) throws -> Activity {
        let (one, five) = (try Period(minutes: 1, db), try Period(minutes: 5, db))
        let fifteen = try Period(minutes: 15, db)
        let backlog = queues.filter { !$0.paused && $0.opensAt == nil }.reduce(0) { sum, queue in
            sum + [JobState.available, .running, .retryable].reduce(0) { $0 + (queue.jobs[$1] ?? 0) }
        }
        let ended = Double(five.completed + five.discarded)
        let isShrinking = backlog > 0 && ended > 0 && workers.contains(where: \.isAlive)
        return Activity(
            lastMinute: StatusReport.Finished(completed: one.completed, discarded: one.discarded),
            throughput: [one, five, fifteen].map {
                StatusReport.Throughput(minutes: $0.minutes, completed: $0.completed, discarded: $0.discarded)
            },
            stages: try stages(db),
            failures: try failures(db),
            etaSeconds: isShrinking ? Double(backlog) * five.seconds / ended : nil
        )
    }

    /// The jobs that ended in the last minutes.
    private struct Period {
        let minutes: Int
        private(set) var completed = 0
        private(set) var discarded = 0
        /// From its first change until now: a worker that has just begun has had less time.
        private(set) var seconds = 1.0

        init(minutes: Int, _ db: SQLiteTransaction) throws {
            self.minutes = minutes
            // Separately, because SQLite answers only a lone min or max from the end of an index.
            let ends = "SELECT (SELECT min(seq) FROM change), (SELECT max(seq) FROM change)"
            let bounds = try Row.fetchOne(db.cachedStatement(sql: ends))
            guard let oldest = bounds?[0] as Int64?, let last = bounds?[1] as Int64?,
                let first = try Self.first(since: db.now - Int64(minutes) * 60_000, in: oldest...last, db)
            else { return }
            seconds = max(1, Double(db.now - first.at) / 1_000)
            let span = last - first.seq + 1
            let picks = span <= counted ? span : samples
            // One change of each of as many equal parts, at a place that the golden ratio scatters: claims and
            // completions alternate regularly, and equal steps might meet only one of them. All changes, if they are few.
            let statement = try db.cachedStatement(
                sql: """
                    WITH RECURSIVE pick(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM pick WHERE n + 1 < :picks)
                    SELECT state, count(*) FROM pick JOIN change ON seq = :first + CAST(
                      (n + (n * 2654435761 % 4294967296) / 4294967296.0) * :span / :picks AS INTEGER)
                    WHERE state IN (4, 5)
                      -- Requests that needed no job.
                      AND NOT EXISTS (SELECT 1 FROM outcome
                        WHERE id = job_id AND attempted_at IS NULL AND failure IS NULL)
                    GROUP BY state
                    """
            )
            for row in try Row.fetchAll(statement, arguments: ["picks": picks, "first": first.seq, "span": span]) {
                let count = Int((Double(row[1] as Int64) * Double(span) / Double(picks)).rounded())
                if try JobState(code: row[0]) == .completed { completed = count } else { discarded = count }
            }
        }

        /// The first change at or after a time, found by bisection: the times of the feed grow with its numbers.
        private static func first(
            since time: Int64,
            in numbers: ClosedRange<Int64>,
            _ db: SQLiteTransaction
        ) throws -> (seq: Int64, at: Int64)? {
            let statement = try db.cachedStatement(sql: "SELECT at FROM change WHERE seq >= ? ORDER BY seq LIMIT 1")
            func at(_ seq: Int64) throws -> Int64 { try Int64.fetchOne(statement, arguments: [seq]) ?? .max }
            guard try at(numbers.upperBound) >= time else { return nil }
            var (low, high) = (numbers.lowerBound, numbers.upperBound)
            while low < high {
                let middle = low + (high - low) / 2
                if try at(middle) >= time { high = middle } else { low = middle + 1 }
            }
            return (low, try at(low))
        }
    }

    /// The stages of an attempt in their order, each with its time in milliseconds.
    private static let stageTimes: [(stage: StatusReport.StageTimes.Stage, milliseconds: String)] = [
        (.wait, "max(0, ended.attempted_at - ended.available_at)"), (.fetch, "fetch_ms"), (.queue, "queue_ms"),
        (.render, "render_ms"), (.store, "store_ms"),
    ]

    /// The times of the jobs that were completed last.
    private static func stages(_ db: SQLiteTransaction) throws -> [StatusReport.StageTimes] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(stageTimes.map(\.milliseconds).joined(separator: ", "))
                FROM (SELECT id, attempted_at, available_at FROM outcome INDEXED BY outcome_end
                    WHERE state = 4 ORDER BY finalized_at DESC LIMIT \(newest)) AS ended
                  JOIN attempt ON attempt.job_id = ended.id AND attempt.started_at = ended.attempted_at
                """
        )
        var times = [[Int]](repeating: [], count: stageTimes.count)
        let rows = try Row.fetchCursor(statement)
        while let row = try rows.next() {
            for index in times.indices { if let time = row[index] as Int? { times[index].append(time) } }
        }
        return zip(stageTimes, times).compactMap { stage, times in
            guard !times.isEmpty else { return nil }
            let sorted = times.sorted()
            func rank(_ percent: Int) -> Int { sorted[(sorted.count * percent + 99) / 100 - 1] }
            return StatusReport.StageTimes(stage: stage.stage, p50: rank(50), p95: rank(95))
        }
    }

    /// Why the newest discarded jobs, and the newest that wait for another attempt, failed last.
    private static func failures(_ db: SQLiteTransaction) throws -> [StatusReport.Failures] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT code, count(*), max(id) FROM (
                  SELECT * FROM (SELECT id, code FROM outcome INDEXED BY outcome_end
                    WHERE state = 5 ORDER BY finalized_at DESC LIMIT \(newest))
                  UNION ALL
                  SELECT * FROM (SELECT task.id, json_extract(failure, '$.code')
                    FROM task INDEXED BY task_failed JOIN attempt ON job_id = task.id AND number = task.failed
                    WHERE task.failed IS NOT NULL ORDER BY task.id DESC LIMIT \(newest)))
                GROUP BY code ORDER BY 2 DESC, 1 LIMIT \(shown.codes)
                """
        )
        return try Row.fetchAll(statement).map { row in
            let job = try job(row[2], attempts: nil, db)
            return StatusReport.Failures(
                code: JobFailure.Code(rawValue: row[0] as String? ?? "") ?? .unknown,
                count: row[1],
                example: StatusReport.FailedJob(
                    id: job.id,
                    source: job.source.map(SourceName.of),
                    message: job.failure?.message ?? ""
                )
            )
        }
    }

    /// The jobs that a worker has run longest.
    static func runningJobs(of worker: String, _ db: SQLiteTransaction) throws -> [StatusReport.RunningJob] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT task.id, task.attempted_at, coalesce(
                  (SELECT 'cameo://blob/sha256-' || digest FROM upload WHERE job_id = task.id),
                  json_extract(request, '$.source'))
                FROM (SELECT id, attempted_at FROM task INDEXED BY task_running
                    WHERE state = 2 AND worker = ? ORDER BY attempted_at, id LIMIT \(shown.jobs)) AS task
                  JOIN job ON job.id = task.id
                """
        )
        return try Row.fetchAll(statement, arguments: [worker]).map { row in
            StatusReport.RunningJob(
                id: row[0],
                source: (row[2] as String?).map(SourceName.of),
                since: Date(milliseconds: row[1] as Int64? ?? 0)
            )
        }
    }
}
