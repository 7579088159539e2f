import CameoModel
import CameoObjectStorage
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// A bucket of a real server, before which something answers with other bytes than are there.
@Suite(.objectServers(.swift), .serialized, .timeLimit(.minutes(5)))
struct ReplacedBytesTests {
    private let proxy: FaultyProxy
    private let storage: ObjectStorage
    private let fixture: StoreFixture
    private let store: PostgreSQLStore
    private let digests: [BlobDigest]

    init() async throws {
        let server = try #require(ObjectServerScope.current[.swift])
        proxy = try await FaultyProxy.start(before: server.port)
        let environment = server.environment
        let name = try BucketName(server.name(UUID().uuidString, port: proxy.port), environment: environment)
        let storage = try ObjectStorage(name, configuration: .init(environment: environment))
        self.storage = storage
        fixture = try await StoreFixture()
        let place = BytesPlace(chosen: name.text) { _ in storage }
        let store = try PostgreSQLStore(fixture.store.url, bytes: place, clock: fixture.clock.storeClock)
        self.store = store
        try await fixture.register(in: store)
        var digests: [BlobDigest] = []
        for letter in ["a", "b", "c"] {
            let source = "file:///\(letter)"
            _ = try await store.enqueue([StoreFixture.request(source)])
            let job = try #require(try await store.claim(limit: 1, for: "w1").first)
            let bytes = Data(String(repeating: letter, count: 200_000).utf8)
            let rendered = try StoreFixture.rendered(job, bytes: bytes)
            let product = JobProduct.rendered(rendered, try StoreFixture.provenance(of: source))
            try await store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
            digests.append(BlobDigest(of: bytes))
        }
        self.digests = digests
    }

    private func repair() async throws -> [CheckFinding] {
        try await store.repair(in: try await store.freeTurn())
    }

    private func blobs() async throws -> CheckFinding {
        try #require(try await store.check().first { $0.subject == "blobs" })
    }

    private func expectNothingRemoved() async throws {
        #expect(try await fixture.sql("SELECT count(*) FROM thumbnail") == "3")
        #expect(try await fixture.sql("SELECT count(*) FROM set_aside") == "0")
    }

    /// Opening a store blocks a thread. What it waits for must not need one that others block by opening theirs.
    @Test func manyBlockedThreadsGetTheirAnswers() async throws {
        let server = try #require(ObjectServerScope.current[.swift])
        let environment = server.environment
        let name = try BucketName(server.name(UUID().uuidString), environment: environment)
        let storages = try (0..<2 * max(2, ProcessInfo.processInfo.activeProcessorCount)).map { _ in
            try ObjectStorage(name, configuration: .init(environment: environment))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for storage in storages { group.addTask { _ = try blocking { try await storage.owner() } } }
            try await group.waitForAll()
        }
        for storage in storages { storage.close() }
    }

    @Test func aRepairOfCodedAnswersRemovesNothing() async throws {
        try await proxy.add(.coded("gzip").times(1_000_000, "GET"))
        #expect(try await repair() == [])
        #expect(try await blobs().severity == .ok)
        try await expectNothingRemoved()
    }

    /// A coding that nobody names, a page, and other bytes of the same number, also where a range was asked for.
    @Test(arguments: [
        (FaultyProxy.Fault.body("smaller, and not said to be"), "other bytes"),
        (.body("<html>sign in</html>", headers: ["Content-Type": "text/html"]), "an HTML page"),
        (.body(String(repeating: "y", count: 200_000)), "the whole, as if no range were asked for,"),
    ])
    func whatIsNotInTheBucketIsNamed(fault: FaultyProxy.Fault, name: String) async throws {
        for digest in digests { try await proxy.add(fault.times(1_000_000, "GET", containing: digest.path)) }
        let found = try await blobs()
        #expect(found.severity == .error && found.message.contains(name), "\(found)")
        #expect(found.message.hasSuffix("`cameo-admin check --repair` removes nothing for that"), "\(found)")
        #expect(try await repair() == [])
        try await expectNothingRemoved()
    }

    @Test func whatOnlyOneWayOfReadingShowsRemovesNothing() async throws {
        for digest in digests {
            let other = FaultyProxy.Fault.body(String(repeating: "y", count: 200_000))
            try await proxy.add(other.times(1, "GET", containing: digest.path))
        }
        #expect(try await repair() == [])
        try await expectNothingRemoved()
        for digest in digests {
            let other = FaultyProxy.Fault.body(String(repeating: "y", count: 200_000))
            try await proxy.add(other.times(1, "GET", containing: digest.path))
        }
        #expect(try await blobs().message.contains("in parts, over new connections, and not as a whole"))
        #expect(try await blobs().severity == .ok)
    }

    @Test func whatIsMissingForAWhileComesBack() async throws {
        let bytes = try await store.data(of: digests[1])
        try await storage.remove(digests[1])
        #expect(try await repair().map(\.severity) == [.mended])
        #expect(try await blobs().severity == .ok)
        #expect(try await fixture.sql("SELECT count(*) FROM thumbnail") == "2")
        _ = try await storage.put(bytes, as: digests[1], mediaType: nil, existing: .replaced)
        #expect(try await repair() == [], "bytes that a row names stay")
        let undone = try await store.undoRepairs(in: try await store.freeTurn())
        #expect(undone.map(\.message) == ["1 thumbnails and cached originals brought back that a repair had removed"])
        try await expectNothingRemoved()
        #expect(try await store.data(of: digests[1]) == bytes)
        #expect(try await fixture.wrongCounts() == "")
    }
}
