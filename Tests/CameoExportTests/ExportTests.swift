import CameoModel
import CameoPostgreSQL
import CameoQueue
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Exports and imports of real stores of both engines.
@Suite(.timeLimit(.minutes(10)))
struct ExportTests {
    @Test(arguments: ExportFixture.Place.allCases)
    func everythingIsInTheExportAndInWhatIsMadeOfIt(place: ExportFixture.Place) async throws {
        let fixture = try await ExportFixture(place)
        let old = try await fixture.furnished()
        let (stream, summary) = try await fixture.exported(old)
        #expect(summary.bytes > 600_000)
        for kind in RecordKind.allCases { #expect(summary.sums[kind]?.count ?? 0 > 0, "nothing of kind \(kind)") }
        let database = try fixture.database(fixture.server.newURL())
        let there = try await fixture.imported(stream, into: database, pieces: 1_001)
        #expect(there.differences.isEmpty && !there.wasBegun && there.summary.sums == summary.sums)
        try await expectSame(old, database)

        let (back, again) = try await fixture.exported(database)
        #expect(again.sums == summary.sums && again.bytes == summary.bytes)
        let new = try fixture.folderStore("new")
        #expect(try await fixture.imported(back, into: new).differences.isEmpty)
        try await expectSame(old, new)
        let findings = try await new.check() + (try await database.check())
        #expect(findings.allSatisfy { $0.severity != .error }, "\(findings.filter { $0.severity != .ok })")
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

    /// Wherever the stream ends, the next import goes on.
    @Test(arguments: [true, false])
    func anImportThatWasBrokenOffAnywhereGoesOn(inADatabase: Bool) async throws {
        let fixture = try await ExportFixture()
        let old = try await fixture.furnished()
        let (stream, summary) = try await fixture.exported(old)
        let url = fixture.server.newURL()
        for part in 0..<12 {
            // As another process.
            let store: any ExportableStore = inADatabase ? try fixture.database(url) : try fixture.folderStore("new")
            let cut = stream.prefix(stream.count * part / 12 + 300 + part)
            let error = await #expect(throws: StoreError.self) { try await fixture.imported(cut, into: store) }
            #expect(error?.description.contains("ends too early") == true, "\(error as Any)")
        }
        let store: any Store & ExportableStore =
            inADatabase ? try fixture.database(url) : try fixture.folderStore("new")
        let result = try await fixture.imported(stream, into: store)
        #expect(result.wasBegun && result.differences.isEmpty && result.summary.sums == summary.sums)
        #expect(try await store.status().jobs == (try await old.status().jobs))
        // Again, it would be another's.
        await #expect(throws: StoreError.self) { try await fixture.imported(stream, into: store) }
        let added = try await fixture.imported(stream, into: store, isAddition: true)
        #expect(!added.wasBegun)
        #expect(try await fixture.exported(store).summary.sums == summary.sums)
    }

    /// What has ended since an import that was broken off does not wait again.
    @Test(arguments: [true, false])
    func aJobThatEndedMeanwhileStaysAsItIs(inADatabase: Bool) async throws {
        let fixture = try await ExportFixture()
        let old = try fixture.folderStore("store")
        _ = try await old.enqueue([Fixture.request("file:///a.jpg")])
        let (stream, _) = try await fixture.exported(old)
        let store: any Store & ExportableStore =
            inADatabase ? try fixture.database(fixture.server.newURL()) : try fixture.folderStore("new")
        _ = try await fixture.imported(stream, into: store)
        _ = try await store.cancel(1)
        _ = try await fixture.imported(stream, into: store, isAddition: true)
        #expect(try await store.job(1).state == .cancelled)
        #expect(try await store.check { _ in }.allSatisfy { $0.severity != .error })
    }

    /// Their worker is not in the export.
    @Test(arguments: [true, false])
    func jobsThatRunWaitInTheExport(ofADatabase: Bool) async throws {
        let fixture = try await ExportFixture()
        let store: any Store & ExportableStore =
            ofADatabase ? try fixture.database(fixture.server.newURL()) : try fixture.folderStore("store")
        _ = try await store.enqueue([
            Fixture.request("file:///a.jpg") { $0.concurrencyKey = "k" }, Fixture.request("file:///b.jpg"),
        ])
        try await store.register(WorkerDescription(id: "w7", host: "h", pid: 1, version: "test", concurrency: 9))
        #expect(try await store.claim(limit: 9, for: "w7").count == 2)
        let (stream, _) = try await fixture.exported(store)
        for new in [
            try fixture.folderStore("new") as any Store & ExportableStore,
            try fixture.database(fixture.server.newURL()),
        ] {
            #expect(try await fixture.imported(stream, into: new).differences.isEmpty)
            let jobs = try await new.jobs(JobFilter())
            #expect(jobs.map(\.state) == [.available, .available] && jobs.allSatisfy { $0.attempt == 0 })
            #expect(try await new.check { _ in }.allSatisfy { $0.severity != .error })
            try await new.register(WorkerDescription(id: "w8", host: "h", pid: 1, version: "test", concurrency: 9))
            #expect(try await new.claim(limit: 9, for: "w8").count == 2)
        }
    }

    /// SQL inserted them, and no program of Cameo has seen them.
    @Test(arguments: [true, false])
    func whatNobodyHadAcceptedIsAcceptedAfterwards(inADatabase: Bool) async throws {
        let fixture = try await ExportFixture()
        let old = try fixture.folderStore("store")
        _ = try await old.enqueue([Fixture.request("file:///a.jpg")])
        let insertion = #"INSERT INTO job(request) VALUES ('{"source":"file:///b.jpg","renditions":[{"width":9}]}')"#
        try await fixture.sql("\(insertion);", of: old)
        let (stream, _) = try await fixture.exported(old)
        let store: any Store & ExportableStore =
            inADatabase ? try fixture.database(fixture.server.newURL()) : try fixture.folderStore("new")
        #expect(try await fixture.imported(stream, into: store).differences.isEmpty)
        try await store.register(WorkerDescription(id: "w1", host: "h", pid: 1, version: "test", concurrency: 9))
        #expect(Set(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID)) == [1, 2])
    }

    @Test func whatIsNoSoundExportIsRefused() async throws {
        let fixture = try await ExportFixture()
        let old = try fixture.folderStore("store")
        _ = try await old.enqueue([Fixture.request("file:///a.jpg")])
        _ = try await old.store(Data("some bytes".utf8), mediaType: nil)
        let (stream, _) = try await fixture.exported(old)
        let text = String(decoding: stream, as: UTF8.self)
        let wrong: [(Data, String)] = [
            (Data(), "is not an export"), (Data("GIF89a\n".utf8), "is not an export"),
            (Data("{}\n".utf8), "is not an export"),
            (Data(text.replacing(#""version":1}"#, with: #""version":2}"#).utf8), "use a newer one"),
            (Data(text.replacing("a.jpg", with: "c.jpg").utf8), "was altered"),
            (Data(text.replacing("some bytes", with: "same bytes").utf8), "not those of the digest"),
            (Data(text.replacing(#"{"bytes":10}"#, with: #"{"bytes":9}"#).utf8), "more than it says"),
            (Data(text.replacing(#"{"bytes":10}"#, with: #"{"bytes":-1}"#).utf8), "none of a record"),
            (Data(text.replacing(#"["job",1"#, with: #"["jib",1"#).utf8), "it is not a record"),
            (Data(text.replacing(#"["job",1"#, with: #"["job","1""#).utf8), "id has the wrong type"),
            (Data(text.split(separator: "\n").dropLast().joined(separator: "\n").utf8), "ends too early"),
            (stream + Data("more\n".utf8), "something follows"),
        ]
        for (index, (data, reason)) in wrong.enumerated() {
            let store = try fixture.folderStore("new \(index)")
            let error = await #expect(throws: StoreError.self) { try await fixture.imported(data, into: store) }
            #expect(error?.description.contains(reason) == true, "\(reason): \(error as Any)")
        }
        // A line without an end takes no more memory than the longest.
        var lines =
            stream.split(separator: UInt8(ascii: "\n"), maxSplits: 1)[...].first.map { Data($0 + [10]) } ?? Data()
        lines += Data(repeating: UInt8(ascii: "["), count: 40 << 20)
        let endless = lines
        let store = try fixture.folderStore("endless")
        let error = await #expect(throws: StoreError.self) {
            try await fixture.imported(endless, into: store, pieces: 1 << 20)
        }
        #expect(error?.description.contains("line 2: it is too long") == true, "\(error as Any)")
    }

    @Test func aStoreInUseTakesNoImport() async throws {
        let fixture = try await ExportFixture()
        let old = try fixture.folderStore("store")
        _ = try await old.enqueue([Fixture.request("file:///a.jpg")])
        let (stream, _) = try await fixture.exported(old)
        for store in [
            try fixture.folderStore("used") as any Store & ExportableStore,
            try fixture.database(fixture.server.newURL()),
        ] {
            try await store.register(WorkerDescription(id: "w7", host: "h", pid: 1, version: "test", concurrency: 1))
            let live = await #expect(throws: StoreError.self) { try await fixture.imported(stream, into: store) }
            #expect(live?.description.contains("w7") == true, "\(live as Any)")
            try await store.deregister("w7", adding: StoreCounters())
            _ = try await store.enqueue([Fixture.request("file:///own.jpg")])
            let full = await #expect(throws: StoreError.self) { try await fixture.imported(stream, into: store) }
            #expect(full?.description.contains("give --add") == true, "\(full as Any)")
            #expect(try await store.status().jobs.values.reduce(0, +) == 1)
        }
    }

    @Test func whatTheTablesDoNotTakeIsNamed() async throws {
        let fixture = try await ExportFixture()
        let store = try fixture.folderStore("store")
        _ = try await store.enqueue([Fixture.request("file:///a.jpg")])
        // The engines differ in which of two equal names they look at.
        let doubled = #"{"source": "file:///b.jpg", "renditions": [{"width": 9}], "source": ""}"#
        try await fixture.sql("INSERT INTO job(request) VALUES ('\(doubled)');", of: store)
        let (stream, _) = try await fixture.exported(store)
        let database = try fixture.database(fixture.server.newURL())
        let error = await #expect(throws: StoreError.self) { try await fixture.imported(stream, into: database) }
        #expect(error?.description.contains("job 2: ") == true, "\(error as Any)")
        #expect(try await fixture.imported(stream, into: try fixture.folderStore("new")).differences.isEmpty)
    }

    @Test func lostBytesAreNoExport() async throws {
        let fixture = try await ExportFixture()
        let store = try fixture.folderStore("store")
        let digest = try await store.store(Data(repeating: 1, count: 200_000), mediaType: nil)
        try FileManager.default.removeItem(
            atPath: fixture.folder.path("store/blobs/\(digest.hex.prefix(2))/\(digest.hex.dropFirst(2))")
        )
        let lost = StoreError.damagedBlob(digest: digest.description, isMissing: true)
        await #expect(throws: lost) { try await fixture.exported(store) }
    }
}
