internal import Foundation
internal import GRDB

// DESIGN. Rows that mean nothing any more and that nothing else removes: remembered failures whose time is over, and
// concurrency keys that no job has. A key that an operator has limited stays: the limit is for jobs to come. So does one of
// which any job is left, however it ended: retried, it would find no limit, and never be let run.
extension Store {
    private static let isOver = "FROM source_failure WHERE until <= ?"

    fileprivate static let isUnused = """
        fixed = 0 AND NOT EXISTS (SELECT 1 FROM job INDEXED BY job_of_key WHERE concurrency_key = concurrency.key)
        """

    func removeLeftovers(now: Int64, _ steps: inout PruneSteps) async throws {
        try await removeFailures(now: now, &steps)
        var walk = UnusedKeys()
        while let page = try await next(of: &walk) {
            try await steps.take(page.map(\.key)) { keys throws(StoreError) in try await remove(keys: keys) }
        }
    }

    /// What ``removeLeftovers(now:_:)`` would remove.
    func leftovers(now: Int64) async throws(StoreError) -> Pruned {
        try await read { db in
            var found = Pruned()
            found.sourceFailures = try Int.fetchOne(db, sql: "SELECT count(*) \(Self.isOver)", arguments: [now]) ?? 0
            found.concurrencyKeys =
                try Int.fetchOne(db, sql: "SELECT count(*) FROM concurrency WHERE \(Self.isUnused)") ?? 0
            return found
        }
    }

    private func removeFailures(now: Int64, _ steps: inout PruneSteps) async throws {
        var isLeft = try await read { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 \(Self.isOver))", arguments: [now]) ?? false
        }
        while isLeft {
            try await steps.take { () throws(StoreError) in
                var step = Pruned()
                step.sourceFailures = try await commit { db in
                    try Self.removeFailures(endedBy: now, atMost: PruneSteps.size, db)
                }
                isLeft = step.sourceFailures == PruneSteps.size
                return step
            }
        }
    }

    /// - Returns: how many.
    static func removeFailures(endedBy now: Int64, atMost limit: Int, _ db: Database) throws -> Int {
        let remove = try db.cachedStatement(
            sql: """
                DELETE FROM source_failure WHERE (uri, scope) IN (SELECT uri, scope \(isOver) ORDER BY until LIMIT ?)
                """
        )
        try remove.execute(arguments: [now, limit])
        return db.changesCount
    }

    private func remove(keys: [String]) async throws(StoreError) -> Pruned {
        try await commit { db in
            // A job may have come with one of them since the look.
            let remove = try db.cachedStatement(sql: "DELETE FROM concurrency WHERE key = ? AND \(Self.isUnused)")
            var removed = Pruned()
            for key in keys {
                try remove.execute(arguments: [key])
                removed.concurrencyKeys += db.changesCount
            }
            return removed
        }
    }
}

/// A walk over the concurrency keys, in their order.
private struct UnusedKeys: IndexWalk {
    struct Candidate: Sendable {
        let key: String
        let isUnused: Bool
    }

    var last: Candidate?
    var isOver = false

    func isToGo(_ candidate: Candidate) -> Bool { candidate.isUnused }

    func entries(_ db: Database, limit: Int) throws -> [Candidate] {
        let statement = try db.cachedStatement(
            sql: "SELECT key, (\(Store.isUnused)) AS is_unused FROM concurrency WHERE key > ? ORDER BY key LIMIT ?"
        )
        return try Row.fetchAll(statement, arguments: [last?.key ?? "", limit]).map { row in
            Candidate(key: row["key"], isUnused: row["is_unused"])
        }
    }
}
