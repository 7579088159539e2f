package import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

extension PostgreSQLTransaction {
    package func schemaVersion() -> Int { Schema.currentVersion }

    /// A worker is alive while its lease runs.
    package func workers(only id: String?) throws -> [StatusReport.Worker] {
        let rows = try query(
            """
            SELECT id, host, pid, version, started_at, lease_until, concurrency,
              (SELECT count(*) FROM task WHERE state = 2 AND worker = worker.id), stop_mode, renderer_version, quiet_hours,
              array_to_json(queues),
              (SELECT string_agg(lack, ',' ORDER BY lack) FROM worker_lack WHERE worker_lack.worker = worker.id)
            FROM worker WHERE $1::text IS NULL OR id = $1 ORDER BY started_at, id
            """,
            [id]
        )
        let running = try runningJobs(of: id)
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
    private func runningJobs(of only: String?) throws -> [String: [StatusReport.RunningJob]] {
        try query(
            """
            SELECT worker.id, first.id, attempted_at, coalesce(
              (SELECT 'cameo://blob/sha256-' || digest FROM upload WHERE job_id = first.id), field(request, 'source'))
            FROM worker CROSS JOIN LATERAL (
                SELECT task.id, attempted_at FROM task WHERE state = 2 AND task.worker = worker.id
                ORDER BY attempted_at, task.id LIMIT $2) AS first
              JOIN job ON job.id = first.id
            WHERE $1::text IS NULL OR worker.id = $1 ORDER BY attempted_at, first.id
            """,
            [only, shownJobs]
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
}
