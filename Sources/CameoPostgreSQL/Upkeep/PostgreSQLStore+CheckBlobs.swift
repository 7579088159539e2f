internal import CameoModel
internal import CameoQueue
internal import CameoStore

extension PostgreSQLStore {
    /// How many blobs are read at a time.
    static let readers = 4
    private static let objectsInAPage = 1_000

    func checkBlobs(_ report: @Sendable (ByteProgress) -> Void) async throws(StoreError) -> [CheckFinding] {
        let survey = try await self.survey(readers: Self.readers, report)
        guard let storage else { return [survey.finding()] }
        let stored = try await self.survey(storage)
        let others = try await othersBytes().map(\.description)
        return [
            survey.finding(),
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
                    \(repairCommand) removes such bytes when they are an hour old and not older than the database, unless \
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
    ///
    /// - Returns: bytes that no row names, and names that are not Cameo's.
    func survey(
        _ storage: any ByteStorage,
        before next: () async throws(StoreError) -> Void = {}
    ) async throws(StoreError) -> (orphaned: [StoredObject], foreign: [String]) {
        var (orphaned, foreign, cursor) = ([StoredObject](), [String](), String?.none)
        repeat {
            try await next()
            let page = try await storage.list(after: cursor, limit: Self.objectsInAPage)
            let names = SQLArray(page.objects.map(\.digest.hex))
            let named: [String] = try await read { db in
                try db.column("SELECT digest FROM blob WHERE digest = ANY($1::text[]) AND data IS NULL", [names])
            }
            let known = Set(named)
            orphaned += page.objects.filter { !known.contains($0.digest.hex) }
            foreign += page.foreign
            cursor = page.next
        } while cursor != nil
        return (orphaned, foreign)
    }
}
