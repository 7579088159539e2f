import CameoHTTPCache
import CameoModel
import CameoSystem
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite
@testable import CameoStore

/// The beginnings of broken downloads, which are files and nothing else.
@Suite(.timeLimit(.minutes(10)))
struct PartialTests {
    private static let key = SourceKey(uri: StoreFixture.uri, scope: nil)

    private static func partial(_ bytes: Data) throws -> PartialResponse {
        let now = Date(timeIntervalSince1970: 1_900_000_000)
        let fields = [("ETag", "\"a\""), ("Content-Length", "1000000")].map { HTTPFields.Line(name: $0.0, value: $0.1) }
        let head = CacheableResponse(status: 200, fields: HTTPFields(fields), requestTime: now, responseTime: now)
        let digest = BlobDigest(of: bytes)
        return try #require(
            PartialResponse(
                head,
                from: StoreFixture.uri,
                count: bytes.count,
                digest: digest,
                peers: [Peer(origin: "https://example.com:443", .address("8.8.8.8"))]
            )
        )
    }

    private static func contents(of file: OpenFile) -> Data {
        var bytes = [UInt8](repeating: 0, count: 1_000_000)
        let count = read(file.descriptor, &bytes, bytes.count)
        return Data(bytes[..<max(0, count)])
    }

    private func files(of fixture: StoreFixture) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(fixture.path)/blobs/tmp")
    }

    @Test func whatIsKeptComesBackInEveryProcess() async throws {
        let fixture = try StoreFixture()
        #expect(try await fixture.store.partial(of: Self.key) == nil)
        for letter in ["a", "b"] as [Character] {
            let bytes = StoreFixture.bytes(letter, 100_000)
            let partial = try Self.partial(bytes)
            try await fixture.store.keepPartial(partial, bytes: bytes, of: Self.key)
            let (found, file) = try #require(try await fixture.anotherStore().partial(of: Self.key))
            #expect(found == partial && Self.contents(of: file) == bytes)
        }
        #expect(try files(of: fixture).count == 1)
        try await fixture.store.dropPartial(of: Self.key)
        try await fixture.store.dropPartial(of: Self.key)
        #expect(try await fixture.store.partial(of: Self.key) == nil)
    }

    @Test func eachSetOfCredentialsHasItsOwnAndForgettingRemovesAll() async throws {
        let fixture = try StoreFixture()
        let bytes = StoreFixture.bytes("a", 100_000)
        let (ann, other) = (
            SourceKey(uri: StoreFixture.uri, scope: StoreFixture.scope("ann")),
            SourceKey(uri: StoreFixture.uri + "2", scope: nil)
        )
        for key in [ann, other] {
            try await fixture.store.keepPartial(try Self.partial(bytes), bytes: bytes, of: key)
        }
        #expect(try await fixture.store.partial(of: Self.key) == nil)
        _ = try await fixture.store.forgetSource(StoreFixture.uri, .originals)
        #expect(try await fixture.store.partial(of: ann) == nil)
        #expect(try await fixture.store.partial(of: other) != nil)
    }

    @Test func aFileThatIsNotWholeIsNothing() async throws {
        let fixture = try StoreFixture()
        let bytes = StoreFixture.bytes("a", 100_000)
        try await fixture.store.keepPartial(try Self.partial(bytes), bytes: bytes, of: Self.key)
        let file = URL(filePath: fixture.store.directory.partial(of: Self.key))
        let whole = try Data(contentsOf: file)
        for damaged in [whole.dropLast(), whole + Data([0]), Data(), Data("{}\n".utf8), whole.dropFirst()] {
            try damaged.write(to: file)
            #expect(try await fixture.store.partial(of: Self.key) == nil)
        }
    }

    @Test func aCheckKnowsThemAndPruningRemovesOldOnes() async throws {
        let fixture = try StoreFixture()
        let bytes = StoreFixture.bytes("a", 100_000)
        try await fixture.store.keepPartial(try Self.partial(bytes), bytes: bytes, of: Self.key)
        let findings = try await fixture.store.check()
        #expect(findings.first { $0.subject == "unexpected" }?.severity == .ok)
        let turn = try #require(try fixture.store.maintenanceTurn())
        let file = fixture.store.directory.partial(of: Self.key)
        for (age, count) in [(3_500.0, 1), (3_700, 0)] {
            let time = fixture.store.clock.now().addingTimeInterval(-age)
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: file)
            _ = try await fixture.store.prune(.forever, in: turn)
            #expect(try files(of: fixture).count == count)
        }
    }

    @Test func theOldestGiveWay() async throws {
        let fixture = try StoreFixture()
        let directory = fixture.store.directory
        for (index, share) in [2, 2, 4].enumerated() {
            let path = "\(directory.unfinishedBlobs)/partial-\(index)"
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            // A hole: it counts with its size, and takes no room.
            #expect(truncate(path, off_t(SQLiteStore.partialBytes / share)) == 0)
            let time = Date(timeIntervalSince1970: Double(1_000_000 + index))
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
        }
        let bytes = StoreFixture.bytes("a", 100_000)
        try await fixture.store.keepPartial(try Self.partial(bytes), bytes: bytes, of: Self.key)
        let left = try files(of: fixture).sorted()
        #expect(left.filter { $0.count < 20 } == ["partial-1", "partial-2"] && left.count == 3)
    }
}
