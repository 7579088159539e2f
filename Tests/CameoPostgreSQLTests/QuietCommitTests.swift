import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Testing

@testable import CameoPostgreSQL

struct QuietCommitTests {
    /// Nobody waits for what the source cache and deliveries record, so that it wakes no worker.
    @Test func theSourceCacheWakesNobody() async throws {
        let fixture = try await StoreFixture()
        let source = StoreFixture.original(StoreFixture.bytes("a"))
        let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
        let key = SourceKey(uri: "https://example.com/b", scope: nil)
        let before = try await fixture.store.version()
        try await fixture.store.keep(source, data: StoreFixture.bytes("a"), budget: nil)
        #expect(try await fixture.store.freshen(source))
        fixture.clock.advance(seconds: 61)
        try await fixture.store.touch(source)
        try await fixture.store.remember(failure, of: key, until: .distantFuture, seen: 2, peers: [])
        try await fixture.store.dropCachedSource(source)
        #expect(try await fixture.store.version() == before)
        try await fixture.enqueue()
        #expect(try await fixture.store.version() != before)
    }
}
