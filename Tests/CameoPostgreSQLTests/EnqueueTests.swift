import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoPostgreSQL

@Suite(.timeLimit(.minutes(10)))
struct EnqueueTests {
    @Test func receiptNamesTheThumbnailsBeforeTheyAreMade() async throws {
        let fixture = try await StoreFixture()
        let request = StoreFixture.request { $0.renditions.append(Rendition(width: 10, format: .jpeg)) }
        let receipt = try #require(try await fixture.store.enqueue([request]).first)
        #expect(receipt.state == .available)
        #expect(receipt.thumbnails.map(\.name) == ["64x64", "10x-jpeg"])
        #expect(receipt.thumbnails.map(\.uri) == (try request.thumbnailIDs()).map(CameoURI.thumbnail))
        #expect(receipt.thumbnails.allSatisfy { $0.blob == nil })
    }

    @Test func receiptsComeInTheOrderOfTheRequestsAcrossTransactions() async throws {
        let fixture = try await StoreFixture()
        let receipts = try await fixture.enqueue(2_500)
        #expect(receipts.map(\.source) == (0..<2_500).map { "file:///pictures/\($0).jpg" })
        #expect(Set(receipts.map(\.id)).count == 2_500)
        #expect(try await fixture.store.status().count(.available) == 2_500)
    }

    @Test func aLaterTimeSchedulesTheJob() async throws {
        let fixture = try await StoreFixture()
        let time = Date(timeIntervalSince1970: 4_000_000_000)
        let receipt = try #require(try await fixture.enqueue { $0.runAt = time }.first)
        #expect(receipt.state == .scheduled)
        #expect(receipt.availableAt == time)
    }

    @Test func invalidRequestLeavesNothing() async throws {
        let fixture = try await StoreFixture()
        let bad = StoreFixture.request { $0.renditions[0].width = 0 }
        await #expect(throws: InvalidRequest.self) {
            try await fixture.store.enqueue([StoreFixture.request(), bad])
        }
        #expect(try await fixture.store.status().count(.available) == 0)
    }

    @Test(arguments: [10, 300_000])
    func dataBecomesABlobThatIsTheSource(size: Int) async throws {
        let fixture = try await StoreFixture()
        let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let receipt = try await fixture.store.enqueue(StoreFixture.request(), data: data)
        let uri = try #require(CameoURI(receipt.source))
        #expect(uri == .blob(SHA256.digest(of: data)))
        #expect(try await fixture.store.data(of: uri) == data)
    }

    @Test func metadataComesBackInReceiptAndReport() async throws {
        let fixture = try await StoreFixture()
        let metadata: [String: JSONValue] = ["order": .integer(7), "tags": .array([.string("a"), .null])]
        let receipt = try #require(try await fixture.enqueue { $0.metadata = metadata }.first)
        #expect(receipt.metadata == metadata)
        guard case .object(let request) = try await fixture.store.job(receipt.jobID).request else {
            Issue.record("the request is no object")
            return
        }
        #expect(request["metadata"] == .object(metadata))
    }
}
