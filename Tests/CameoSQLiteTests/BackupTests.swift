import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoSQLite

@Suite(.timeLimit(.minutes(10)))
struct BackupTests {
    /// Larger than the blobs kept in the database.
    private static let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private func backUp(_ store: SQLiteStore, to path: String) async throws -> BackupReport {
        let turn = try await store.freeTurn()
        return try await store.backUp(to: path, in: turn)
    }

    private func complete(_ fixture: StoreFixture, bytes: Data) async throws {
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        try await fixture.store.complete(
            job.claim,
            storing: StoreFixture.rendered(job, bytes: bytes),
            from: StoreFixture.provenance(),
            timings: AttemptTimings()
        )
    }

    @Test func theCopyIsAStoreWithEverythingInIt() async throws {
        let fixture = try StoreFixture()
        try await fixture.register()
        try await fixture.enqueue(3)
        try await complete(fixture, bytes: Self.large)
        try await complete(fixture, bytes: Data("small".utf8))
        _ = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        let target = fixture.folder.path("copy")
        let report = try await backUp(fixture.store, to: target)
        #expect((report.jobs, report.blobs, report.damaged) == (3, 2, []))

        let copy = try SQLiteStore(at: target, creating: false)
        #expect(try await copy.check().allSatisfy { $0.severity == .ok }, "no worker is missing, no job hangs")
        for (id, bytes) in [(Int64(1), Self.large), (2, Data("small".utf8))] {
            let thumbnail = try #require(try await copy.job(id).thumbnails.first)
            let uri = thumbnail.uri
            #expect(try await copy.data(of: uri) == bytes)
        }
        let running = try await copy.job(3)
        #expect((running.state, running.attempt, running.crashCount) == (.available, 0, 0))
        #expect(running.attempts?.map(\.outcome) == [.released])
        #expect(try await fixture.store.job(3).state == .running, "the store itself is unchanged")
        let files = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
        #expect(files.sorted() == ["copy", "store"])
    }

    /// The copy is paused until something has been read.
    @Test func readsDoNotWaitForABackup() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue()
        let (copying, isCopying) = AsyncStream<Void>.makeStream()
        let hasRead = DispatchSemaphore(value: 0)
        let isFirst = Mutex(true)
        let turn = try await fixture.store.freeTurn()
        async let backup = fixture.store.backUp(to: fixture.folder.path("copy"), in: turn) { _ in
            guard
                isFirst.withLock({ first in
                    defer { first = false }; return first
                })
            else { return }
            isCopying.finish()
            #expect(hasRead.wait(timeout: .now() + 120) == .success)
        }
        for await _ in copying {}
        #expect(try await fixture.store.status().count(.available) == 1)
        hasRead.signal()
        #expect(try await backup.jobs == 1)
    }

    @Test func nothingOfTheCopyIsALink() async throws {
        let fixture = try StoreFixture()
        let digest = try await fixture.store.store(Self.large, mediaType: nil)
        let target = fixture.folder.path("copy")
        _ = try await backUp(fixture.store, to: target)
        let file = StoreDirectory(unfinished: target).blobFile(digest)
        let status = try FileManager.default.attributesOfItem(atPath: file)
        #expect(status[.referenceCount] as? Int == 1)
        #expect(try Data(contentsOf: URL(filePath: file)) == Self.large)
    }

    /// Commits made while pages are copied belong to the next backup.
    @Test func theCopyIsASnapshot() async throws {
        let fixture = try StoreFixture()
        for _ in 0..<6 { _ = try await fixture.enqueue(500) }
        let target = fixture.folder.path("copy")
        let turn = try await fixture.store.freeTurn()
        let other = try fixture.stranger()
        let writes = Mutex(0)
        let report = try await fixture.store.backUp(to: target, in: turn) { _ in
            // On the thread that copies: a page of the store changes between two steps.
            writes.withLock { $0 += 1 }
            _ = try? other.run(
                "UPDATE task SET attempt = attempt + 1; INSERT INTO job(request) VALUES (?)",
                [#"{"source":"data:,","renditions":[{"width":1}]}"#]
            )
        }
        #expect(writes.withLock { $0 } >= 1)
        #expect(report.jobs == 3_000)
        let copy = try SQLiteStore(at: target, creating: false)
        #expect(try await copy.status().count(.available) == 3_000)
        #expect(try await copy.check().allSatisfy { $0.severity == .ok })
        #expect(try await copy.read { db in try db.value("SELECT max(attempt) FROM task") as Int? } == 0)
        #expect(try await fixture.store.status().count(.available) > 3_000)
    }

    @Test func aBackupThatCannotBeFinishedLeavesNothing() async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.store.store(Self.large, mediaType: nil)
        let target = fixture.folder.path("copy")
        let turn = try await fixture.store.freeTurn()
        // The target appears while the copy is made.
        await #expect(throws: StoreError.self) {
            try await fixture.store.backUp(to: target, in: turn) { _ in
                try? FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
                try? Data().write(to: URL(filePath: target + "/mine"))
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: target) == ["mine"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path).sorted() == ["copy", "store"])
    }

    @Test func anExistingTargetIsRefusedButAnEmptyFolderIsNot() async throws {
        let fixture = try StoreFixture()
        try fixture.folder.write(Data(), to: "file")
        for taken in [fixture.path, fixture.path + "/inside", fixture.folder.path("file"), fixture.folder.path] {
            let error = await #expect(throws: StoreError.self) { _ = try await backUp(fixture.store, to: taken) }
            guard case .invalidBackupTarget = error else {
                Issue.record("\(taken): \(String(describing: error))")
                continue
            }
        }
        try FileManager.default.createDirectory(atPath: fixture.folder.path("empty"), withIntermediateDirectories: true)
        _ = try await backUp(fixture.store, to: fixture.folder.path("empty"))
        #expect(
            try await SQLiteStore(reading: fixture.folder.path("empty")).status().schemaVersion == Schema.currentVersion
        )
    }

    @Test func damagedBlobsAreReportedAndNotCopied() async throws {
        let fixture = try StoreFixture()
        let digest = try await fixture.store.store(Self.large, mediaType: nil)
        try Data("other".utf8).write(to: URL(filePath: StoreDirectory(unfinished: fixture.path).blobFile(digest)))
        let report = try await backUp(fixture.store, to: fixture.folder.path("copy"))
        #expect(report.damaged == [digest.description])
    }

    @Test func vacuumGivesFreePagesBack() async throws {
        let fixture = try StoreFixture()
        try await withThrowingTaskGroup(of: Void.self) { [store = fixture.store] group in
            for size in 0..<40 {
                group.addTask { _ = try await store.store(Data(count: 50_000 + size), mediaType: nil) }
            }
            try await group.waitForAll()
        }
        try await fixture.store.writeOutsideTransaction { db in try db.execute("DELETE FROM blob") }
        let before = try await fixture.store.databaseSize()
        #expect(before.freeBytes > 1_000_000)
        let turn = try await fixture.store.freeTurn()
        try await fixture.store.vacuum(in: turn)
        let after = try await fixture.store.databaseSize()
        #expect((after.freeBytes, after.bytes < before.bytes / 4) == (0, true))
        #expect(try await fixture.store.check().allSatisfy { $0.severity == .ok })
    }
}

/// A backup in the place of a store: the store's own, and none at all.
@Suite(.timeLimit(.minutes(10)))
struct RestoreTests {
    /// A backup with one job, of a store that has two by now and is closed, with a log that was not applied.
    private func folders() async throws -> (folder: TemporaryFolder, store: String, backup: String) {
        let folder = try TemporaryFolder()
        let (store, backup) = (folder.path("store"), folder.path("backup"))
        try await leaveStore(at: store, backup)
        try? FileManager.default.removeItem(atPath: "\(store)/cameo.sqlite-wal")
        try FileManager.default.moveItem(atPath: "\(store)/log", toPath: "\(store)/cameo.sqlite-wal")
        return (folder, store, backup)
    }

    /// Closes the store at its end.
    private func leaveStore(at path: String, _ backup: String) async throws {
        let store = try SQLiteStore(at: path)
        _ = try await store.enqueue([StoreFixture.request(0)])
        _ = try await store.backUp(to: backup, in: try await store.freeTurn())
        _ = try await store.enqueue([StoreFixture.request(1)])
        try FileManager.default.copyItem(atPath: "\(path)/cameo.sqlite-wal", toPath: "\(path)/log")
    }

    private func jobs(_ path: String) async throws -> Int {
        try await SQLiteStore(at: path, creating: false).jobs(JobFilter()).count
    }

    @Test func theBackupTakesThePlaceOfTheStoreWhichIsKept() async throws {
        let (folder, store, backup) = try await folders()
        defer { withExtendedLifetime(folder) {} }
        let report = try await SQLiteStore.restore(backup, to: store)
        #expect((report.content.jobs, report.content.damaged) == (1, []))
        #expect(report.note?.store == store)
        #expect(try await jobs(store) == 1)
        #expect(try await jobs(try #require(report.aside)) == 2)
        #expect(!FileManager.default.fileExists(atPath: BackupNote.file(in: store)))
    }

    @Test func whoKnowsTheStoreOfBeforeIsToldWhatWasInVain() async throws {
        let (folder, path, backup) = try await folders()
        defer { withExtendedLifetime(folder) {} }
        let before = try await counters(path)
        #expect(before[.changes] == 2)
        let aside = try await SQLiteStore.restore(backup, to: path).aside
        let epoch = try await goOn(at: path, since: try #require(before.since))
        // In the same second, as a rule.
        #expect(try await SQLiteStore.restore(backup, to: path).aside != aside)
        // The backup does not know of the first restore.
        let page = try await changes(path, FeedCursor(2, in: epoch))
        #expect(page.gap == 1...1 && page.next.number == 1 && page.next.epoch != epoch)
    }

    private func counters(_ path: String) async throws -> StoreCounters {
        try await SQLiteStore(reading: path).metrics().counters
    }

    private func changes(_ path: String, _ cursor: FeedCursor) async throws -> FeedPage {
        try await SQLiteStore(reading: path).changes(since: cursor, limit: 9)
    }

    /// Uses a restored store, which is closed at its end, and returns the epoch of its feed.
    private func goOn(at path: String, since begun: Date) async throws -> String? {
        let store = try SQLiteStore(at: path, creating: false)
        let present = try await store.changes(since: nil, limit: 9)
        #expect(present.next.number == 1 && present.next.epoch != "0")
        // The backup was taken after the first change.
        let known = try await store.changes(since: FeedCursor(1, in: "0"), limit: 9)
        #expect(known.gap == nil && known.next == present.next)
        for cursor in [FeedCursor(2, in: "0"), FeedCursor(2)] {
            let page = try await store.changes(since: cursor, limit: 9)
            #expect(page.gap == 2...2 && page.next == present.next)
        }
        // A monitor counts nothing twice: what was counted before the restore is not counted again.
        let reset = try await store.metrics().counters
        #expect(reset.entries.allSatisfy { $0.value == 0 })
        #expect(try #require(reset.since) > begun)
        _ = try await store.enqueue([StoreFixture.request(2)])
        #expect(try await store.metrics().counters[.changes] == 1)
        #expect(try await store.changes(since: known.next, limit: 9).changes.map(\.cursor) == [2])
        #expect(try await store.check().allSatisfy { $0.severity == .ok })
        return present.next.epoch
    }

    @Test func aStoreThatIsGoneOrDamagedIsReplaced() async throws {
        let (folder, store, backup) = try await folders()
        let elsewhere = try await SQLiteStore.restore(backup, to: folder.path("new"))
        #expect(elsewhere.aside == nil)
        try Data("no database".utf8).write(to: URL(filePath: "\(store)/cameo.sqlite"))
        _ = try await SQLiteStore.restore(backup, to: store)
        #expect(try await jobs(store) == 1)
        #expect(try await jobs(folder.path("new")) == 1)
    }

    @Test func aStoreInUseIsRefusedByName() async throws {
        let (folder, store, backup) = try await folders()
        for (used, other) in [(store, backup), (backup, store)] {
            let opened = try SQLiteStore(at: used, creating: false)
            let error = await #expect(throws: StoreError.self) { try await SQLiteStore.restore(backup, to: store) }
            #expect(error?.description.contains("\(used) is in use") == true, "\(other)")
            withExtendedLifetime(opened) {}
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["backup", "store"])
    }

    @Test func aDamagedBackupChangesNothing() async throws {
        let (folder, store, backup) = try await folders()
        let file = try FileHandle(forUpdating: URL(filePath: "\(backup)/cameo.sqlite"))
        try file.seek(toOffset: 8_192)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 20_000))
        try file.close()
        await #expect(throws: StoreError.self) { try await SQLiteStore.restore(backup, to: store) }
        #expect(try await jobs(store) == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["backup", "store"])
    }

    @Test func oneFolderInTheOtherIsRefused() async throws {
        let (folder, store, backup) = try await folders()
        defer { withExtendedLifetime(folder) {} }
        for target in [backup, "\(backup)/store", "\(store)/../backup"] {
            await #expect(throws: StoreError.self) { try await SQLiteStore.restore(backup, to: target) }
        }
    }
}
