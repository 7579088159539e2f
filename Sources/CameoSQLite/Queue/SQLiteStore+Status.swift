package import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    package func status() async throws(StoreError) -> StatusReport {
        let (now, directory) = (clock.now(), directory)
        return try await read { db in
            let workers = try Self.workers(db, directory)
            let queues = try Self.queues(db, now: now).map { $0.waiting(for: workers, now: now) }
            let activity = try Self.activity(queues: queues, workers: workers, db)
            return StatusReport(
                generatedAt: now,
                schemaVersion: try Schema.version(of: db.sqlite, at: directory.path),
                jobs: Dictionary(
                    uniqueKeysWithValues: JobState.allCases.map { state in
                        (state, queues.reduce(0) { $0 + ($1.jobs[state] ?? 0) })
                    }
                ),
                queues: queues,
                finishedLastMinute: activity.lastMinute,
                workers: workers,
                blobs: StatusReport.Blobs(
                    count: try Self.total("blobs", db),
                    bytes: try Self.total("blob_bytes", db)
                ),
                thumbnails: try Self.total("thumbnails", db),
                sources: StatusReport.Sources(
                    count: try Self.total("sources", db),
                    bytes: try Self.total("source_bytes", db),
                    evicted: try Self.total("sources_evicted", db),
                    evictedBytes: try Self.total("source_bytes_evicted", db)
                ),
                throughput: activity.throughput,
                stages: activity.stages,
                failures: activity.failures,
                etaSeconds: activity.etaSeconds
            )
        }
    }

    package func unfinishedJobs(
        queues: [String]?,
        background: BackgroundJobs
    ) async throws(StoreError) -> Int {
        let now = clock.now()
        let wanted = queues.map { Set($0.map(ExactText.init)) }
        return try await read { db in
            try Self.queues(db, now: now)
                .filter { queue in
                    !queue.paused && (wanted?.contains(ExactText(queue.name)) ?? true)
                        && (background == .included || !queue.isBackground)
                }
                .reduce(0) { sum, queue in
                    sum + [JobState.available, .running, .retryable].reduce(0) { $0 + (queue.jobs[$1] ?? 0) }
                }
        }
    }

    /// The workers in the order they started, or `only` the one with this id.
    static func workers(
        _ db: SQLiteTransaction,
        _ directory: StoreDirectory,
        only id: String? = nil
    ) throws -> [StatusReport.Worker] {
        let rows = try Row.fetchAll(
            db.sqlite,
            sql: """
                SELECT worker.*, (
                  SELECT count(*) FROM task INDEXED BY task_running WHERE state = 2 AND worker = worker.id) AS running,
                  (SELECT group_concat(lack) FROM worker_lack WHERE worker_lack.worker = worker.id) AS lacks
                FROM worker WHERE id = coalesce(?, id) ORDER BY started_at, id
                """,
            arguments: [id]
        )
        return try rows.map { row in
            StatusReport.Worker(
                id: row["id"],
                host: row["host"],
                pid: row["pid"],
                version: row["version"],
                startedAt: Date(milliseconds: row["started_at"]),
                isAlive: try WorkerRegistration.isAlive(row["id"], in: directory),
                concurrency: row["concurrency"],
                running: row["running"],
                stopping: (row["stop_mode"] as String?).flatMap(WorkerStop.init(stored:)),
                rendererVersion: row["renderer_version"],
                quietHours: row["quiet_hours"],
                queues: (row["queues"] as String?)
                    .flatMap { try? WireFormat.decode([String].self, from: Data($0.utf8)) },
                lacks: (row["lacks"] as String?)?.split(separator: ",").map(String.init),
                current: try runningJobs(of: row["id"], db)
            )
        }
    }

    static func total(_ name: String, _ db: SQLiteTransaction) throws -> Int {
        try Int.fetchOne(db.sqlite, sql: "SELECT value FROM total WHERE name = ?", arguments: [name]) ?? 0
    }
}
