import CameoHTTPCache
import CameoModel
import CameoSystem
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL
@testable import CameoStore

/// The beginnings of broken downloads.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct PartialTests {
    private static let key = SourceKey(uri: StoreFixture.uri, scope: nil)

    private static func partial(_ bytes: Data) throws -> PartialResponse {
        let now = Date(timeIntervalSince1970: 1_900_000_000)
        let fields = [("ETag", "\"a\""), ("Content-Length", "10000000")].map {
            HTTPFields.Line(name: $0.0, value: $0.1)
        }
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
        var bytes = [UInt8](repeating: 0, count: 10_000_000)
        let count = read(file.descriptor, &bytes, bytes.count)
        return Data(bytes[..<max(0, count)])
    }

    @Test func whatIsKeptComesBackInEveryProcess() async throws {
        let fixture = try await StoreFixture()
        #expect(try await fixture.store.partial(of: Self.key) == nil)
        for letter in ["a", "b"] as [Character] {
            let bytes = StoreFixture.bytes(letter, 100_000)
            let partial = try Self.partial(bytes)
            try await fixture.store.keepPartial(partial, bytes: bytes, of: Self.key)
            let (found, file) = try #require(try await fixture.anotherStore().partial(of: Self.key))
            #expect(found == partial && Self.contents(of: file) == bytes)
        }
        #expect(try await fixture.sql("SELECT count(*) FROM partial") == "1")
        try await fixture.store.dropPartial(of: Self.key)
        try await fixture.store.dropPartial(of: Self.key)
        #expect(try await fixture.store.partial(of: Self.key) == nil)
    }

    @Test func eachSetOfCredentialsHasItsOwnAndForgettingRemovesAll() async throws {
        let fixture = try await StoreFixture()
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

    /// The tables are not in the write-ahead log, and another program may have changed them.
    @Test(arguments: [
        "DELETE FROM partial_piece WHERE number = 0", "UPDATE partial SET head = replace(head, '5000000', '5000001')",
    ])
    func whatIsNotWholeIsNothing(damage: String) async throws {
        let fixture = try await StoreFixture()
        let bytes = StoreFixture.bytes("a", 5_000_000)
        try await fixture.store.keepPartial(try Self.partial(bytes), bytes: bytes, of: Self.key)
        #expect(try await fixture.store.partial(of: Self.key) != nil)
        try await fixture.sql(damage)
        #expect(try await fixture.store.partial(of: Self.key) == nil)
    }

    @Test func pruningRemovesOldOnes() async throws {
        let fixture = try await StoreFixture()
        let bytes = StoreFixture.bytes("a", 100_000)
        try await fixture.store.keepPartial(try Self.partial(bytes), bytes: bytes, of: Self.key)
        for (age, isKept) in [(3_500.0, true), (200, false)] {
            fixture.clock.advance(seconds: age)
            _ = try await fixture.prune(.forever)
            #expect(try await (fixture.store.partial(of: Self.key) != nil) == isKept)
        }
    }

    @Test func theOldestGiveWayAndTheLargestAreNotKept() async throws {
        let fixture = try await StoreFixture()
        let size = PostgreSQLStore.partialBytes.all / 4
        try await fixture.sql(
            "INSERT INTO partial SELECT 'uri ' || n, '', '{}', \(size), n FROM generate_series(1, 4) AS n"
        )
        let bytes = StoreFixture.bytes("a", 100_000)
        try await fixture.store.keepPartial(try Self.partial(bytes), bytes: bytes, of: Self.key)
        let left = "SELECT string_agg(uri, ',' ORDER BY at) FROM partial WHERE uri LIKE 'uri%'"
        #expect(try await fixture.sql(left) == "uri 2,uri 3,uri 4")
        let large = Data(count: PostgreSQLStore.partialBytes.one + 1)
        let other = SourceKey(uri: StoreFixture.uri + "2", scope: nil)
        try await fixture.store.keepPartial(try Self.partial(bytes), bytes: large, of: other)
        #expect(try await fixture.store.partial(of: other) == nil)
    }
}
