package import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    package func queues() async throws(StoreError) -> [StatusReport.Queue] {
        let now = clock.now()
        return try await read { db in try Self.queues(db, now: now) }
    }

    package func pause(_ queue: String, unknown: UnknownQueue = .refused) async throws(StoreError) -> Bool {
        try await setPaused(1, queue, unknown)
    }

    package func resume(_ queue: String) async throws(StoreError) -> Bool {
        try await setPaused(0, queue, .refused)
    }

    package func limit(
        queue: String,
        to count: Int?,
        unknown: UnknownQueue = .refused
    ) async throws(StoreError) {
        try await commit { db in
            let id = try Self.require(queue, unknown, db)
            try db.execute(sql: "UPDATE queue SET max_running = ? WHERE id = ?", arguments: [count, id])
            try Queues.decide(id, db)
        }
    }

    package func limit(
        queue: String,
        toRate rate: StartRate?,
        unknown: UnknownQueue = .refused
    ) async throws(StoreError) {
        try await commit { db in try Rates.set(rate, .queue, try Self.require(queue, unknown, db), db) }
    }

    private func setPaused(_ value: Int, _ queue: String, _ unknown: UnknownQueue) async throws(StoreError) -> Bool {
        try await commit { db in
            let id = try Self.require(queue, unknown, db)
            try db.execute(
                sql: "UPDATE queue SET paused = ? WHERE id = ? AND paused <> ?",
                arguments: [value, id, value]
            )
            return db.changesCount == 1
        }
    }

    static func require(_ queue: String, _ unknown: UnknownQueue, _ db: Database) throws -> Int64 {
        if case .created = unknown { return try Names.queue(queue, db) }
        let id = try Int64.fetchOne(db, sql: "SELECT id FROM queue WHERE name = ?", arguments: [queue])
        guard let id else { throw StoreError.noSuch(.queue, queue) }
        return id
    }

    static func queues(_ db: Database, now: Date) throws -> [StatusReport.Queue] {
        let oldest = try db.cachedStatement(
            sql: "SELECT min(due) FROM task INDEXED BY task_waiting WHERE queue = ? AND state = 1"
        )
        var arrivals = try arrivals(now: now, db)
        var queues = try Row.fetchAll(db, sql: "SELECT * FROM queue JOIN queue_count ON queue_count.queue = queue.id")
            .map { row in
                let name: String = row["name"]
                let more = arrivals.removeValue(forKey: ExactText(name))
                var jobs = more?.jobs ?? [:]
                for state in JobState.allCases { jobs[state, default: 0] += row[state.rawValue] as Int }
                var times = [more?.oldest].compactMap { $0 }
                if row["available"] > 0, let due = try Int64.fetchOne(oldest, arguments: [row["id"] as Int64]) {
                    times.append(due)
                }
                return StatusReport.Queue(
                    name: name,
                    jobs: jobs,
                    oldestWaitingSeconds: times.min().map { max(0, now.timeIntervalSince(Date(milliseconds: $0))) },
                    paused: row["paused"],
                    maxRunning: row["max_running"],
                    rate: (row["rate_count"] as Int?).map {
                        StartRate(count: $0, period: row["rate_period"]).description
                    }
                )
            }
        queues += arrivals.map { name, waiting in
            StatusReport.Queue(
                name: name.text,
                jobs: waiting.jobs,
                oldestWaitingSeconds: waiting.oldest.map { max(0, now.timeIntervalSince(Date(milliseconds: $0))) },
                paused: false,
                maxRunning: nil,
                rate: nil
            )
        }
        return queues.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Jobs that wait for their acceptance, by their queues.
    private static func arrivals(
        now: Date,
        _ db: Database
    ) throws -> [ExactText: (jobs: [JobState: Int], oldest: Int64?)] {
        guard try hasArrivals(db) else { return [:] }
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT queue, state, count(*), min(created_at) FROM (
                  SELECT coalesce(\(Schema.text("queue")), 'default') AS queue, created_at,
                    \(Schema.dueByRequest) > ? AS state
                  FROM job WHERE \(waitsForAcceptance))
                GROUP BY queue, state
                """,
            arguments: [now.milliseconds]
        )
        return rows.reduce(into: [:]) { queues, row in
            let name = ExactText(row[0])
            var queue = queues[name] ?? (jobs: [:], oldest: nil)
            if row[1] {
                queue.jobs[.scheduled] = row[2]
            } else {
                (queue.jobs[.available], queue.oldest) = (row[2], row[3])
            }
            queues[name] = queue
        }
    }
}
