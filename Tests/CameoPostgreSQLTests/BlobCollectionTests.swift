import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

@Suite(.serialized, .timeLimit(.minutes(10)))
struct BlobCollectionTests {
    private static let large = 150_000

    /// The server's times, because its triggers note them.
    private let server: PostgreSQLServer
    private let store: PostgreSQLStore

    init() async throws {
        server = try await .shared()
        store = try PostgreSQLStore(DatabaseURL(server.newURL()))
    }

    private func keep(_ bytes: Data, seen: Int64 = 1, in other: PostgreSQLStore? = nil) async throws {
        try await (other ?? store).keep(StoreFixture.original(bytes, seen: seen), data: bytes, budget: nil)
    }

    @discardableResult
    private func sql(_ statements: String) async throws -> String {
        try await server.sql(statements, schema: store.url.schema)
    }

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
        #expect(try await collect().candidates == 0)
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

    @Test func bytesOfASupersededAnswerAreRemoved() async throws {
        try await keep(StoreFixture.bytes("b", Self.large), seen: 2)
        try await keep(StoreFixture.bytes("a", Self.large), seen: 1)
        #expect(try await collect().count == 1)
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
        #expect(try await collect(.now - 3_600).count == 1)
    }

    /// Otherwise a collection that continues until a step finds few blobs would never end.
    @Test(arguments: [10, large])
    func blobsThatAreTooYoungArePostponed(count: Int) async throws {
        let (bytes, time) = (StoreFixture.bytes("a", count), Date.now - 3_600)
        try await keep(bytes)
        _ = try await store.forgetSource(StoreFixture.uri, .originals)
        try await age(bytes, rows: "orphan")
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
        let product = JobProduct.rendered(try StoreFixture.rendered(job, bytes: bytes), try StoreFixture.provenance())
        try await store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
        let (hex, next) = (BlobDigest(of: bytes).hex, try await store.store(other, mediaType: nil).hex)
        try await sql(
            """
            INSERT INTO orphan VALUES ('\(hex)', 1) ON CONFLICT (digest) DO UPDATE SET since = 1;
            \(statement.replacing("?", with: "'\(next)'"))
            """
        )
        #expect(try await sql("SELECT since > 1 FROM orphan WHERE digest = '\(hex)'") == "t")
    }

    private func age(_ bytes: Data, rows tables: String...) async throws {
        for table in tables {
            let column = table == "blob" ? "created_at" : "since"
            try await sql("UPDATE \(table) SET \(column) = 1 WHERE digest = '\(BlobDigest(of: bytes).hex)'")
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
            try await sql(#"INSERT INTO job(request) VALUES ('{"source":"\#(uri)","renditions":[{"width":64}]}')"#)
            _ = try await store.acceptAll()
        default: _ = try await store.enqueue(StoreFixture.request(), data: bytes)
        }
        _ = try await store.forgetSource(StoreFixture.uri, .originals)
        #expect(try await collect().count == 0)
        #expect(try await blobs() == 1)
        _ = try await store.cancel(1)
        try await sql("DELETE FROM job")
        #expect(try await collect().count == 1)
    }

    @Test func thumbnailKeepsItsBlobUntilItIsForgotten() async throws {
        _ = try await store.enqueue([StoreFixture.request()])
        let job = try #require(try await store.claim(limit: 1, for: "w1").first)
        let bytes = StoreFixture.bytes("a")
        try await keep(bytes)
        let product = JobProduct.rendered(try StoreFixture.rendered(job, bytes: bytes), try StoreFixture.provenance())
        try await store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
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

    /// Another process stores the bytes repeatedly, while those that are there are made to look old each time.
    @Test(arguments: [10, large])
    func writerThatRacesACollectionNeverLosesItsBytes(count: Int) async throws {
        let bytes = StoreFixture.bytes("a", count)
        let other = try PostgreSQLStore(store.url)
        let hex = BlobDigest(of: bytes).hex
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for seen in 1...TestLength.rounds(40, full: 150) {
                    try await keep(bytes, seen: Int64(seen), in: other)
                    #expect(try await other.data(of: .source(StoreFixture.uri)) == bytes)
                    _ = try await other.forgetSource(StoreFixture.uri, .originals)
                    try await other.transaction { db in
                        try db.execute("UPDATE blob SET created_at = 1 WHERE digest = $1", [hex])
                        _ = try db.execute("UPDATE orphan SET since = 1 WHERE digest = $1", [hex])
                    }
                }
            }
            group.addTask {
                while !Task.isCancelled { _ = try await collect(.now - 3_600) }
            }
            try await group.next()
            group.cancelAll()
        }
        try await keep(bytes, seen: 1_000)
        #expect(try await store.data(of: .source(StoreFixture.uri)) == bytes)
    }
}
