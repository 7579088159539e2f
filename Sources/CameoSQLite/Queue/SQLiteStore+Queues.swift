package import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    package func queues() async throws(StoreError) -> [StatusReport.Queue] {
        let (now, directory) = (clock.now(), directory)
        return try await read { db in
            let queues = try Self.queues(db, now: now)
            guard queues.contains(where: \.isBackground) else { return queues }
            let workers = try Self.workers(db, directory)
            return queues.map { $0.waiting(for: workers, now: now) }
        }
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

    package func setBackground(
        _ isBackground: Bool,
        queue: String,
        unknown: UnknownQueue
    ) async throws(StoreError) {
        try await commit { db in
            let id = try Self.require(queue, unknown, db)
            try db.execute(sql: "UPDATE queue SET background = ? WHERE id = ?", arguments: [isBackground, id])
        }
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

    static func require(_ queue: String, _ unknown: UnknownQueue, _ db: SQLiteTransaction) throws -> Int64 {
        if case .created = unknown { return try db.queue(queue) }
        let id = try Int64.fetchOne(db.sqlite, sql: "SELECT id FROM queue WHERE name = ?", arguments: [queue])
        guard let id else { throw StoreError.noSuch(.queue, queue) }
        return id
    }

    static func queues(_ db: SQLiteTransaction, now: Date) throws -> [StatusReport.Queue] {
        var arrivals = try arrivals(now: now, db)
        let states = JobState.allCases
        let statement = try db.cachedStatement(
            sql: """
                SELECT name, paused, max_running, rate_count, rate_period, hook, background, CASE WHEN available > 0 THEN
                  (SELECT min(due) FROM task INDEXED BY task_waiting WHERE queue = queue.id AND state = 1) END,
                  \(states.map(\.rawValue).joined(separator: ", "))
                FROM queue JOIN queue_count ON queue_count.queue = queue.id
                """
        )
        var queues: [StatusReport.Queue] = []
        // Uses a cursor and column indexes, because there may be thousands of queues.
        let rows = try Row.fetchCursor(statement)
        while let row = try rows.next() {
            let name: String = row[0]
            let more = arrivals.removeValue(forKey: ExactText(name))
            var jobs = more?.jobs ?? [:]
            for (index, state) in states.enumerated() { jobs[state, default: 0] += row[8 + index] as Int }
            let oldest = [more?.oldest, row[7] as Int64?].compactMap { $0 }.min()
            queues.append(
                StatusReport.Queue(
                    name: name,
                    jobs: jobs,
                    oldestWaitingSeconds: oldest.map { max(0, now.timeIntervalSince(Date(milliseconds: $0))) },
                    paused: row[1],
                    maxRunning: row[2],
                    rate: (row[3] as Int?).map { StartRate(count: $0, period: row[4]).description },
                    hook: row[5],
                    isBackground: row[6]
                )
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

    private static func arrivals(
        now: Date,
        _ db: SQLiteTransaction
    ) throws -> [ExactText: (jobs: [JobState: Int], oldest: Int64?)] {
        guard try hasArrivals(db) else { return [:] }
        let rows = try Row.fetchAll(
            db.sqlite,
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
