import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Files of thumbnails that no row comes to reference.
@Suite(.timeLimit(.minutes(10)))
struct LeftFileTests {
    private static func bytes(_ letter: Character) -> Data { StoreFixture.bytes(letter, 200_000) }

    private func claim(_ fixture: StoreFixture) async throws -> ClaimedJob {
        _ = try await fixture.store.enqueue([StoreFixture.request()])
        return try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
    }

    private func complete(
        _ job: ClaimedJob,
        _ letter: Character,
        from provenance: Provenance,
        _ fixture: StoreFixture
    ) async throws {
        try await fixture.store.complete(
            job.claim,
            storing: StoreFixture.rendered(job, bytes: Self.bytes(letter)),
            from: provenance,
            timings: AttemptTimings()
        )
    }

    /// For the same source the first blob is kept; an older fetch loses to a newer one; a cancelled job stores nothing.
    @Test(arguments: ["renewed", "older", "lost lease"])
    func collectionFindsTheFileOfADiscardedResult(way: String) async throws {
        let fixture = try StoreFixture()
        let (first, second) = (try await claim(fixture), try await claim(fixture))
        try await complete(first, "a", from: StoreFixture.provenance(seen: 2, source: "new"), fixture)
        switch way {
        case "renewed": try await complete(second, "b", from: StoreFixture.provenance(seen: 3, source: "new"), fixture)
        case "older": try await complete(second, "b", from: StoreFixture.provenance(seen: 1, source: "old"), fixture)
        default:
            _ = try await fixture.store.cancel(second.claim.jobID)
            await #expect(throws: StoreError.leaseLost(jobID: second.claim.jobID)) {
                try await complete(second, "b", from: StoreFixture.provenance(seen: 3, source: "other"), fixture)
            }
        }
        let file = fixture.store.directory.blobFile(BlobDigest(of: Self.bytes("b")))
        #expect(FileManager.default.fileExists(atPath: file))
        #expect(try await fixture.prune(.forever).blobs == 0, "another process may be about to reference it")
        fixture.clock.advance(seconds: 3_700)
        #expect(try await fixture.prune(.forever).blobs == 1)
        #expect(!FileManager.default.fileExists(atPath: file))
        let id = try ThumbnailRequest(parsing: first.request.utf8).thumbnailIDs()[0]
        #expect(try await fixture.store.data(of: .thumbnail(id)) == Self.bytes("a"))
        #expect(
            try await fixture.store.check().filter { $0.severity == .error || $0.subject == "files" }.map(\.severity)
                == [.ok]
        )
    }
}
