import CameoModel
import CameoStore
import Foundation
import StoreConformance
import Testing

@testable import CameoPostgreSQL

@Suite(.serialized, .timeLimit(.minutes(10)))
struct BackfillTests {
    private let fixture: StoreFixture

    init() async throws {
        fixture = try await StoreFixture()
    }

    @Test func damagedBytesAreMadeAgainIfTheyAreVerified() async throws {
        try await fixture.make([StoreFixture.shopSource(0)])
        let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try await fixture.make([StoreFixture.shopSource(1), StoreFixture.shopSource(2)], bytes: large)
        #expect(try await fixture.backfill().survey().damaged == 0)
        let digest = BlobDigest(of: large)
        try await fixture.sql("UPDATE blob SET data = set_byte(data, 0, 99) WHERE digest = '\(digest.hex)'")
        #expect(try await fixture.backfill().survey().damaged == 0)
        #expect(try await fixture.backfill { $0.verifiesBytes = true }.run().damaged == 4)
        #expect(try await Set(fixture.enqueued().keys) == [StoreFixture.shopSource(1), StoreFixture.shopSource(2)])
    }
}
