internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation

// DESIGN. What a repair removes outside of the database it removes under the lock of the bytes' row, as collection does; where
// there is no row, an uncommitted one stands in, so that a put of the same bytes waits.
extension PostgreSQLStore {
    package func repair(
        in turn: MaintenanceTurn,
        removingUpTo most: Int? = nil,
        report: @Sendable (ByteProgress) -> Void = { _ in }
    ) async throws(StoreError) -> [CheckFinding] {
        let lease = try MaintenanceLease.of(turn)
        var fixed: [CheckFinding] = []
        func note(_ subject: String, _ count: Int, _ text: String) {
            if count > 0 { fixed.append(CheckFinding(subject, .mended, "\(count) \(text)")) }
        }
        func take(_ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Int) async throws(StoreError) -> Int {
            try await commit(.upkeep(turn), body)
        }
        // First, because a statement that uses a damaged index gives wrong answers.
        let indexes = try await damagedIndexes() ?? []
        for (index, _) in indexes { _ = try await take { try $0.execute("REINDEX INDEX \(index)") } }
        note("database", indexes.count, "indexes rebuilt from their tables")
        let keepTurn = { () async throws(StoreError) in try await self.commit(.upkeep(turn)) { _ in } }
        let damaged = try await survey(readers: Self.readers, report, before: keepTurn).damaged
        if let objection = try await objection(toRemoving: damaged, upTo: most) { return fixed + [objection] }
        note("sequences", try await take(RowFaults.advanceSequences), "sequences set to what rows have reached")
        note("jobs", try await take(RowFaults.removeEarlierOutcomes), "outcomes removed that were not a job's last")
        note("references", try await take(RowFaults.removeDangling), "dangling rows removed")
        note("jobs", try await take(Self.requeue), "jobs queued that were nowhere")
        note("attempts", try await take { try $0.releaseUnknown() }, "jobs of unknown workers made available again")
        note("hooks", try await take { try $0.repairHooks() }, "jobs and deliveries of hooks corrected")
        note("promises", try await take { try $0.removeEmptyPromises() }, "promises of ended jobs removed")
        note("limits", try await take(Self.enterAgain), "jobs entered again that no claim would have found")
        var (thumbnails, blobs) = (0, 0)
        for digest in damaged {
            try await keepTurn()
            let removed = try await remove(damaged: digest)
            thumbnails += removed.thumbnails
            blobs += removed.thumbnails == 0 && removed.isGone ? 1 : 0
        }
        note("blobs", thumbnails, "thumbnails with damaged bytes removed, to be made again on request")
        note("blobs", blobs, "damaged blobs removed that nothing references")
        let orphans = try await removeOrphans(before: keepTurn)
        note("files", orphans.removed, "bytes removed that no row named")
        if let failure = orphans.failure {
            fixed.append(CheckFinding("files", .error, "bytes that no row names stay: \(failure)"))
        }
        // In a transaction of its own: others append their changes of counts at their end.
        let counters = try await hold { db -> Int? in
            try lease.renew(db)
            return try RowFaults.recount(db)
        } while: {
        } finally: { _, count, _ in
            count
        }
        note("counters", counters ?? 0, "counters corrected")
        return fixed
    }

    /// Enters jobs without a place as arrivals, so that they are accepted.
    private static func requeue(_ db: PostgreSQLTransaction) throws -> Int {
        try db.execute("DELETE FROM accepted WHERE id IN (\(RowFaults.lost))")
        return try db.execute("INSERT INTO arrival \(RowFaults.lost) ON CONFLICT DO NOTHING")
    }

    /// Puts tasks into the lanes of their queues, tenants and keys, and lowers the heads of lanes.
    private static func enterAgain(_ db: PostgreSQLTransaction) throws -> Int {
        let places = try db.query("SELECT DISTINCT queue, tenant, key \(RowFaults.misplaced)")
        var count = 0
        for place in places {
            let place = try Ledger.Place(queue: place["queue"], key: place["key"], tenant: place["tenant"])
            count += try db.execute(
                "UPDATE task SET lane = $1 WHERE queue = $2 AND tenant = $3 AND key = $4 AND lane <> $1",
                [try db.lane(place), place.queue, place.tenant, place.key]
            )
        }
        count += try db.execute(Share.entering)
        return try count
            + db.execute(
                """
                UPDATE lane SET head = least(lane.head, high.rank) FROM (\(RowFaults.highHeads)) AS high
                WHERE high.id = lane.id
                """
            )
    }

    func remove(damaged digest: BlobDigest) async throws(StoreError) -> (thumbnails: Int, isGone: Bool) {
        let none = (thumbnails: 0, isGone: false)
        return try await hold { db in
            try db.value("SELECT 1 FROM blob WHERE digest = $1 FOR UPDATE", [digest.hex]) as Int?
        } while: {
            // The bytes may have been stored again since the survey.
            try await isLost(digest)
        } finally: { db, _, isLost in
            try isLost ? db.removeDamaged(digest) : none
        } ?? none
    }

    private func removeOrphans(
        before next: () async throws(StoreError) -> Void
    ) async throws(StoreError) -> (removed: Int, failure: StoreError?) {
        guard let storage, try await othersBytes() == nil else { return (0, nil) }
        let limit = clock.now().addingTimeInterval(-settledAge)
        // What is older than these tables may be what was here before them.
        let begun: Int64? = try await read { db in try db.value("SELECT since FROM epoch WHERE name = 'readings'") }
        guard let begun else { return (0, nil) }
        let times = Date(milliseconds: begun)...max(limit, Date(milliseconds: begun))
        var (count, failure) = (0, StoreError?.none)
        do throws(StoreError) { count = try await storage.removeUnfinished(before: limit) } catch { failure = error }
        for object in try await survey(storage, before: next).orphaned where times.contains(object.storedAt) {
            try await next()
            do throws(StoreError) {
                count += try await remove(orphan: object, from: storage) ? 1 : 0
            } catch {
                failure = failure ?? error
            }
        }
        return (count, failure)
    }

    /// Removes bytes that no row names.
    func remove(orphan object: StoredObject, from storage: any ByteStorage) async throws(StoreError) -> Bool {
        let hex = object.digest.hex
        let removed: Void? = try await hold { db -> Bool? in
            let isOutside: Bool? = try db.value("SELECT data IS NULL FROM blob WHERE digest = $1 FOR UPDATE", [hex])
            if let isOutside { return isOutside ? nil : false }
            let count = try db.execute(
                "INSERT INTO blob(digest, size, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
                [hex, object.size, db.now]
            )
            return count == 1 ? true : nil
        } while: {
            try await storage.remove(object.digest)
        } finally: { db, isStandIn, _ in
            if isStandIn { try db.execute("DELETE FROM blob WHERE digest = $1", [hex]) }
        }
        return removed != nil
    }
}
