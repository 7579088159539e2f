import CameoModel
import CameoQueue
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

/// A thumbnail also depends on its overlay's bytes, which are not part of its id.
@Suite(.timeLimit(.minutes(10)))
struct OverlayProvenanceTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    private func make(_ bytes: String, overlay: String?, seen: Int64) async throws -> String {
        try await fixture.enqueue {
            $0.source = "file:///pictures/a.jpg"
            $0.renditions[0].look.overlay = Rendition.Overlay(source: "file:///mark.png")
        }
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        try await fixture.store.complete(
            job.claim,
            storing: try StoreFixture.rendered(job, bytes: Data(bytes.utf8), overlay: overlay),
            from: try StoreFixture.provenance(seen: seen),
            timings: AttemptTimings()
        )
        let id = try #require(try ThumbnailRequest(parsing: job.request.utf8).thumbnailIDs().first)
        return String(decoding: try await fixture.store.data(of: .thumbnail(id)), as: UTF8.self)
    }

    @Test func changedOverlayReplacesTheThumbnail() async throws {
        #expect(try await make("first", overlay: "mark", seen: 1) == "first")
        #expect(try await make("second", overlay: "new mark", seen: 2) == "second")
        #expect(try await make("third", overlay: "mark", seen: 3) == "third")
    }

    @Test func theSameOverlayKeepsTheFirstBlob() async throws {
        #expect(try await make("first", overlay: "mark", seen: 1) == "first")
        #expect(try await make("second", overlay: "mark", seen: 2) == "first")
    }

    @Test func olderFetchDoesNotBringAnOldOverlayBack() async throws {
        #expect(try await make("new", overlay: "new mark", seen: 2) == "new")
        #expect(try await make("old", overlay: "mark", seen: 1) == "new")
        #expect(try await make("newer", overlay: "new mark", seen: 3) == "new")
    }
}
