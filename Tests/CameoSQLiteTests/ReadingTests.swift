import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoSQLite

/// The recording of thumbnail reads.
@Suite(.timeLimit(.minutes(10)))
struct ReadingTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    private var store: SQLiteStore { fixture.store }

    /// A program that is about to exit also waits for recordings already in progress.
    @Test func recordingWaitsForEarlierRecordings() async {
        let readings = Readings()
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let ends = Mutex<[String]>([])
        _ = readings.takeAll { _ in
            for await _ in gate {}
            ends.withLock { $0.append("first") }
        }
        let second = readings.takeAll { _ in ends.withLock { $0.append("second") } }
        opener.finish()
        await second.value
        #expect(ends.withLock { $0 } == ["first", "second"])
    }

    private func readAt(_ id: ThumbnailID) async throws -> Int64? {
        try await store.read { db in
            try db.value("SELECT read_at FROM thumbnail WHERE id = ?", [id.text]) as Int64?
        }
    }

    private func read(_ id: ThumbnailID) async {
        store.noteReading(of: .thumbnail(id))
        await store.recordReadings()
    }

    @Test func aReadIsRecordedAutomatically() async throws {
        let id = try await fixture.makeThumbnail()
        fixture.clock.advance(seconds: 3_600)
        let watcher = try fixture.anotherStore()
        let before = try await watcher.version()
        store.noteReading(of: .thumbnail(id))
        try await eventually("the reading is recorded") { try await watcher.version() != before }
        #expect(try await readAt(id) == fixture.clock.storeClock.now().milliseconds)
        #expect(store.readings.names.isEmpty)
    }

    @Test func aReadIsRecordedOnceAnHour() async throws {
        let id = try await fixture.makeThumbnail()
        let watcher = try fixture.anotherStore()
        var before = try await watcher.version()
        fixture.clock.advance(seconds: 3_599)
        await read(id)
        #expect(try await watcher.version() == before, "made within the hour, so nothing is written")
        fixture.clock.advance(seconds: 1)
        await read(id)
        let noted = fixture.clock.storeClock.now().milliseconds
        #expect(try await readAt(id) == noted)
        before = try await watcher.version()
        fixture.clock.advance(seconds: 3_599)
        await read(id)
        #expect(try await readAt(id) == noted)
        #expect(try await watcher.version() == before)
        fixture.clock.advance(seconds: 1)
        await read(id)
        #expect(try await readAt(id) == noted + 3_600_000)
    }

    @Test func aPageOfAThousandThumbnailsIsOneTransaction() async throws {
        try await fixture.insertThumbnails(999, like: try await fixture.makeThumbnail())
        fixture.clock.advance(seconds: 3_600)
        let ids = try await store.read { db in try db.column("SELECT id FROM thumbnail") as [String] }
        let commits = Mutex(0)
        try await store.writeOutsideTransaction { db in
            db.trace { sql in if sql == "COMMIT" { commits.withLock { $0 += 1 } } }
        }
        for id in ids.compactMap({ ThumbnailID($0) }) { store.noteReading(of: .thumbnail(id)) }
        await store.recordReadings()
        let noted = try await store.read { db in
            try db.value("SELECT count(*) FROM thumbnail WHERE read_at > 0") as Int?
        }
        #expect((ids.count, noted) == (1_000, 1_000))
        #expect(commits.withLock { $0 } == 1)
    }

    @Test func readersWaitForNoLock() async throws {
        let id = try await fixture.makeThumbnail()
        fixture.clock.advance(seconds: 3_600)
        let other = try fixture.anotherStore()
        let (locked, hold) = AsyncStream<Void>.makeStream()
        let release = DispatchSemaphore(value: 0)
        async let held: Void = other.commit { _ in
            hold.yield()
            release.wait()
        }
        _ = await locked.first { _ in true }
        defer { release.signal() }  // also where something throws: the other would wait for ever
        // While another process holds the lock, the bytes are returned and the recording is scheduled.
        store.noteReading(of: .thumbnail(id))
        async let noted: Void = store.recordReadings()
        #expect(try await store.data(of: .thumbnail(id)).isEmpty == false)
        #expect(try await readAt(id) == 0)
        release.signal()
        try await held
        await noted
        #expect(try await readAt(id) == fixture.clock.storeClock.now().milliseconds)
    }

    @Test func aFailedRecordingFailsNoReadAndTheNextReadIsRecorded() async throws {
        let id = try await fixture.makeThumbnail()
        fixture.clock.advance(seconds: 3_600)
        try await store.writeOutsideTransaction { db in
            try db.execute(
                """
                CREATE TRIGGER no_room BEFORE UPDATE OF read_at ON thumbnail BEGIN SELECT RAISE(ABORT, 'no room'); END
                """
            )
        }
        await read(id)
        #expect(try await store.data(of: .thumbnail(id)).isEmpty == false)
        #expect(try await readAt(id) == 0)
        try await store.writeOutsideTransaction { db in try db.execute("DROP TRIGGER no_room") }
        await read(id)
        #expect(try await readAt(id) == fixture.clock.storeClock.now().milliseconds)
    }

    @Test func aReadOnlyStoreRecordsNothing() async throws {
        let id = try await fixture.makeThumbnail()
        let reader = try SQLiteStore(reading: fixture.path, clock: fixture.clock.storeClock)
        reader.noteReading(of: .thumbnail(id))
        #expect(reader.readings.names.isEmpty)
    }
}
