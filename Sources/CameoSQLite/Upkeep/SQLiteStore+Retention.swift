package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    package func prune(
        _ retention: Retention,
        in turn: MaintenanceTurn,
        pause: Duration = .zero,
        report: @escaping (Pruned) async -> Void = { _ in }
    ) async throws -> Pruned {
        defer { withExtendedLifetime(turn) {} }
        return try await SQLiteUpkeep(store: self).prune(retention, pause: pause, report: report)
    }

    package func prunable(_ retention: Retention) async throws(StoreError) -> Pruned {
        if writes != nil { while try await acceptArrivals() {} }
        var total = try await read { db in try db.prunable(retention) }
        let limit = clock.now().addingTimeInterval(-Double(orphanAge) / 1_000)
        let blobs = try await collectableBlobs(unreferencedSince: limit)
        (total.blobs, total.blobBytes) = (blobs.count, blobs.bytes)
        return total
    }

    package func removeThumbnails(_ ids: [ThumbnailID]) async throws(StoreError) -> Int {
        while true {
            // The thumbnails that a request needs are known once it is accepted.
            while try await acceptArrivals() {}
            let removed = try await commit { db -> Int? in try db.removeThumbnails(ids.map(\.text)) }
            if let removed { return removed }
        }
    }
}

private struct SQLiteUpkeep: QueueUpkeep {
    let store: SQLiteStore

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await store.read(body)
    }

    func commit<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await store.commit(.new, body)
    }

    func acceptArrivals() async throws {
        while try await store.acceptArrivals() { try Task.checkCancellation() }
    }

    func collectBlobs(unreferencedSince time: Date, atMost limit: Int) async throws(StoreError) -> CollectedBlobs {
        try await store.collectBlobs(unreferencedSince: time, atMost: limit)
    }

    func finish(_ steps: inout PruneSteps<SQLiteUpkeep>, now: Int64) async throws {
        let files = store.files
        let limit = Date(milliseconds: now - orphanAge)
        try await files.perform { _ in files.removeUnfinished(olderThan: limit) }
        // One that a reader kept long stays so after the reader has gone, until much more is written.
        try await store.checkpointNow(onlyIfLong: true)
    }
}

extension SQLiteTransaction {
    func lockNames() {}

    func add(_ counted: StoreCounters) { ledger.counters += counted }

    func removeFailures(atMost limit: Int) throws -> Int {
        try execute(
            """
            DELETE FROM source_failure WHERE (uri, scope) IN (
              SELECT uri, scope FROM source_failure WHERE until <= ?1 ORDER BY until LIMIT ?2)
            """,
            [now, limit]
        )
    }

    func removeChanges(before limit: Int64) throws -> PruneStep {
        let page = 1_000
        let count = try execute(
            """
            DELETE FROM change WHERE seq IN (
              SELECT seq FROM (SELECT seq, at FROM change ORDER BY seq LIMIT ?1)
              WHERE at < ?2 AND seq < (SELECT max(seq) FROM change))
            """,
            [page, limit]
        )
        return PruneStep(isLast: count < page)
    }
}
