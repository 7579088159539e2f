internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

// Checks the content of `blobs/` in one scan.
extension SQLiteStore {
    func checkBlobs(_ report: @Sendable (ByteProgress) -> Void) async throws(StoreError) -> [CheckFinding] {
        let survey = try await survey(readers: 1, report)
        let blobs = survey.finding("\(repairCommand) restores files found in a wrong folder and")
        let others = try await checkFiles(missing: LostBlobs(survey.damaged))
        return [blobs, try await checkOwner()].compactMap { $0 } + others
    }

    /// Checks whose linked files are; no finding for a folder of the store's own.
    private func checkOwner() async throws(StoreError) -> CheckFinding? {
        guard files.isLinked else { return nil }
        return CheckFinding(
            "owner",
            try await othersBytes().map { [$0.description] } ?? [],
            ok: "the files behind the link blobs/ are this store's",
            advice: "A copy of a store must have files of its own",
            severity: .warning
        )
    }

    private func checkFiles(missing lost: LostBlobs) async throws(StoreError) -> [CheckFinding] {
        var (orphaned, unexpected) = ([String](), [String]())
        for name in try await files.folders() {
            let folder = try await files.folder(name, missing: lost)
            unexpected += folder.problems
            for digest in try await orphanedFiles(among: folder.digests, in: name) {
                let path = BlobFiles.path(of: digest)
                if let missed = folder.misplaced[path] {
                    unexpected.append(BlobFiles.misplaced(path, missed))
                } else {
                    orphaned.append("no row references the file of \(digest)")
                }
            }
        }
        return [
            CheckFinding(
                "files",
                orphaned,
                ok: "every file belongs to a blob",
                advice: """
                    A process died between writing the file and its row, or a repair removed the row; \(repairCommand) removes \
                    such files when they are an hour old, except those that are older than the database
                    """,
                severity: .warning
            ),
            CheckFinding(
                "unexpected",
                unexpected,
                naming: 10,
                ok: "nothing else is in blobs/",
                advice: "\(repairCommand) restores files with the bytes of a blob and leaves the rest to you",
                severity: .warning
            ),
        ]
    }

    /// Moves misplaced files of missing blobs back.
    ///
    /// - Returns: the number of files.
    func putBack(_ damaged: [BlobDigest]) async throws(StoreError) -> Int {
        guard !damaged.isEmpty else { return 0 }
        let lost = LostBlobs(damaged)
        var count = 0
        for name in try await files.folders() {
            let misplaced = try await files.folder(name, missing: lost).misplaced.sorted { $0.key < $1.key }
            for (path, digest) in misplaced where try await putBack(path, as: digest) { count += 1 }
        }
        return count
    }

    /// Moves one file back under the write lock, so that its row is not removed meanwhile. A file that cannot be moved
    /// stays a finding.
    private func putBack(_ path: String, as digest: BlobDigest) async throws(StoreError) -> Bool {
        let files = files
        let isDurable = try await files.perform { directory in
            // Whoever copied it there may not have synced it.
            let file = try? OpenFile(opened: open("\(directory.path)/\(path)", O_RDONLY | O_NOFOLLOW | O_CLOEXEC))
            return file.map { fsync($0.descriptor) == 0 } ?? false
        }
        guard isDurable else { return false }
        return try await commit { db in
            guard try db.hasFile(digest), !files.isSound(digest, inline: nil) else { return false }
            do {
                try files.putBack(path, as: digest)
                return true
            } catch is Errno {
                return false
            }
        }
    }
}

extension SQLiteTransaction {
    /// Whether a row names the file of a blob.
    func hasFile(_ digest: BlobDigest) throws -> Bool {
        try value("SELECT EXISTS (SELECT 1 FROM blob WHERE digest = ?1 AND data IS NULL)", [digest.hex]) ?? false
    }
}
