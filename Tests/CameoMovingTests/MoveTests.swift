import CameoModel
import CameoPostgreSQL
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Moves between real stores of both engines.
@Suite(.timeLimit(.minutes(10)))
struct MoveTests {
    @Test(arguments: MoveFixture.Place.allCases)
    func everythingMovesToADatabaseAndBack(place: MoveFixture.Place) async throws {
        let fixture = try await MoveFixture(place)
        let old = try await fixture.furnished()
        let database = try fixture.database(fixture.server.newURL())
        let there = try await Move(from: old, to: database).run()
        #expect(there.differences.isEmpty && !there.wasBegun && there.bytes > 600_000)
        for kind in RecordKind.allCases {
            #expect(there.sums[kind]?.count ?? 0 > 0, "nothing of kind \(kind) was moved")
        }
        try await expectSame(old, database)

        let new = try fixture.folderStore("new")
        let back = try await Move(from: database, to: new).run()
        #expect(back.differences.isEmpty && back.bytes == there.bytes)
        #expect(back.sums == there.sums)
        try await expectSame(old, new)
        let findings = try await new.check()
        #expect(findings.allSatisfy { $0.severity == .ok }, "\(findings.filter { $0.severity != .ok })")
        #expect(try await Move(from: old, to: new).verify().isGood)
        // Again, nothing happens.
        #expect(try await Move(from: database, to: new).run().sums.isEmpty)
    }

    /// What readers see.
    private func expectSame(_ first: any Store, _ second: any Store) async throws {
        var all = JobFilter()
        all.limit = .max
        let jobs = try await first.jobs(all)
        #expect(jobs.count > 20)
        #expect(try await second.jobs(all) == jobs)
        for job in jobs {
            #expect(try await second.job(job.id) == (try await first.job(job.id)))
            for thumbnail in job.thumbnails where thumbnail.blob != nil {
                #expect(try await second.data(of: thumbnail.uri) == (try await first.data(of: thumbnail.uri)))
            }
        }
        let (before, after) = (try await first.status(), try await second.status())
        #expect(after.queues.map(\.name) == before.queues.map(\.name) && after.thumbnails == before.thumbnails)
        for (new, old) in zip(after.queues, before.queues) {
            #expect(new.jobs == old.jobs && new.hook == old.hook)
            #expect((new.paused, new.maxRunning, new.rate) == (old.paused, old.maxRunning, old.rate))
            #expect((new.background, new.opensAt) == (old.background, old.opensAt))
            #expect(new.oldestWaitingSeconds?.rounded() == old.oldestWaitingSeconds?.rounded())
        }
        #expect(after.jobs == before.jobs && after.blobs.bytes == before.blobs.bytes && after.sources == before.sources)
        #expect(try await second.changes(since: 0, limit: 10_000) == (try await first.changes(since: 0, limit: 10_000)))
        #expect(try await second.lastChange() == (try await first.lastChange()))
        #expect(try await second.hooks(failures: 9) == (try await first.hooks(failures: 9)))

    }

    /// Each run moves one page more.
    @Test(arguments: [true, false])
    func aMoveThatWasBrokenOffAnywhereGoesOn(toADatabase: Bool) async throws {
        let fixture = try await MoveFixture()
        let old = try await fixture.furnished()
        // More than a page of several kinds.
        for start in stride(from: 0, to: 2_500, by: 500) {
            _ = try await old.enqueue((start..<(start + 500)).map { Furnishing.request("file:///many/\($0).jpg") })
        }
        let url = fixture.server.newURL()
        var (runs, copied) = (0, 0)
        var moved: MoveReport?
        while moved == nil {
            try Task.checkCancellation()
            runs += 1
            // As another process.
            let source = try fixture.folderStore("store")
            let destination: any Move.Party =
                toADatabase ? try fixture.database(url) : try fixture.folderStore("new")
            do {
                moved = try await Move(from: source, to: destination).run { progress in
                    guard case .copying = progress.step else { return }
                    copied += 1
                    throw Interruption()
                }
            } catch is Interruption {}
        }
        #expect(runs == copied + 1 && copied > RecordKind.allCases.count)
        #expect(moved?.differences.isEmpty == true && moved?.wasBegun == true)
        #expect(moved?.sums[.job]?.count ?? 0 > 2_500)
        let result: any Store =
            toADatabase ? try fixture.database(url, isMoving: false) : try fixture.folderStore("new", for: .writing)
        #expect(try await result.status().jobs == (try await old.status().jobs))
    }

    @Test func thePlaceMustBeEmptyAndTheStoreStaysOpenOtherwise() async throws {
        let fixture = try await MoveFixture()
        let store = try await fixture.furnished()
        let folder = try fixture.folderStore("full", for: .writing)
        let database = try fixture.database(fixture.server.newURL(), isMoving: false)
        for full in [folder as any Move.Party, database] {
            _ = try await full.enqueue([Furnishing.request("file:///other.jpg")])
            let error = await #expect(throws: StoreError.self) { try await Move(from: store, to: full).run() }
            #expect(error?.description.contains("a store moves to a new place") == true, "\(error as Any)")
        }
        _ = try await store.enqueue([Furnishing.request("file:///still open.jpg")])
        // Another move's place is none either.
        let begun = try fixture.database(fixture.server.newURL())
        await #expect(throws: Interruption.self) {
            try await Move(from: folder, to: begun).run { _ in throw Interruption() }
        }
        let error = await #expect(throws: StoreError.self) { try await Move(from: store, to: begun).run() }
        #expect(error?.description.contains("\(folder.location) is moving here") == true, "\(error as Any)")
        // Nor can a move be led elsewhere.
        let elsewhere = try fixture.database(fixture.server.newURL())
        let other = await #expect(throws: StoreError.self) { try await Move(from: folder, to: elsewhere).run() }
        #expect(other?.description.contains("it is moving to \(begun.location)") == true, "\(other as Any)")
    }

    @Test(arguments: [true, false])
    func aStoreWithALivingWorkerStaysOpen(isFolder: Bool) async throws {
        let fixture = try await MoveFixture()
        let store: any Move.Party =
            isFolder ? try fixture.folderStore("store") : try fixture.database(fixture.server.newURL())
        try await store.register(WorkerDescription(id: "w7", host: "h", pid: 1, version: "test", concurrency: 1))
        let new = try fixture.folderStore("new")
        let error = await #expect(throws: StoreError.self) { try await Move(from: store, to: new).run() }
        #expect(error?.description.contains("w7") == true, "\(error as Any)")
        #expect(try await store.enqueue([Furnishing.request("file:///still open.jpg")]).count == 1)
        // A dead one's jobs are taken back.
        _ = try await store.claim(limit: 1, for: "w7")
        fixture.clock.advance(seconds: 40)
        guard isFolder else {
            let moved = try await Move(from: store, to: new).run()
            #expect(moved.differences.isEmpty && moved.sums[.task]?.count == 1)
            return
        }
    }

    @Test(arguments: [true, false])
    func aStoreThatMovesIsClosedToAllButReadersUntilTheMoveIsGivenUp(isFolder: Bool) async throws {
        let fixture = try await MoveFixture()
        let url = fixture.server.newURL()
        func open(for purpose: StorePurpose) throws -> any Move.Party {
            isFolder
                ? try fixture.folderStore("store", for: purpose)
                : try fixture.database(url, isMoving: purpose == .moving)
        }
        let store = try open(for: .writing)
        let id = try #require(try await store.enqueue([Furnishing.request("file:///a.jpg")]).first?.id)
        let new = try fixture.folderStore("new")
        let mover = try open(for: .moving)
        await #expect(throws: Interruption.self) {
            try await Move(from: mover, to: new).run { _ in throw Interruption() }
        }
        func expectClosed(_ body: () async throws -> Void) async {
            let error = await #expect(throws: StoreError.self) { try await body() }
            #expect(error?.description.contains("it is moving to \(new.location)") == true, "\(error as Any)")
        }
        await expectClosed { _ = try await store.enqueue([Furnishing.request("file:///b.jpg")]) }
        await expectClosed { _ = try await store.cancel(id) }
        await expectClosed {
            let worker = WorkerDescription(id: "w1", host: "h", pid: 1, version: "test", concurrency: 1)
            try await store.register(worker)
        }
        await expectClosed { _ = try open(for: .writing) }
        let insertion =
            #"INSERT INTO job(request) VALUES ('{"source": "file:///c.jpg", "renditions": [{"width": 9}]}')"#
        let bytes = isFolder ? "x'616263'" : "'abc'"
        let upload = #"INSERT INTO upload(data, request) VALUES (\#(bytes), '{"renditions": [{"width": 9}]}')"#
        for statement in [insertion, upload] {
            do {
                try await fixture.sql("\(statement);", of: store)
                Issue.record("SQL could enqueue")
            } catch {
                #expect("\(error)".contains("this store has moved: enqueue in \(new.location)"), "\(error)")
            }
        }
        #expect(try await store.job(id).state == .available)
        // Nobody uses the other one either, not even to read.
        #expect(throws: StoreError.self) { try fixture.folderStore("new", for: .writing) }
        #expect(throws: StoreError.self) { try SQLiteStore(reading: fixture.folder.path("new")) }

        let given = try await mover.cancelMove()
        #expect(given.place == new.location && !given.isEnded)
        try await fixture.sql("\(insertion);", of: store)
        #expect(try await store.enqueue([Furnishing.request("file:///b.jpg")]).first?.id == id + 2)
        await #expect(throws: StoreError.self) { try await mover.cancelMove() }
        // What had arrived is another move's.
        await #expect(throws: StoreError.self) { try await Move(from: mover, to: new).run() }
        let fresh = try fixture.folderStore("fresh")
        #expect(try await Move(from: mover, to: fresh).run().sums[.job]?.count == 3)
    }

    @Test func whatTheTablesDoNotTakeIsNamed() async throws {
        let fixture = try await MoveFixture()
        let store = try fixture.folderStore("store")
        _ = try await store.enqueue([Furnishing.request("file:///a.jpg")])
        // The engines differ in which of two equal names they look at.
        let doubled = #"{"source": "file:///b.jpg", "renditions": [{"width": 9}], "source": ""}"#
        try await fixture.sql("INSERT INTO job(request) VALUES ('\(doubled)');", of: store)
        let database = try fixture.database(fixture.server.newURL())
        let error = await #expect(throws: StoreError.self) { try await Move(from: store, to: database).run() }
        #expect(error?.description.contains("job 2: ") == true, "\(error as Any)")
        _ = try await store.cancelMove()
        let new = try fixture.folderStore("new")
        #expect(try await Move(from: store, to: new).run().sums[.job]?.count == 2)
    }

    @Test func differencesAndDamageAreFound() async throws {
        let fixture = try await MoveFixture()
        let store = try await fixture.furnished()
        let database = try fixture.database(fixture.server.newURL())
        await #expect(throws: Interruption.self) {
            try await Move(from: store, to: database).run { progress in
                if case .comparing = progress.step { throw Interruption() }
            }
        }
        try await fixture.sql(
            """
            UPDATE thumbnail SET width = width + 1 WHERE id = (SELECT min(id) FROM thumbnail);
            DELETE FROM counter;
            UPDATE blob SET data = data || 'x', size = size + 1 WHERE digest = (SELECT blob FROM source LIMIT 1);
            """,
            of: database
        )
        let verified = try await Move(from: store, to: database).verify()
        #expect(Set(verified.differences.map(\.kind)) == [.thumbnail, .counter, .blob])
        #expect(verified.damaged.count == 1)
        let moved = try await Move(from: store, to: database).run()
        #expect(moved.differences.count == 3)
        // Neither counts as moved.
        #expect(try await store.move(.away)?.isEnded == false)
        #expect(try await database.move(.here)?.isEnded == false)
    }
}
