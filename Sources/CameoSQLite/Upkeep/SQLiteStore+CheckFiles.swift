internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

// Checks the content of `blobs/` in one scan.
extension SQLiteStore {
    func checkBlobs(_ report: @Sendable (ByteProgress) -> Void) async throws(StoreError) -> [CheckFinding] {
        let survey = try await survey(readers: 1, report)
        let blobs = survey.finding("\(repairCommand) restores files found in a wrong folder and")
        return [blobs] + (try await checkOwner()) + (try await checkFiles(missing: LostBlobs(survey.damaged)))
    }

    /// Checks whose linked files are; no finding for a folder of the store's own.
    private func checkOwner() async throws(StoreError) -> [CheckFinding] {
        guard files.isLinked else { return [] }
        return [
            CheckFinding(
                "owner",
                try await othersBytes().map { [$0.description] } ?? [],
                ok: "the files behind the link blobs/ are this store's",
                advice: "A copy of a store must have files of its own",
                severity: .warning
            )
        ]
    }

    private func checkFiles(missing lost: LostBlobs) async throws(StoreError) -> [CheckFinding] {
        let (prefixes, others) = try await files.folders()
        var (orphaned, unexpected) = ([String](), try await recognized(others, among: lost))
        for prefix in prefixes {
            let folder = try await files.folder(prefix)
            unexpected += try await recognized(folder.unexpected, among: lost)
            for digest in try await orphanedFiles(among: folder.digests, in: prefix) {
                let path = BlobFiles.path(of: digest)
                if let missed = try await files.found(path, among: lost) {
                    unexpected.append(UnexpectedEntry(path: path, kind: .file, fault: .misplaced(missed)))
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
                unexpected.map(\.description),
                naming: 10,
                ok: "nothing else is in blobs/",
                advice: "\(repairCommand) restores files with the bytes of a blob and leaves the rest to you",
                severity: .warning
            ),
        ]
    }

    private func recognized(_ unexpected: [UnexpectedEntry], among lost: LostBlobs) async throws(StoreError)
        -> [UnexpectedEntry]
    {
        var recognized = unexpected
        for (index, entry) in unexpected.enumerated() where entry.kind == .file {
            guard let missed = try await files.found(entry.path, among: lost) else { continue }
            recognized[index].fault = .misplaced(missed)
        }
        return recognized
    }

    /// Moves misplaced files of missing blobs back.
    ///
    /// - Returns: the number of files.
    func putBack(_ damaged: [BlobDigest]) async throws(StoreError) -> Int {
        guard !damaged.isEmpty else { return 0 }
        let (lost, (prefixes, others)) = (LostBlobs(damaged), try await files.folders())
        var count = try await putBack(others.filter { $0.kind == .file }.map(\.path), among: lost)
        for prefix in prefixes {
            let folder = try await files.folder(prefix)
            let paths =
                folder.unexpected.filter { $0.kind == .file }.map(\.path) + folder.digests.map(BlobFiles.path(of:))
            count += try await putBack(paths, among: lost)
        }
        return count
    }

    private func putBack(_ paths: [String], among lost: LostBlobs) async throws(StoreError) -> Int {
        var count = 0
        for path in paths {
            guard let digest = try await files.found(path, among: lost) else { continue }
            count += try await putBack(path, as: digest) ? 1 : 0
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
