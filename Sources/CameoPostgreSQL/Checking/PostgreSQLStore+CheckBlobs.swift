internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

/// What a scan of all blobs has found.
struct BlobSurvey: Sendable {
    var count = 0
    /// Damaged or missing blobs.
    var damaged: [BlobDigest] = []
    /// Blobs that could not be read, with the reasons.
    var unreadable: [String] = []
}

/// What a scan of the storage of large blobs has found.
struct StorageSurvey: Sendable {
    /// Bytes that no row names.
    var orphaned: [StoredObject] = []
    /// Names that are not Cameo's.
    var foreign: [String] = []
}

extension PostgreSQLStore {
    private static let blobsInAPage = 500
    /// How many blobs are read at a time: a bucket answers many requests in the time of one.
    private static let readers = 4
    private static let objectsInAPage = 1_000

    func checkBlobs(_ report: @Sendable (ByteProgress) -> Void) async throws(StoreError) -> [CheckFinding] {
        let survey = try await self.survey(report)
        let blobs = CheckFinding(
            "blobs",
            survey.damaged.map { "\($0) is missing or damaged" } + survey.unreadable,
            ok: "all \(survey.count) match their digests",
            advice: """
                Damaged bytes are never served. \(Self.repairCommand) removes thumbnails with damaged bytes, which are made \
                again on request; blobs that a program stored directly are only in a backup
                """
        )
        guard let storage else { return [blobs] }
        let stored = try await self.survey(storage)
        let others = try await othersBytes().map(\.description)
        return [
            blobs,
            CheckFinding(
                "owner",
                others.map { [$0] } ?? [],
                ok: "the bytes in \(storage.location) are this store's",
                advice: "A copy of a store must have bytes of its own",
                severity: .warning
            ),
            CheckFinding(
                "files",
                stored.orphaned.map { "no row names the \($0.size) bytes of \($0.digest) in \(storage.location)" },
                ok: "all bytes in \(storage.location) belong to a blob",
                advice: """
                    \(Self.repairCommand) removes such bytes when they are an hour old and not older than the database, unless \
                    they belong to another store
                    """,
                severity: .warning
            ),
            CheckFinding(
                "unexpected",
                stored.foreign.map { "\($0) is not Cameo's" },
                naming: 10,
                ok: "nothing else is in \(storage.location)",
                advice: "Cameo leaves such names alone",
                severity: .warning
            ),
        ]
    }

    /// Reads and verifies every blob. `next` is called before each page.
    func survey(
        _ report: @Sendable (ByteProgress) -> Void,
        before next: () async throws(StoreError) -> Void = {}
    ) async throws(StoreError) -> BlobSurvey {
        let total = try await read { db in
            try db.value("SELECT value FROM total_now WHERE name = 'blob_bytes'") ?? 0
        }
        var (survey, done, last) = (BlobSurvey(), 0, "")
        while true {
            try await next()
            let after = last
            let page = try await read { db in
                try db.query(
                    "SELECT digest, size FROM blob WHERE digest > $1 ORDER BY digest LIMIT $2",
                    [after, Self.blobsInAPage]
                )
                .map { row in (hex: try row[0] as String, bytes: try row[1] as Int) }
            }
            guard let end = page.last else { break }
            last = end.hex
            survey.count += page.count
            for start in stride(from: 0, to: page.count, by: Self.readers) {
                let some = page[start..<min(start + Self.readers, page.count)]
                try await look(at: some.compactMap { BlobDigest(hex: $0.hex) }, &survey)
                done += some.reduce(0) { $0 + $1.bytes }
                report(ByteProgress(done: done, total: max(total, done)))
            }
        }
        // Checks again: the bytes of a row that was new or on its way out when it was listed may have come or gone.
        let damaged = survey.damaged
        survey.damaged = []
        for digest in damaged where try await !isWhole(digest) { survey.damaged.append(digest) }
        return survey
    }

    /// Reads some blobs at the same time.
    private func look(at digests: [BlobDigest], _ survey: inout BlobSurvey) async throws(StoreError) {
        let found = await withTaskGroup(of: Look.self) { group in
            for digest in digests { group.addTask { await self.look(at: digest) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for look in found.sorted(by: { $0.digest.hex < $1.digest.hex }) {
            switch look.isWhole {
            case .success(true): break
            case .success(false): survey.damaged.append(look.digest)
            case .failure(.unreadableBlob(let path, let reason)):
                survey.unreadable.append(StoreError.unreadableBlob(path: path, reason: reason).description)
            case .failure(let error): throw error
            }
        }
    }

    /// What reading one blob showed.
    private struct Look: Sendable {
        let digest: BlobDigest
        let isWhole: Result<Bool, StoreError>
    }

    // DESIGN. Complete before the task returns it: a tuple that the task's closure fills around a typed error is garbage in
    // code that Swift 6.3 optimises.
    private func look(at digest: BlobDigest) async -> Look {
        let result: Result<Bool, StoreError>
        do throws(StoreError) {
            result = .success(try await isWhole(digest))
        } catch {
            result = .failure(error)
        }
        return Look(digest: digest, isWhole: result)
    }

    /// Compares what is in the storage with the rows. `next` is called before each page.
    func survey(
        _ storage: any ByteStorage,
        before next: () async throws(StoreError) -> Void = {}
    ) async throws(StoreError) -> StorageSurvey {
        var (survey, cursor) = (StorageSurvey(), String?.none)
        repeat {
            try await next()
            let page = try await storage.list(after: cursor, limit: Self.objectsInAPage)
            let names = SQLArray(page.objects.map(\.digest.hex))
            let named: [String] = try await read { db in
                try db.column("SELECT digest FROM blob WHERE digest = ANY($1::text[]) AND data IS NULL", [names])
            }
            let known = Set(named)
            survey.orphaned += page.objects.filter { !known.contains($0.digest.hex) }
            survey.foreign += page.foreign
            cursor = page.next
        } while cursor != nil
        return survey
    }
}
