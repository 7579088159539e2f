package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    package func queues() async throws(StoreError) -> [StatusReport.Queue] {
        try await read { db in
            let now = db.now
            let queues = try Self.queues(now: now, db)
            guard queues.contains(where: \.isBackground) else { return queues }
            let workers = try Self.workers(now: now, db)
            return queues.map { $0.waiting(for: workers, now: Date(milliseconds: now)) }
        }
    }

    package func unfinishedJobs(queues: [String]?, background: BackgroundJobs) async throws(StoreError) -> Int {
        let wanted = queues.map { Set($0.map(ExactText.init)) }
        return try await read { db in
            try Self.queues(now: db.now, db)
                .filter { queue in
                    !queue.paused && (wanted?.contains(ExactText(queue.name)) ?? true)
                        && (background == .included || !queue.isBackground)
                }
                .reduce(0) { sum, queue in
                    sum + [JobState.available, .running, .retryable].reduce(0) { $0 + (queue.jobs[$1] ?? 0) }
                }
        }
    }

    /// Every queue, sorted by name.
    static func queues(now: Int64, _ db: Database) throws -> [StatusReport.Queue] {
        var arrivals = try arrivals(now: now, db)
        let states = JobState.allCases
        let rows = try db.query(
            """
            SELECT name, paused, max_running, rate_count, rate_period, hook, background,
              CASE WHEN available > 0 THEN (SELECT min(due) FROM task WHERE queue = queue.id AND state = 1) END,
              \(states.map(\.rawValue).joined(separator: ", "))
            FROM queue JOIN queue_total ON queue_total.queue = queue.id
            """
        )
        func age(_ time: Int64?) -> Double? { time.map { Double(max(0, now - $0)) / 1_000 } }
        var queues = try rows.map { row in
            let name: String = try row[0]
            let more = arrivals.removeValue(forKey: ExactText(name))
            var jobs = more?.jobs ?? [:]
            for (index, state) in states.enumerated() { jobs[state, default: 0] += try row[8 + index] }
            return try StatusReport.Queue(
                name: name,
                jobs: jobs,
                oldestWaitingSeconds: age([more?.oldest, row[7] as Int64?].compactMap { $0 }.min()),
                paused: row[1],
                maxRunning: row[2],
                rate: (row[3] as Int?).map { try StartRate(count: $0, period: row[4]).description },
                hook: row[5],
                isBackground: row[6]
            )
        }
        queues += arrivals.map { name, waiting in
            StatusReport.Queue(
                name: name.text,
                jobs: waiting.jobs,
                oldestWaitingSeconds: age(waiting.oldest),
                paused: false,
                maxRunning: nil,
                rate: nil
            )
        }
        return queues.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The unaccepted jobs of each queue.
    private static func arrivals(
        now: Int64,
        _ db: Database
    ) throws -> [ExactText: (jobs: [JobState: Int], oldest: Int64?)] {
        let rows = try db.query(
            """
            SELECT queue, is_later, count(*), min(created_at) FROM (
              SELECT coalesce(field(request, 'queue'), 'default') AS queue, created_at,
                coalesce(time_field(request, 'runAt') > $1, false) AS is_later
              FROM arrival JOIN job ON job.id = arrival.id) AS arrived
            GROUP BY queue, is_later
            """,
            [now]
        )
        return try rows.reduce(into: [:]) { queues, row in
            let name = ExactText(try row[0])
            var queue = queues[name] ?? (jobs: [:], oldest: nil)
            if try row[1] {
                queue.jobs[.scheduled] = try row[2]
            } else {
                (queue.jobs[.available], queue.oldest) = try (row[2], row[3])
            }
            queues[name] = queue
        }
    }
}
