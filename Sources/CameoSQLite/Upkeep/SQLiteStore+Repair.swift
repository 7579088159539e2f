internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import CameoSystem
internal import Foundation

/// Repairs what a check has found.
extension SQLiteStore {
    /// Stops at damaged tables, for which only a backup helps.
    package func repair(
        in turn: MaintenanceTurn,
        removingUpTo most: Int? = nil,
        report: @Sendable (ByteProgress) -> Void = { _ in }
    ) async throws(StoreError) -> [CheckFinding] {
        defer { withExtendedLifetime(turn) {} }
        var fixed: [CheckFinding] = []
        do throws(StoreError) {
            let objection = try await fix(most, report) { fixed.append(CheckFinding($0, .mended, $1)) }
            fixed += [objection].compactMap(\.self)
        } catch {
            // The check that follows reports the damage and what to do.
            let isNamed =
                switch error {
                case .damagedDatabase: true
                case .refused: try await isDamaged()
                default: false
                }
            guard isNamed else { throw error }
        }
        return fixed
    }

    /// Returns why it stopped before it removed anything.
    private func fix(
        _ most: Int?,
        _ report: @Sendable (ByteProgress) -> Void,
        _ fixed: (_ subject: String, _ text: String) -> Void
    ) async throws(StoreError) -> CheckFinding? {
        func note(_ subject: String, _ count: Int, _ text: String) {
            if count > 0 { fixed(subject, "\(count) \(text)") }
        }
        // First, because statements that use a damaged index return wrong results or fail.
        if try await rebuildIndexes() { fixed("database", "all indexes rebuilt from their tables") }
        var damaged = try await survey(readers: 1, report).damaged
        let restored = try await putBack(damaged)
        note("blobs", restored, "misplaced files restored")
        if restored > 0 { damaged = Array(try await self.damaged(damaged)) }
        if let objection = try await objection(toRemoving: damaged, upTo: most) { return objection }
        note("references", try await commit { db in try Self.removeDanglingRows(db) }, "dangling rows removed")
        note("attempts", try await commit { try $0.releaseUnknown() }, "jobs of unknown workers made available again")
        try await acceptAll()
        note(
            "requests",
            try await commit { db in
                let unreadable = "WHERE \(TaskRow.isWaiting) AND id IN (\(Self.unreadableRequests)) ORDER BY id"
                let tasks = try db.tasks(unreadable, [])
                let failure = JobFailure(.requestInvalid, at: .request, "the request cannot be read")
                for task in tasks { try db.end(task, from: task.state, End(.discarded, failure: failure)) }
                return tasks.count
            },
            "jobs discarded whose request cannot be read"
        )
        note("hooks", try await commit { try $0.repairHooks() }, "jobs and deliveries of hooks corrected")
        note("promises", try await commit { try $0.removeEmptyPromises() }, "promises of ended jobs removed")
        var (thumbnails, blobs) = (0, 0)
        for digest in damaged {
            let removed = try await remove(damaged: digest)
            thumbnails += removed.thumbnails
            blobs += removed.thumbnails == 0 && removed.isGone ? 1 : 0
        }
        note("blobs", thumbnails, "thumbnails with damaged bytes removed, to be made again on request")
        note("blobs", blobs, "damaged blobs removed that nothing references")
        note("files", try await removeOrphanedFiles(), "orphaned files removed")
        note("counters", try await commit { db in try Counters.rebuild(db) }, "counters corrected")
        return nil
    }

    private static func removeDanglingRows(_ db: SQLiteTransaction) throws -> Int {
        guard try !danglingRows(db).isEmpty else { return 0 }
        let references = [
            ("task", "id", "id FROM job"), ("outcome", "id", "id FROM job"), ("accepted", "id", "id FROM job"),
            ("attempt", "job_id", "id FROM job"), ("batch_job", "job_id", "id FROM job"),
            ("ingredient", "job_id", "id FROM job"), ("job_hook", "job_id", "id FROM job"),
            ("delivery", "job_id", "id FROM job"), ("worker_hook", "worker", "id FROM worker"),
            ("upload", "job_id", "id FROM job"), ("thumbnail", "blob", "digest FROM blob"),
            ("source", "blob", "digest FROM blob"), ("set_aside", "blob", "digest FROM blob"),
        ]
        return try references.reduce(0) { count, reference in
            let (table, column, parents) = reference
            let dangling = "\(column) NOT NULL AND \(column) NOT IN (SELECT \(parents))"
            return try count + db.execute("DELETE FROM \(table) WHERE \(dangling)")
        }
    }

    func remove(damaged digest: BlobDigest) async throws(StoreError) -> (thumbnails: Int, isGone: Bool) {
        let files = files
        return try await commit { db in
            // The bytes may have been stored again since the survey.
            let row = try db.row("SELECT data FROM blob WHERE digest = ?1", [digest.hex])
            guard let row, !files.isSound(digest, inline: try row[0]) else { return (0, false) }
            return try db.removeDamaged(digest)
        }
    }

    private func removeOrphanedFiles() async throws(StoreError) -> Int {
        let limit = clock.now().addingTimeInterval(-settledAge)
        files.removeUnfinished(olderThan: limit)
        var count = 0
        for name in try await files.folders() {
            for digest in try await orphanedFiles(among: try await files.folder(name).digests, in: name)
            where try await remove(orphan: digest, madeBefore: limit) {
                count += 1
            }
        }
        return count
    }

    /// Removes a file that no row names, unless it is older than the database, which may have taken the place of its own.
    func remove(orphan digest: BlobDigest, madeBefore limit: Date) async throws(StoreError) -> Bool {
        let files = files
        return try await commitRemoval { db, moved in
            let begun: Int64? = try db.value("SELECT since FROM epoch WHERE name = 'readings'")
            guard try !db.hasFile(digest), let begun, begun <= limit.milliseconds else { return false }
            do {
                return try files.moveAside(digest, madeIn: begun...limit.milliseconds, noting: moved)
            } catch let error as Errno where [EACCES, EPERM].contains(error.code) {
                return false  // in another user's folder, which the check that follows reports
            }
        }
    }
}
