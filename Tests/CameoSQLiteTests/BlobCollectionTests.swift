import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

@Suite(.timeLimit(.minutes(10)))
struct BlobCollectionTests {
    private static let large = 150_000

    /// Real times, because files have them too.
    private let folder: TemporaryFolder
    private let store: SQLiteStore

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(at: folder.path("store"))
    }

    private func keep(_ bytes: Data, seen: Int64 = 1, in other: SQLiteStore? = nil) async throws {
        try await (other ?? store).keep(StoreFixture.original(bytes, seen: seen), data: bytes, budget: nil)
    }

    private func file(of bytes: Data) -> String { store.directory.blobFile(BlobDigest(of: bytes)) }

    private func collect(_ time: Date = .now + 1, atMost limit: Int = 100) async throws -> CollectedBlobs {
        try await store.collectBlobs(unreferencedSince: time, atMost: limit)
    }

    private func blobs() async throws -> Int { try await store.status().blobs.count }

    @Test(arguments: [10, large])
    func blobIsRemovedWithItsLastReference(count: Int) async throws {
        let bytes = StoreFixture.bytes("a", count)
        try await keep(bytes)
        #expect(try await collect().candidates == 0)
        _ = try await store.forgetSource(StoreFixture.uri, .originals)
        #expect(try await blobs() == 1)
        let collected = try await collect()
        #expect((collected.count, collected.bytes) == (1, count))
        #expect(try await blobs() == 0)
        #expect(!FileManager.default.fileExists(atPath: file(of: bytes)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(store.directory.path)/blobs/tmp") == [])
        #expect(try await collect().candidates == 0)
    }

    /// Not in a free page, and not in the log.
    @Test(arguments: [60_000, large])
    func whatWasForgottenIsInNoFileOfTheStore(count: Int) async throws {
        let bytes = Data((0..<count).map { _ in UInt8.random(in: 0...255) })
        try await keep(bytes, seen: 0)
        let pieces = stride(from: 0, to: count - 32, by: 7_001).map { bytes[$0..<($0 + 32)] }
        func found() throws -> Int {
            let files = FileManager.default.enumerator(atPath: store.directory.path)?.compactMap { $0 as? String } ?? []
            let contents = files.compactMap { FileManager.default.contents(atPath: "\(store.directory.path)/\($0)") }
            return pieces.count { piece in contents.contains { $0.range(of: piece) != nil } }
        }
        #expect(try found() == pieces.count)
        _ = try await store.forget(ForgetSelector(.source(StoreFixture.uri)), atOnce: false)
        #expect(try await collect().forgotten == 1)
        #expect(try found() == 0)
    }

    @Test func blobOfTwoSourcesIsRemovedWithTheSecond() async throws {
        let bytes = StoreFixture.bytes("a")
        for uri in ["https://example.com/1", "https://example.com/2"] {
            try await store.keep(StoreFixture.original(bytes, uri: uri), data: bytes, budget: nil)
        }
        _ = try await store.forgetSource("https://example.com/1", .originals)
        #expect(try await collect().count == 0)
        #expect(try await collect().candidates == 0, "it is not examined again until the second reference is removed")
        _ = try await store.forgetSource("https://example.com/2", .originals)
        #expect(try await collect().count == 1)
    }

    @Test func replacedBlobIsRemoved() async throws {
        try await keep(StoreFixture.bytes("a"), seen: 1)
        try await keep(StoreFixture.bytes("b"), seen: 2)
        #expect(try await collect().count == 1)
        #expect(try await store.data(of: .source(StoreFixture.uri)) == StoreFixture.bytes("b"))
    }

    @Test func bytesOfASupersededAnswerLeaveNoFile() async throws {
        try await keep(StoreFixture.bytes("b", Self.large), seen: 2)
        try await keep(StoreFixture.bytes("a", Self.large), seen: 1)
        #expect(try await collect().count == 1)
        #expect(!FileManager.default.fileExists(atPath: file(of: StoreFixture.bytes("a", Self.large))))
    }

    @Test(arguments: [10, large])
    func youngBlobStays(count: Int) async throws {
        let bytes = StoreFixture.bytes("a", count)
        try await keep(bytes)
        _ = try await store.forgetSource(StoreFixture.uri, .originals)
        let collected = try await collect(.now - 3_600)
        #expect((collected.count, collected.candidates) == (0, 0))
        // It was unreferenced for long, but has just been stored again.
        try await age(bytes, rows: "orphan")
        #expect(try await collect(.now - 3_600).count == 0)
        try await age(bytes, rows: "orphan", "blob")
        #expect(try await collect(.now - 3_600).count == (count == 10 ? 1 : 0))
        #expect(FileManager.default.fileExists(atPath: file(of: bytes)) == (count == Self.large))
    }

    /// A file in the place of a blob's folder.
    @Test func whatCannotBeRemovedStopsNothingElse() async throws {
        let fixture = try StoreFixture()
        for letter in "ab" {
            try await fixture.keep(letter, count: Self.large)
            _ = try await fixture.store.forgetSource("https://example.com/\(letter)", .originals)
        }
        let stuck = BlobDigest(of: StoreFixture.bytes("a", Self.large))
        let (folder, aside) = ("\(fixture.path)/blobs/\(stuck.hex.prefix(2))", fixture.folder.path("aside"))
        try FileManager.default.moveItem(atPath: folder, toPath: aside)
        try Data().write(to: URL(filePath: folder))
        let unfinished = "\(fixture.store.directory.unfinishedBlobs)/\(UUID().uuidString)"
        try Data().write(to: URL(filePath: unfinished))
        fixture.clock.advance(seconds: 7_200)
        for _ in 1...2 {
            let error = await #expect(throws: (any Error).self) { try await fixture.prune(Retention()) }
            #expect(
                error.map { "\($0)" }?.contains("1 expired blobs could not be removed") == true,
                "\(String(describing: error))"
            )
            #expect(try await fixture.sql("SELECT digest FROM blob") == stuck.hex)
            #expect(!FileManager.default.fileExists(atPath: unfinished))
            // It is put off for an hour.
            try await fixture.prune(Retention())
            fixture.clock.advance(seconds: 3_700)
        }
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.moveItem(atPath: aside, toPath: folder)
        #expect(try await fixture.prune(Retention()).blobs == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    /// Otherwise a collection that continues until a step finds few blobs would never end.
    @Test(arguments: [10, large])
    func blobsThatAreTooYoungArePostponed(count: Int) async throws {
        let (bytes, time) = (StoreFixture.bytes("a", count), Date.now - 3_600)
        try await keep(bytes)
        _ = try await store.forgetSource(StoreFixture.uri, .originals)
        try await age(bytes, rows: "orphan")
        // Its file is young even if its row is old.
        if count == Self.large { try await age(bytes, rows: "blob") }
        #expect(try await collect(time).candidates == 1)
        #expect(try await collect(time).candidates == 0)
        #expect(try await collect().count == 1)
    }

    /// This holds even if storing them created no reference.
    @Test(arguments: [10, large])
    func bytesThatAreStoredAgainAreYoung(count: Int) async throws {
        let bytes = StoreFixture.bytes("a", count)
        try await keep(StoreFixture.bytes("b"), seen: 2)
        try await keep(bytes, seen: 1)
        try await age(bytes, rows: "orphan", "blob")
        try await keep(bytes, seen: 1)
        #expect(try await collect(.now - 3_600).count == 0)
    }

    @Test func uploadedBytesThatJoinedAnotherJobAreRemoved() async throws {
        for letter in "ab" {
            let request = StoreFixture.request { $0.uniqueKey = "avatar" }
            let receipt = try await store.enqueue(request, data: StoreFixture.bytes(letter))
            #expect(receipt.outcome == (letter == "a" ? .accepted : .joined))
        }
        #expect(try await collect().count == 1)
        #expect(try await store.data(of: BlobDigest(of: StoreFixture.bytes("a"))) == StoreFixture.bytes("a"))
    }

    /// A blob may have lost a reference before and gained one since.
    @Test(arguments: [
        "DELETE FROM source", "DELETE FROM thumbnail", "DELETE FROM job", "UPDATE source SET blob = ?",
        "UPDATE thumbnail SET blob = ?",
    ])
    func theHourCountsFromTheLastReference(statement: String) async throws {
        let (bytes, other) = (StoreFixture.bytes("a"), StoreFixture.bytes("b"))
        try await keep(bytes)
        _ = try await store.enqueue(StoreFixture.request(), data: bytes)
        let job = try #require(try await store.claim(limit: 1, for: "w1").first)
        let thumbnails = try StoreFixture.rendered(job, bytes: bytes)
        let provenance = try StoreFixture.provenance()
        try await store.complete(job.claim, storing: thumbnails, from: provenance, timings: AttemptTimings())
        let (hex, next) = (BlobDigest(of: bytes).hex, try await store.store(other, mediaType: nil).hex)
        try await store.commit { db in
            try db.execute("INSERT INTO orphan VALUES (?, 1)", [hex])
            try db.execute(statement, statement.contains("?") ? [next] : [])
            let since: Int64? = try db.value("SELECT since FROM orphan WHERE digest = ?", [hex])
            #expect(try #require(since) > 1)
        }
    }

    private func age(_ bytes: Data, rows tables: String...) async throws {
        let digest = BlobDigest(of: bytes).hex
        try await store.commit { db in
            for table in tables {
                let column = table == "blob" ? "created_at" : "since"
                try db.execute("UPDATE \(table) SET \(column) = 1 WHERE digest = ?", [digest])
            }
        }
    }

    @Test func blobsThatAProgramStoresArePinned() async throws {
        let bytes = StoreFixture.bytes("a")
        try await keep(bytes)
        let digest = try await store.store(bytes, mediaType: "image/png")
        _ = try await store.forgetSource(StoreFixture.uri, .originals)
        #expect(try await collect().count == 0)
        #expect(try await store.data(of: digest) == bytes)
    }

    @Test(arguments: ["program", "SQL", "upload"])
    func jobKeepsItsBlobHoweverItWasEnqueued(way: String) async throws {
        let bytes = StoreFixture.bytes("a")
        try await keep(bytes)
        let uri = CameoURI.blob(BlobDigest(of: bytes)).text
        switch way {
        case "program": _ = try await store.enqueue([StoreFixture.request(uri)])
        case "SQL":
            try await store.commit { db in
                try db.execute(
                    "INSERT INTO job(request) VALUES (?)",
                    [#"{"source":"\#(uri)","renditions":[{"width":64}]}"#]
                )
            }
        default: _ = try await store.enqueue(StoreFixture.request(), data: bytes)
        }
        _ = try await store.forgetSource(StoreFixture.uri, .originals)
        #expect(try await collect().count == 0)
        try await store.acceptPage()
        #expect(try await collect().count == 0)
        #expect(try await blobs() == 1)
        _ = try await store.cancel(1)
        try await store.commit { db in try db.execute("DELETE FROM job") }
        #expect(try await collect().count == 1)
    }

    @Test func thumbnailKeepsItsBlobUntilItIsForgotten() async throws {
        _ = try await store.enqueue([StoreFixture.request()])
        let job = try #require(try await store.claim(limit: 1, for: "w1").first)
        let bytes = StoreFixture.bytes("a")
        try await keep(bytes)
        try await store.complete(
            job.claim,
            storing: try StoreFixture.rendered(job, bytes: bytes),
            from: try StoreFixture.provenance(),
            timings: AttemptTimings()
        )
        _ = try await store.forgetSource(StoreFixture.uri, .originals)
        #expect(try await collect().count == 0)
        _ = try await store.forgetSource("file:///pictures/a.jpg", .originalsAndThumbnails)
        #expect(try await collect().count == 1)
    }

    @Test func oneStepExaminesOnlyAFew() async throws {
        for letter in "abcde" {
            let bytes = StoreFixture.bytes(letter)
            try await keep(bytes)
            _ = try await store.forgetSource(StoreFixture.uri, .originals)
        }
        #expect(try await collect(atMost: 2).count == 2)
        #expect(try await collect(atMost: 2).candidates == 2)
        #expect(try await collect(atMost: 2).candidates == 1)
        #expect(try await blobs() == 0)
    }

    /// Another process stores the bytes repeatedly, while the existing file is made to look old each time.
    @Test func writerThatRacesACollectionNeverLosesItsBytes() async throws {
        let bytes = StoreFixture.bytes("a", Self.large)
        let other = try SQLiteStore(at: store.directory.path)
        let path = file(of: bytes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for seen in 1...TestLength.rounds(40, full: 150) {
                    try await keep(bytes, seen: Int64(seen), in: other)
                    #expect(try await other.data(of: .source(StoreFixture.uri)) == bytes)
                    _ = try await other.forgetSource(StoreFixture.uri, .originals)
                    try await age(bytes, rows: "orphan", "blob")
                    // The file is gone if the collection was quick.
                    try? FileManager.default.setAttributes(
                        [.modificationDate: Date(timeIntervalSince1970: 1)],
                        ofItemAtPath: path
                    )
                }
            }
            group.addTask {
                while !Task.isCancelled { _ = try await collect(.now - 3_600) }
            }
            try await group.next()
            group.cancelAll()
        }
        try await keep(bytes, seen: 1_000)
        #expect(try await store.check().filter { $0.severity != .ok } == [])
    }
}
