import CameoModel
import CameoStore
import Foundation
import StoreConformance
import Testing

@testable import CameoSQLite

@Suite(.timeLimit(.minutes(10)))
struct BackfillTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test func lostBytesAreMadeAgainAndDamagedOnesIfTheyAreVerified() async throws {
        try await fixture.make([StoreFixture.shopSource(0)])
        let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try await fixture.make([StoreFixture.shopSource(1), StoreFixture.shopSource(2)], bytes: large)
        let file = fixture.store.directory.blobFile(BlobDigest(of: large))
        #expect(try await fixture.backfill().survey().damaged == 0)
        var broken = large
        broken[0] = ~broken[0]
        try broken.write(to: URL(filePath: file))
        #expect(try await fixture.backfill().survey().damaged == 0)
        #expect(try await fixture.backfill { $0.verifiesBytes = true }.survey().damaged == 4)
        try large.prefix(100).write(to: URL(filePath: file))
        #expect(try await fixture.backfill().survey().damaged == 4)
        try FileManager.default.removeItem(atPath: file)
        #expect(try await fixture.backfill().run().damaged == 4)
        #expect(try await Set(fixture.enqueued().keys) == [StoreFixture.shopSource(1), StoreFixture.shopSource(2)])
    }
}
