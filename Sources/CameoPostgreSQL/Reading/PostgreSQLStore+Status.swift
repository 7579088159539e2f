package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    package func status() async throws(StoreError) -> StatusReport {
        // Recent changes are counted by their numbers.
        try await numberChanges()
        return try await read { db in
            let now = db.now
            let date = Date(milliseconds: now)
            let workers = try Self.workers(now: now, db)
            let queues = try Self.queues(now: now, db).map { $0.waiting(for: workers, now: date) }
            let activity = try Self.activity(queues: queues, workers: workers, now: now, db)
            let totals = try Self.totals(db)
            return StatusReport(
                generatedAt: date,
                schemaVersion: Schema.currentVersion,
                jobs: Dictionary(
                    uniqueKeysWithValues: JobState.allCases.map { state in
                        (state, queues.reduce(0) { $0 + ($1.jobs[state] ?? 0) })
                    }
                ),
                queues: queues,
                finishedLastMinute: activity.lastMinute,
                workers: workers,
                blobs: StatusReport.Blobs(count: totals["blobs"] ?? 0, bytes: totals["blob_bytes"] ?? 0),
                thumbnails: totals["thumbnails"] ?? 0,
                sources: StatusReport.Sources(
                    count: totals["sources"] ?? 0,
                    bytes: totals["source_bytes"] ?? 0,
                    evicted: totals["sources_evicted"] ?? 0,
                    evictedBytes: totals["source_bytes_evicted"] ?? 0
                ),
                throughput: activity.throughput,
                stages: activity.stages,
                failures: activity.failures,
                etaSeconds: activity.etaSeconds
            )
        }
    }

    /// The workers in the order they started, or `only` the one with this id. A worker is alive while its lease runs.
    static func workers(now: Int64, only id: String? = nil, _ db: Database) throws -> [StatusReport.Worker] {
        let rows = try db.query(
            """
            SELECT id, host, pid, version, started_at, lease_until, concurrency,
              (SELECT count(*) FROM task WHERE state = 2 AND worker = worker.id), stop_mode, renderer_version, quiet_hours,
              array_to_json(queues),
              (SELECT string_agg(lack, ',' ORDER BY lack) FROM worker_lack WHERE worker_lack.worker = worker.id)
            FROM worker WHERE $1::text IS NULL OR id = $1 ORDER BY started_at, id
            """,
            [id]
        )
        let running = try runningJobs(of: id, db)
        return try rows.map { row in
            try StatusReport.Worker(
                id: row[0],
                host: row[1],
                pid: row[2],
                version: row[3],
                startedAt: Date(milliseconds: row[4]),
                isAlive: (row[5] as Int64) >= now,
                concurrency: row[6],
                running: row[7],
                stopping: (row[8] as String?).flatMap(WorkerStop.init(stored:)),
                rendererVersion: row[9],
                quietHours: row[10],
                queues: (row[11] as String?).flatMap { try? WireFormat.decode([String].self, from: Data($0.utf8)) },
                lacks: (row[12] as String?)?.split(separator: ",").map(String.init),
                current: running[row[0] as String] ?? []
            )
        }
    }

    /// The jobs that each worker, or only one, has run longest.
    private static func runningJobs(of only: String?, _ db: Database) throws -> [String: [StatusReport.RunningJob]] {
        try db.query(
            """
            SELECT worker.id, first.id, attempted_at, coalesce(
              (SELECT 'cameo://blob/sha256-' || digest FROM upload WHERE job_id = first.id), field(request, 'source'))
            FROM worker CROSS JOIN LATERAL (
                SELECT task.id, attempted_at FROM task WHERE state = 2 AND task.worker = worker.id
                ORDER BY attempted_at, task.id LIMIT $2) AS first
              JOIN job ON job.id = first.id
            WHERE $1::text IS NULL OR worker.id = $1 ORDER BY attempted_at, first.id
            """,
            [only, Activity.shown.jobs]
        )
        .reduce(into: [:]) { running, row in
            let source: String? = try row[3]
            running[try row[0], default: []].append(
                StatusReport.RunningJob(
                    id: try row[1],
                    source: source.map(SourceName.of),
                    since: Date(milliseconds: try row[2])
                )
            )
        }
    }

    private static func totals(_ db: Database) throws -> [String: Int] {
        Dictionary(uniqueKeysWithValues: try db.query("SELECT name, value FROM total_now").map { try ($0[0], $0[1]) })
    }
}
