internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

/// What a scan of the storage of large blobs has found.
struct StorageSurvey: Sendable {
    /// Bytes that no row names.
    var orphaned: [StoredObject] = []
    /// Names that are not Cameo's.
    var foreign: [String] = []
}

extension PostgreSQLStore {
    /// How many blobs are read at a time.
    static let readers = 4
    private static let objectsInAPage = 1_000

    func checkBlobs(_ report: @Sendable (ByteProgress) -> Void) async throws(StoreError) -> [CheckFinding] {
        let survey = try await self.survey(readers: Self.readers, report)
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
