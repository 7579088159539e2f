import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoSQLite

/// Every kind of damage that a check detects is found, reported and, where possible, repaired.
@Suite(.timeLimit(.minutes(10)))
struct RepairTests {
    private static let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 11) })

    private func check(_ fixture: StoreFixture, _ subject: String) async throws -> CheckFinding {
        try #require(try await fixture.store.check().first { $0.subject == subject })
    }

    private func repair(_ fixture: StoreFixture) async throws -> [CheckFinding] {
        try await fixture.store.repair(in: try await fixture.store.freeTurn())
    }

    private func sql(_ fixture: StoreFixture, _ text: String) async throws {
        try await fixture.store.writeOutsideTransaction { db in
            try db.execute("PRAGMA foreign_keys = OFF")
            // What these refuse.
            for table in ["job", "upload", "task", "queue", "key", "blob"] {
                try db.execute("DROP TRIGGER \(table)_is_needed")
            }
            try db.execute(script: "\(text);\n\(Schema.refusals)\nPRAGMA foreign_keys = ON")
        }
    }

    /// Creates a store with a completed job of one large thumbnail and a running job.
    private func fixture() async throws -> (StoreFixture, ThumbnailID) {
        let fixture = try StoreFixture()
        try await fixture.register()
        try await fixture.enqueue(2)
        let jobs = try await fixture.store.claim(limit: 2, for: "w1")
        let thumbnails = try StoreFixture.rendered(jobs[0], bytes: Self.large)
        try await fixture.store.complete(
            jobs[0].claim,
            storing: thumbnails,
            from: StoreFixture.provenance(),
            timings: AttemptTimings()
        )
        return (fixture, thumbnails[0].id)
    }

    @Test func aSoundStoreNeedsNothing() async throws {
        let (fixture, thumbnail) = try await fixture()
        #expect(try await repair(fixture) == [])
        let findings = try await fixture.store.check()
        #expect(findings.allSatisfy { $0.severity == .ok || $0.subject == "sandbox" || $0.subject == "workers" })
        #expect(
            findings.map(\.subject) == [
                "sqlite", "journal", "database", "references", "counters", "limits", "jobs", "requests", "attempts",
                "hooks", "promises",
                "schema",
                "guests",
                "blobs", "files", "unexpected", "workers", "disk", "sandbox",
            ]
        )
        #expect(try await fixture.store.data(of: .thumbnail(thumbnail)) == Self.large)
    }

    /// There is room, and not enough for what it has.
    @Test func aDiskThatAWorkerWaitsForHasNoRoom() async throws {
        let fixture = try StoreFixture()
        let worker = try await fixture.register()
        #expect(try await check(fixture, "disk").message.contains(#/^a local file system, of which \d+ MiB are free$/#))
        for blocks in [true, false] {
            let trouble = StatusReport.Worker.Trouble(reason: "full", since: fixture.clock.now, blocksJobs: blocks)
            try await fixture.store.extendLease(of: "w1", adding: StoreCounters(), WorkerProgress(trouble: trouble))
            let disk = try await check(fixture, "disk")
            #expect(disk.severity == (blocks ? .warning : .ok) && disk.message.contains("MiB are free"))
            #expect(disk.message.contains("worker w1 on host waits for the store since") == blocks)
            #expect(try await check(fixture, "workers").severity == .warning)
        }
        withExtendedLifetime(worker) {}
    }

    /// Checks read whole tables, which would block the program's other reads.
    @Test(arguments: [true, false])
    func aCheckUsesItsOwnConnection(writable: Bool) async throws {
        let (fixture, thumbnail) = try await fixture()
        let store = writable ? fixture.store : try SQLiteStore(reading: fixture.path)
        let statements = Mutex<[String]>([])
        try await store.read { db in db.connection.trace { sql in statements.withLock { $0.append(sql) } } }
        _ = try await store.data(of: .thumbnail(thumbnail))
        let isTraced = statements.withLock { $0.contains { $0.contains("FROM shown_thumbnail") } }
        #expect(isTraced, "the trace sees what is read")
        #expect(try await store.check().allSatisfy { $0.severity != .error })
        for scan in [
            "integrity_check", "foreign_key_check", "FROM task WHERE state = 2 AND worker NOT IN", "count(*) FROM blob",
        ] {
            #expect(statements.withLock { !$0.contains { $0.contains(scan) } }, "\(scan)")
        }
    }

    @Test(
        arguments: TestLength.few(
            [
                ("counters", "UPDATE queue_count SET completed = completed + 5"),
                ("counters", "UPDATE queue_count SET ever_completed = 0"),
                ("counters", "UPDATE total SET value = 77 WHERE name = 'blob_bytes'"),
                ("counters", "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'job'"),
                ("counters", "INSERT INTO sqlite_sequence VALUES ('upload', 9223372036854775807)"),
                ("counters", "UPDATE sequence SET value = 9223372036854775806 WHERE name = 'accepted'"),
                ("limits", "INSERT INTO key(name, max_running, running) VALUES ('shop', 2, 2)"),
                ("attempts", "UPDATE task SET worker = 'nobody' WHERE state = 2"),
                ("references", "DELETE FROM blob"),
                ("references", "DELETE FROM job WHERE id = 1"),
            ],
            4
        )
    )
    func damageIsFoundReportedAndRepaired(subject: String, damage: String) async throws {
        let (fixture, _) = try await fixture()
        try await sql(fixture, damage)
        let found = try await check(fixture, subject)
        #expect(found.severity == .error)
        #expect(found.message.contains("--repair"), "it says how to repair it")
        #expect(
            try await repair(fixture).contains {
                $0.severity == .mended && ($0.subject == subject || subject == "limits")
            }
        )
        #expect(try await check(fixture, subject).severity == .ok)
        #expect(try await fixture.store.check().allSatisfy { $0.severity != .error })
        try await fixture.enqueue(1)
        try await fixture.store.acceptPage()
        #expect(try await repair(fixture) == [])
    }

    @Test func aJobOfAnUnknownWorkerIsReleasedWithoutCountingTheAttempt() async throws {
        let (fixture, _) = try await fixture()
        try await sql(fixture, "UPDATE task SET worker = 'nobody' WHERE state = 2")
        _ = try await repair(fixture)
        let job = try await fixture.store.job(2)
        #expect((job.state, job.attempt, job.crashCount) == (.available, 0, 0))
        #expect(job.attempts?.map(\.outcome) == [.interrupted])
    }

    /// Covers each table whose rows may refer to a missing row.
    @Test(
        arguments: [
            ("batch_job", "DELETE FROM job WHERE id = 3"), ("upload", "DELETE FROM job WHERE id = 4"),
            ("source", "DELETE FROM blob WHERE digest = (SELECT blob FROM source)"),
            ("ingredient", "DELETE FROM job WHERE id = 6"), ("task", "DELETE FROM job WHERE id = 3"),
            ("accepted", "DELETE FROM job WHERE id = 3"),
        ]
    )
    func danglingRowsAreRemoved(table: String, damage: String) async throws {
        let (fixture, thumbnail) = try await fixture()
        try await fixture.enqueue { $0.batch = "b" }
        try await sql(fixture, #"INSERT INTO upload(data, request) VALUES (x'01', '{"renditions":[{"width":64}]}')"#)
        _ = try await fixture.store.enqueue(StoreFixture.request(), data: Data("original".utf8))
        try await fixture.enqueue { $0.source = CameoURI.thumbnail(thumbnail).text }
        try await fixture.keep("a")
        let dangling =
            switch table {
            case "task", "accepted": "SELECT count(*) FROM \(table) WHERE id = 3"
            // The fifth job's upload also has a row there.
            case "ingredient": "SELECT count(*) FROM ingredient WHERE job_id = 6"
            default: "SELECT count(*) FROM \(table)"
            }
        #expect(try await fixture.sql(dangling) == "1")
        try await sql(fixture, damage)
        #expect(try await check(fixture, "references").severity == .error)
        _ = try await repair(fixture)
        #expect(try await fixture.sql(dangling) == "0")
        #expect(try await fixture.store.check().allSatisfy { $0.severity != .error })
    }

    /// Claims depend on heads, so a missing or too high one hides jobs.
    @Test(arguments: [
        "UPDATE lane SET head = NULL; UPDATE queue SET head = NULL", "UPDATE queue SET head = NULL",
        "UPDATE lane SET head = head + (1 << 60); UPDATE queue SET head = head + (1 << 60)",
        "UPDATE queue SET head = head + (1 << 60)",
    ])
    func aJobThatAClaimWouldNotFindIsFoundAndRepaired(damage: String) async throws {
        let (fixture, _) = try await fixture()
        try await fixture.enqueue()
        #expect(try await check(fixture, "limits").severity == .ok)
        try await sql(fixture, damage)
        let found = try await check(fixture, "limits")
        #expect(found.severity == .error && found.message.contains("that a claim would not find"), "\(found.message)")
        _ = try await repair(fixture)
        #expect(try await check(fixture, "limits").severity == .ok)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [3])
    }

    @Test(arguments: [0, 1])
    func aLaneThatIsWronglyOpenOrShutIsFoundAndRepaired(shut: Int) async throws {
        let (fixture, _) = try await fixture()
        try await fixture.enqueue(2) { $0.concurrencyKey = "k" }
        if shut == 0 { _ = try await fixture.store.claim(limit: 9, for: "w1") }
        try await sql(fixture, "UPDATE lane SET shut = \(shut) WHERE key <> 0")
        let found = try await check(fixture, "limits")
        #expect(found.severity == .error && found.message.contains("the concurrency key k"), "\(found.message)")
        _ = try await repair(fixture)
        #expect(try await check(fixture, "limits").severity == .ok)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").count == shut)
    }

    @Test func aClaimDoesNotTrustALaneThatIsWronglyOpen() async throws {
        let (fixture, _) = try await fixture()
        try await fixture.enqueue(2) { $0.concurrencyKey = "k" }
        _ = try await fixture.store.claim(limit: 9, for: "w1")
        try await sql(fixture, "UPDATE lane SET shut = 0; UPDATE queue SET head = (SELECT min(head) FROM lane)")
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        #expect(try await check(fixture, "limits").severity == .ok)
    }

    @Test func aJobWithoutATaskOrOutcomeIsFound() async throws {
        let (fixture, _) = try await fixture()
        try await sql(fixture, "DELETE FROM outcome")
        let found = try await check(fixture, "jobs")
        #expect(found.severity == .error && found.message.contains("job 1 is neither in the queue nor in the history"))
    }

    /// Like the work of a program that turns constraints off.
    @Test func aRowThatBreaksAConstraintIsFound() async throws {
        let (fixture, _) = try await fixture()
        _ = try await fixture.sql("PRAGMA ignore_check_constraints = ON; UPDATE task SET attempt = -1")
        let found = try await check(fixture, "database")
        #expect(found.severity == .error && found.message.contains("CHECK constraint failed in task"))
    }

    /// Another process stores the blob between the survey and the transaction that removes it.
    @Test func aBlobStoredAgainMeanwhileIsKept() async throws {
        let (fixture, thumbnail) = try await fixture()
        let blob = try await fixture.store.thumbnail(thumbnail).blob
        let removed = try await fixture.store.remove(damaged: blob)
        #expect((removed.thumbnails, removed.isGone) == (0, false))
        #expect(try await !fixture.store.remove(orphan: blob, madeBefore: .distantFuture))
        #expect(try await fixture.store.data(of: .thumbnail(thumbnail)) == Self.large)
    }

    @Test func aThumbnailWithDamagedBytesIsRemovedAndCanBeMadeAgain() async throws {
        let (fixture, thumbnail) = try await fixture()
        let blob = try await fixture.store.thumbnail(thumbnail).blob
        let file = StoreDirectory(unfinished: fixture.path).blobFile(blob)
        try Data("rubbish".utf8).write(to: URL(filePath: file))
        #expect(try await check(fixture, "blobs").severity == .error)
        let mended = try await repair(fixture)
        #expect(mended.first?.message == "1 thumbnails with damaged bytes removed, to be made again on request")
        await #expect(throws: StoreError.notFound(uri: "cameo://thumb/\(thumbnail.text)")) {
            try await fixture.store.data(of: .thumbnail(thumbnail))
        }
        #expect(try await fixture.store.check().allSatisfy { $0.severity != .error })
        _ = try await fixture.store.retry(1)
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        try await fixture.store.complete(
            job.claim,
            storing: StoreFixture.rendered(job, bytes: Self.large),
            from: StoreFixture.provenance(seen: 2),
            timings: AttemptTimings()
        )
        #expect(try await fixture.store.data(of: .thumbnail(thumbnail)) == Self.large)
    }

    /// Only a backup can restore these bytes, so the finding stays.
    @Test(arguments: ["stored", "under a key", "of a job"])
    func damagedBytesOfAProgramStayAFinding(way: String) async throws {
        let (fixture, _) = try await fixture()
        let bytes = Data(Self.large.reversed())
        let digest = BlobDigest(of: bytes)
        switch way {
        case "stored": _ = try await fixture.store.store(bytes, mediaType: nil)
        case "of a job": _ = try await fixture.store.enqueue(StoreFixture.request(), data: bytes)
        default:
            _ = try await fixture.store.enqueue(StoreFixture.request(), data: bytes, cacheKey: try CacheKey("avatar"))
        }
        try FileManager.default.removeItem(atPath: StoreDirectory(unfinished: fixture.path).blobFile(digest))
        #expect(try await repair(fixture) == [])
        let found = try await check(fixture, "blobs")
        #expect(
            found.severity == .error && found.message.contains(digest.description) && found.message.contains("backup")
        )
    }

    @Test func anOrphanedFileIsRemovedAfterAnHour() async throws {
        let (fixture, thumbnail) = try await fixture()
        let stray = BlobDigest(of: Data("stray".utf8))
        let file = fixture.store.directory.blobFile(stray)
        try write("stray", to: file, aged: 3_500, fixture)
        let found = try await check(fixture, "files")
        #expect(found.severity == .warning && found.message.contains(stray.description))
        #expect(try await repair(fixture) == [], "its writer may be about to reference it")
        try write("stray", to: file, aged: 3_700, fixture)
        #expect(try await repair(fixture).map(\.message) == ["1 orphaned files removed"])
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(try await check(fixture, "files").severity == .ok)
        #expect(try await fixture.store.data(of: .thumbnail(thumbnail)) == Self.large)
    }

    private func write(_ text: String, to file: String, aged seconds: Double, _ fixture: StoreFixture) throws {
        let (files, time) = (FileManager.default, fixture.clock.storeClock.now().addingTimeInterval(-seconds))
        let folder = URL(filePath: file).deletingLastPathComponent()
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: file))
        try files.setAttributes([.modificationDate: time], ofItemAtPath: file)
    }

    @Test func aFileOfAnInlineBlobIsRemoved() async throws {
        let (fixture, _) = try await fixture()
        let digest = try await fixture.store.store(Data("small".utf8), mediaType: nil)
        try write("small", to: fixture.store.directory.blobFile(digest), aged: 3_700, fixture)
        #expect(try await repair(fixture).map(\.message) == ["1 orphaned files removed"])
        #expect(try await fixture.store.data(of: digest) == Data("small".utf8))
    }

    @Test func anUnfinishedFileIsRemovedAfterAnHour() async throws {
        let (fixture, _) = try await fixture()
        let folder = fixture.store.directory.unfinishedBlobs
        let names = [3_500.0, 3_700].map { age in (UUID().uuidString, age) }
        for (name, age) in names { try write("cut", to: "\(folder)/\(name)", aged: age, fixture) }
        _ = try await repair(fixture)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [names[0].0])
    }
}
