import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension ConformanceCase {
    static let enqueueing: [ConformanceCase] = [
        ConformanceCase("a receipt names the thumbnails before they are made") { fixture in
            let request = Fixture.request { $0.renditions.append(Rendition(width: 10, format: .jpeg)) }
            let receipt = try #require(try await fixture.store.enqueue([request]).first)
            #expect(receipt.state == .available)
            #expect(receipt.thumbnails.map(\.name) == ["64x64", "10x-jpeg"])
            #expect(receipt.thumbnails.map(\.uri) == (try request.thumbnailIDs()).map(CameoURI.thumbnail))
            #expect(receipt.thumbnails.allSatisfy { $0.blob == nil })
        },
        ConformanceCase("receipts come in the order of the requests across transactions") { fixture in
            let receipts = try await fixture.enqueue(2_500)
            #expect(receipts.map(\.source) == (0..<2_500).map { "file:///pictures/\($0).jpg" })
            #expect(Set(receipts.map(\.id)).count == 2_500)
            #expect(try await fixture.store.status().count(.available) == 2_500)
        },
        ConformanceCase("a later time schedules the job") { fixture in
            let time = Date(timeIntervalSince1970: 4_000_000_000)
            let receipt = try #require(try await fixture.enqueue { $0.runAt = time }.first)
            #expect(receipt.state == .scheduled)
            #expect(receipt.availableAt == time)
        },
        ConformanceCase("an invalid request leaves nothing") { fixture async throws in
            let changes: [(String, (inout ThumbnailRequest) -> Void)] = [
                ("renditions[0].width", { $0.renditions[0].width = 0 }), ("source", { $0.source = "" }),
                ("maxAttempts", { $0.maxAttempts = 0 }), ("queue", { $0.queue = "A B" }),
            ]
            for (field, change) in changes {
                // Behind one that it is like, too.
                let error = await #expect(throws: InvalidRequest.self) {
                    try await fixture.store.enqueue([
                        Fixture.request(), Fixture.request(), Fixture.request(change: change),
                    ])
                }
                #expect(error?.path == field)
            }
            #expect(try await fixture.store.status().count(.available) == 0)
        },
        ConformanceCase("metadata comes back in receipt and report") { fixture in
            let metadata: [String: JSONValue] = ["order": .integer(7), "tags": .array([.string("a"), .null])]
            let receipt = try #require(try await fixture.enqueue { $0.metadata = metadata }.first)
            #expect(receipt.metadata == metadata)
            guard case .object(let request) = try await fixture.store.job(receipt.jobID).request else {
                Issue.record("the request is no object")
                return
            }
            #expect(request["metadata"] == .object(metadata))
        },
    ]

    static let enqueueingVaried: [ConformanceCase] =
        [10, 300_000].map(dataBecomesABlobThatIsTheSource)

    private static func dataBecomesABlobThatIsTheSource(_ size: Int) -> ConformanceCase {
        ConformanceCase("data becomes a blob that is the source: \(size)") { fixture in
            let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let receipt = try await fixture.store.enqueue(Fixture.request(), data: data)
            let uri = try #require(CameoURI(receipt.source))
            #expect(uri == .blob(BlobDigest(of: data)))
            #expect(try await fixture.store.data(of: uri) == data)
            #expect(try await fixture.claim().first?.parsedRequest().source == uri.text)
        }
    }
}
