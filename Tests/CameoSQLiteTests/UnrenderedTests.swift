import CameoModel
import CameoQueue
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Thumbnails that a job keeps instead of making them again.
@Suite(.timeLimit(.minutes(10)))
struct UnrenderedTests {
    private func digest(_ text: String) -> BlobDigest { BlobDigest(of: Data(text.utf8)) }

    private func seen(_ number: Int64, otherThan change: String = "", overlay: String? = nil) -> Revalidation {
        Revalidation(
            sourceDigest: digest(change == "source" ? "another" : "picture"),
            overlayDigests: [change == "overlay" ? digest("another") : overlay.map(digest)],
            sourceSeen: number,
            rendererVersion: change == "renderer" ? "test-2" : "test-1"
        )
    }

    /// Makes the thumbnail from `picture` with a job whose fetch has this number.
    private func make(_ fixture: StoreFixture, seen: Int64 = 1, overlay: String? = nil) async throws -> [ThumbnailID] {
        _ = try await fixture.enqueueDuplicate()
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        let rendered = try StoreFixture.rendered(job, overlay: overlay)
        let provenance = try StoreFixture.provenance(seen: seen)
        try await fixture.store.complete(job.claim, storing: rendered, from: provenance, timings: AttemptTimings())
        return rendered.map(\.id)
    }

    @Test(arguments: ["nothing", "source", "overlay", "renderer", "bytes"])
    func thumbnailsOfTheSameBytesAreKept(difference: String) async throws {
        let fixture = try StoreFixture()
        let overlay = "mark"
        let ids = try await make(fixture, overlay: overlay)
        switch difference {
        case "bytes": _ = try await fixture.sql("UPDATE blob SET data = zeroblob(size)")
        default: break
        }
        let seen = seen(2, otherThan: difference, overlay: overlay)
        #expect(try await fixture.store.have(ids, as: seen) == (difference == "nothing"))
        #expect(try await fixture.store.have(ids, as: nil) == (difference != "bytes"), "whatever they were made from")
    }

    /// The number of the newer fetch still outranks answers fetched before it (invariant I4).
    @Test(arguments: ["rendered", "kept"])
    func anOlderFetchOfTheSameBytesKeepsTheNewerNumber(way: String) async throws {
        let fixture = try StoreFixture()
        let ids = try await make(fixture, seen: 7)
        if way == "rendered" {
            _ = try await make(fixture, seen: 3)
        } else {
            _ = try await fixture.enqueueDuplicate()
            let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            try await fixture.store.complete(job.claim, keeping: ids, seen: seen(3), timings: AttemptTimings())
        }
        #expect(try await fixture.sql("SELECT source_seen FROM thumbnail") == "7")
    }
}
