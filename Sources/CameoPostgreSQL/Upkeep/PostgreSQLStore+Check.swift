internal import CameoModel
internal import CameoQueue
package import CameoStore

// DESIGN. A check compares Cameo's rows with one another, in one snapshot, and with the bytes that they name. Whether the
// server's own files are sound is its business: its indexes are checked by its extension amcheck, where the database has it.
extension PostgreSQLStore {
    private static let byAnother = "Another program changed the tables"
    /// How long a comparison of all rows may take, in milliseconds: less than a silent server's connection lasts.
    private static let patience = 85_000

    package func check(
        report: @Sendable (ByteProgress) -> Void = { _ in }
    ) async throws(StoreError) -> [CheckFinding] {
        let rows = try await read { db in
            try db.execute("SELECT set_config('statement_timeout', '\(Self.patience)', true)")
            return [
                try Self.references(db), try db.checkCounters(), try Self.limits(db), try Self.sequences(db),
                try Self.places(db), try db.checkAttempts(), try db.checkHooks(), try db.checkPromises(),
                try self.guests(db),
            ]
        }
        return [try await server()] + rows + (try await checkBlobs(report)) + [try await checkWorkers()]
    }

    private func server() async throws(StoreError) -> CheckFinding {
        let names: [String] = try await read { db in
            try db.column(
                """
                SELECT unnest(ARRAY[current_setting('server_version'), current_setting('data_checksums'), current_database()])
                """
            )
        }
        let indexes = try await damagedIndexes()
        let rest =
            indexes == nil
            ? "its pages and indexes are checked by `pg_amcheck --schema=\(url.schema) --heapallindexed \(names[2])`"
            : "its indexes are sound"
        return CheckFinding(
            "database",
            (indexes ?? []).map(\.fault),
            ok: "PostgreSQL \(names[0]), data checksums \(names[1]); \(rest)",
            advice: "\(repairCommand) rebuilds such indexes; `pg_amcheck` says whether tables are damaged too"
        )
    }

    /// The indexes in which amcheck finds a fault (https://www.postgresql.org/docs/current/amcheck.html); nil if this
    /// database does not have it, or this role may not call it.
    func damagedIndexes() async throws(StoreError) -> [(index: String, fault: String)]? {
        let found: (function: String, indexes: [String])? = try await read { db in
            let function: String? = try db.value(
                """
                SELECT name FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
                  CROSS JOIN quote_ident(nspname) AS schema CROSS JOIN concat(schema, '.bt_index_check') AS name
                WHERE extname = 'amcheck' AND has_schema_privilege(pg_namespace.oid, 'USAGE')
                  AND has_function_privilege(name || '(regclass)', 'EXECUTE')
                """
            )
            guard let function else { return nil }
            let indexes: [String] = try db.column(
                """
                SELECT pg_class.oid::regclass::text FROM pg_class JOIN pg_index ON indexrelid = pg_class.oid
                  JOIN pg_am ON pg_am.oid = relam
                WHERE relkind = 'i' AND relnamespace = current_schema()::regnamespace AND amname = 'btree' AND indisvalid
                ORDER BY relname
                """
            )
            return (function, indexes)
        }
        guard let found else { return nil }
        var damaged: [(String, String)] = []
        for index in found.indexes {
            let fault = try await read { db -> String? in
                do {
                    _ = try db.query("SELECT \(found.function)($1::regclass)", [index])
                    return nil
                } catch let error as DatabaseError where error.state.hasPrefix("XX") {
                    return error.message
                }
            }
            if let fault { damaged.append((index, fault)) }
        }
        return damaged
    }

    private static func references(_ db: PostgreSQLTransaction) throws -> CheckFinding {
        CheckFinding(
            "references",
            try RowFaults.dangling(db).map { "\($0.count) rows of \($0.table) refer to missing jobs" },
            ok: "every row of the queue and of the history has its job",
            advice: "\(byAnother); \(repairCommand) removes such rows"
        )
    }

    private static func limits(_ db: PostgreSQLTransaction) throws -> CheckFinding {
        CheckFinding(
            "limits",
            try db.column(RowFaults.hidden).map { (id: Int64) in "a claim would not find job \(id)" },
            ok: "claims can find every waiting job",
            advice: "\(byAnother); \(repairCommand) enters such jobs again"
        )
    }

    private static func sequences(_ db: PostgreSQLTransaction) throws -> CheckFinding {
        CheckFinding(
            "sequences",
            try RowFaults.lateSequences(db).map { "\($0.name) has not reached \($0.reached), which a row has" },
            ok: "no sequence gives a number again",
            advice: "A restore or replication brought the rows without it; \(repairCommand) sets it"
        )
    }

    private static func places(_ db: PostgreSQLTransaction) throws -> CheckFinding {
        let lost: [Int64] = try db.column(RowFaults.lost)
        let doubled: [Int64] = try db.column(RowFaults.doubled)
        let ofTwo: [Int64] = try db.column(RowFaults.ofTwoOutcomes)
        return CheckFinding(
            "jobs",
            lost.map { "job \($0) is neither in the queue nor in the history" }
                + doubled.map { "job \($0) is in the queue and in the history" }
                + ofTwo.map { "job \($0) has two outcomes" },
            ok: "every job is in the queue, in the history, or waits to be accepted",
            advice:
                "\(byAnother); \(repairCommand) queues jobs that are nowhere and keeps the "
                + "last of two outcomes. Jobs in both places can be cancelled"
        )
    }

    private func guests(_ db: PostgreSQLTransaction) throws -> CheckFinding {
        let guests: [String] = try db.column(
            """
            SELECT relname FROM pg_class
            WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT relispartition
              AND relname <> ALL ($1::text[]) AND NOT starts_with(relname, 'app_cameo_') ORDER BY relname
            """,
            [SQLArray(Schema.ownNames.sorted())]
        )
        return CheckFinding(
            "guests",
            [caution].compactMap(\.self) + guests.map { "\($0) is another program's" },
            ok: "the schema has only Cameo's tables",
            advice: "`ALTER TABLE … SET SCHEMA` moves a table; dropping the schema would take it along",
            severity: .warning
        )
    }

    // MARK: - Bytes

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
            let known: Set<String> = try await read { db in
                try Set(db.column("SELECT digest FROM blob WHERE digest = ANY($1::text[]) AND data IS NULL", [names]))
            }
            orphaned += page.objects.filter { !known.contains($0.digest.hex) }
            foreign += page.foreign
            cursor = page.next
        } while cursor != nil
        return (orphaned, foreign)
    }
}
