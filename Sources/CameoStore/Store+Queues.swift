package import CameoModel
internal import Foundation
internal import GRDB

/// What may become of a queue's name that no job has had so far.
package enum UnknownQueue: Sendable {
    /// Likely a misspelling.
    case refused
    /// Made, so that it can be set up before its first job.
    case created
}

extension Store {
    /// Every queue that a job or an operator has named, by name.
    package func queues() async throws(StoreError) -> [StatusReport.Queue] {
        let now = clock.now()
        return try await read { db in try Self.queues(db, now: now) }
    }

    /// One of them.
    ///
    /// - Throws: ``StoreError/noSuch(_:_:)``
    package func queue(_ name: String) async throws(StoreError) -> StatusReport.Queue {
        guard let queue = try await queues().first(where: { $0.name == name }) else { throw .noSuch(.queue, name) }
        return queue
    }

    /// Keeps a queue's waiting jobs from the workers from the next claim on; what runs goes on.
    ///
    /// - Returns: false if it was paused already.
    /// - Throws: ``StoreError/noSuch(_:_:)``
    package func pause(_ queue: String, unknown: UnknownQueue = .refused) async throws(StoreError) -> Bool {
        try await setPaused(1, queue, unknown)
    }

    /// Lets a queue's jobs be claimed again; idle workers see it at once.
    ///
    /// - Returns: false if it was not paused.
    /// - Throws: ``StoreError/noSuch(_:_:)``
    package func resume(_ queue: String) async throws(StoreError) -> Bool {
        try await setPaused(0, queue, .refused)
    }

    /// Lets at most so many jobs of a queue run at once, over all workers; nil: as many as there is room for. What runs
    /// above a lower limit goes on.
    ///
    /// - Throws: ``StoreError/noSuch(_:_:)``
    package func limit(
        queue: String,
        to count: Int?,
        unknown: UnknownQueue = .refused
    ) async throws(StoreError) {
        try await commit { db in
            try Self.require(queue, unknown, db)
            try db.execute(sql: "UPDATE queue SET max_running = ? WHERE name = ?", arguments: [count, queue])
        }
    }

    private func setPaused(_ value: Int, _ queue: String, _ unknown: UnknownQueue) async throws(StoreError) -> Bool {
        try await commit { db in
            try Self.require(queue, unknown, db)
            try db.execute(
                sql: "UPDATE queue SET paused = ? WHERE name = ? AND paused <> ?",
                arguments: [value, queue, value]
            )
            return db.changesCount == 1
        }
    }

    static func require(_ queue: String, _ unknown: UnknownQueue, _ db: Database) throws {
        let isKnown = try Bool.fetchOne(
            db,
            sql: "SELECT EXISTS (SELECT 1 FROM queue WHERE name = ?)",
            arguments: [queue]
        )
        if isKnown == true { return }
        guard unknown == .created else { throw StoreError.noSuch(.queue, queue) }
        try db.execute(sql: "INSERT INTO queue(name) VALUES (?)", arguments: [queue])
    }

    static func queues(_ db: Database, now: Date) throws -> [StatusReport.Queue] {
        var counts: [String: [JobState: Int]] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT queue, state, count FROM job_count") {
            counts[row["queue"], default: [:]][try JobState(stored: row["state"])] = row["count"]
        }
        return try Row.fetchAll(db, sql: "SELECT * FROM queue ORDER BY name").map { row in
            let name: String = row["name"]
            let oldest = try Int64.fetchOne(
                db.cachedStatement(
                    sql: "SELECT min(available_at) FROM job WHERE state = 'available' AND queue = ?"
                ),
                arguments: [name]
            )
            return StatusReport.Queue(
                name: name,
                jobs: counts[name] ?? [:],
                oldestWaitingSeconds: oldest.map { max(0, now.timeIntervalSince(Date(milliseconds: $0))) },
                paused: row["paused"],
                maxRunning: row["max_running"]
            )
        }
    }
}
