internal import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

// DESIGN. A repair puts right what the tables themselves tell to be wrong, and nothing that would need a guess. A
// thumbnail whose bytes are gone is removed: it is made anew when it is asked for, while a row that names bytes which are
// not there would stand in its way.
extension SQLiteStore {
    /// Age of a file from which it belongs to no process that is about to name it, in seconds.
    private static let settledAge = 3_600.0

    /// Mends what can be mended. It stops at damaged tables, which only a backup mends.
    ///
    /// - Parameters:
    ///   - turn: that nobody copies or prunes meanwhile.
    ///   - report: told of its progress, from any thread, while it reads the blobs.
    /// - Returns: what was done; empty if nothing had to be.
    /// - Throws: ``StoreError``
    package func repair(
        in turn: MaintenanceTurn,
        report: @Sendable (ByteProgress) -> Void = { _ in }
    ) async throws(StoreError) -> [CheckFinding] {
        defer { withExtendedLifetime(turn) {} }
        var mended: [CheckFinding] = []
        do throws(StoreError) {
            try await mend(report) { subject, count, text in
                if count > 0 { mended.append(CheckFinding(subject, .mended, "\(count) \(text)")) }
            }
        } catch {
            // The check that follows names the damage, and says what is left to do.
            let isNamed =
                switch error {
                case .damagedDatabase: true
                case .refused: try await isDamaged()
                default: false
                }
            guard isNamed else { throw error }
        }
        return mended
    }

    private func mend(
        _ report: @Sendable (ByteProgress) -> Void,
        _ note: (_ subject: String, _ count: Int, _ text: String) -> Void
    ) async throws(StoreError) {
        let now = nowMilliseconds
        // First: what goes by a damaged index errs, or fails.
        let (indexes, superseded) = try await rebuildIndexes()
        note("database", indexes.count, "indexes rebuilt from their tables: \(indexes.joined(separator: ", "))")
        note("uniqueness", superseded, "jobs cancelled for others that wait for the same thumbnails")
        note("references", try await commit { db in try Self.removeDanglingRows(db) }, "dangling rows removed")
        note(
            "attempts",
            try await commit { db in try Attempts.reconcile(now: now, db) },
            "jobs wait again that ran for nobody"
        )
        let damaged = try await survey(report).damaged
        note("blobs", try await putBack(damaged), "files put back into their places")
        let (thumbnails, lost) = try await remove(damaged: damaged)
        note("blobs", thumbnails, "thumbnails with damaged bytes removed, to be made anew")
        note("blobs", lost, "damaged blobs removed that nothing needs")
        note("files", try await removeUnnamedFiles(), "files removed that no row named")
        note("counters", try await commit { db in try Counters.rebuild(db) }, "counters set right")
    }

    private static func removeDanglingRows(_ db: Database) throws -> Int {
        guard try !danglingRows(db).isEmpty else { return 0 }
        return try [
            "DELETE FROM task WHERE id NOT IN (SELECT id FROM job)",
            "DELETE FROM outcome WHERE id NOT IN (SELECT id FROM job)",
            "DELETE FROM accepted WHERE id NOT IN (SELECT id FROM job)",
            "DELETE FROM attempt WHERE job_id NOT IN (SELECT id FROM job)",
            "DELETE FROM batch_job WHERE job_id NOT IN (SELECT id FROM job)",
            "DELETE FROM ingredient WHERE job_id NOT IN (SELECT id FROM job)",
            "DELETE FROM upload WHERE job_id NOT NULL AND job_id NOT IN (SELECT id FROM job)",
            "DELETE FROM thumbnail WHERE blob NOT IN (SELECT digest FROM blob)",
            "DELETE FROM source WHERE blob NOT IN (SELECT digest FROM blob)",
        ].reduce(0) { count, statement in
            try db.execute(sql: statement)
            return count + db.changesCount
        }
    }

    private func remove(damaged digests: [BlobDigest]) async throws(StoreError) -> (thumbnails: Int, blobs: Int) {
        var (thumbnails, blobs) = (0, 0)
        for digest in digests {
            let removed = try await remove(damaged: digest)
            thumbnails += removed.thumbnails
            blobs += removed.thumbnails == 0 && removed.isGone ? 1 : 0
        }
        return (thumbnails, blobs)
    }

    /// Thumbnails and cached originals can be had again. What a program put in, and what a job is to be made of by its
    /// digest, cannot: there the row stays, and with it the finding.
    func remove(damaged digest: BlobDigest) async throws(StoreError) -> (thumbnails: Int, isGone: Bool) {
        let (files, hex) = (files, digest.hex)
        return try await commit { db in
            // Somebody may have stored the bytes anew since the look.
            let row = try Row.fetchOne(db, sql: "SELECT data FROM blob WHERE digest = ?", arguments: [hex])
            guard let row, !files.isSound(digest, inline: row["data"]) else { return (0, false) }
            try db.execute(sql: "DELETE FROM source WHERE blob = ? AND pinned = 0", arguments: [hex])
            try db.execute(sql: "DELETE FROM thumbnail WHERE blob = ?", arguments: [hex])
            let thumbnails = db.changesCount
            try db.execute(
                sql: """
                    DELETE FROM blob WHERE digest = ?1 AND pinned = 0
                      AND NOT EXISTS (SELECT 1 FROM source WHERE blob = ?1)
                      AND NOT EXISTS (SELECT 1 FROM ingredient WHERE name = ?1)
                    """,
                arguments: [hex]
            )
            return (thumbnails, db.changesCount == 1)
        }
    }

    private func removeUnnamedFiles() async throws(StoreError) -> Int {
        let limit = clock.now().addingTimeInterval(-Self.settledAge)
        files.removeUnfinished(olderThan: limit)
        var count = 0
        for prefix in try await files.folders().prefixes {
            for digest in try await unnamedFiles(in: try await files.folder(prefix))
            where try await remove(unnamed: digest, madeBefore: limit) {
                count += 1
            }
        }
        return count
    }

    func remove(unnamed digest: BlobDigest, madeBefore limit: Date) async throws(StoreError) -> Bool {
        let (files, moved) = (files, MovedFiles())
        do throws(StoreError) {
            let isAside = try await commit { db in
                moved.beginRun()
                let isNamed = try Bool.fetchOne(
                    db,
                    sql: "SELECT EXISTS (SELECT 1 FROM blob WHERE digest = ? AND data IS NULL)",
                    arguments: [digest.hex]
                )
                guard isNamed == false else { return false }
                do {
                    return try files.moveAside(digest, madeBefore: limit.milliseconds, noting: moved)
                } catch let error as Errno where [EACCES, EPERM].contains(error.code) {
                    return false  // of somebody else's folder, which the check that follows names
                }
            }
            files.remove(moved)
            return isAside
        } catch {
            files.moveBack(moved)
            throw error
        }
    }
}
