import Cameo
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Thumbnails by themselves.
@Suite(.timeLimit(.minutes(10)))
struct ThumbnailTests {
    private let bench: Workbench
    private let client: Client

    init() throws {
        bench = try Workbench()
        client = try Client(store: bench.path)
    }

    /// The URIs of a thumbnail of each of these sources, the last of which is not made.
    private func make(_ sources: [String]) async throws -> [CameoURI] {
        let worker = try await bench.register()
        var uris: [CameoURI] = []
        for source in sources {
            let request = ThumbnailRequest(
                source: source,
                renditions: [Rendition(width: 64)],
                labels: ["of \(source)", "all"]
            )
            uris += try await client.enqueue(request).thumbnails.map(\.uri)
            if source != sources.last {
                try await bench.complete(try await bench.begin(worker), with: Data(source.utf8))
            }
        }
        return uris
    }

    @Test func factsAreThoseOfWhatExistsInOrder() async throws {
        let uris = try await make(["file:///b.jpg", "https://user:secret@host/a.jpg", "file:///none.jpg"])
        let facts = try await client.facts(of: uris.reversed())
        #expect(facts.map(\.thumbnail.uri) == [uris[1], uris[0]])
        #expect(facts.map(\.source) == ["https://…@host/a.jpg", "file:///b.jpg"])
        #expect(facts.map(\.labels) == [["all", "of https://user:secret@host/a.jpg"], ["all", "of file:///b.jpg"]])
        #expect(facts.map(\.thumbnail.name) == ["64x", "64x"] && facts[0].thumbnail.width != nil)
        #expect(try await client.facts(of: []).isEmpty)
        try await expectInvalid("uris[1]") { _ = try await client.facts(of: [uris[0], .source("file:///b.jpg")]) }
    }

    @Test func pagesFollowOneAnother() async throws {
        let uris = try await make(["file:///1.jpg", "file:///2.jpg", "file:///x/3.jpg", "file:///none.jpg"])
        let first = try await client.thumbnails(limit: 2)
        let second = try await client.thumbnails(after: first.next, limit: 2)
        let listed = (first.thumbnails + second.thumbnails).map(\.thumbnail.uri)
        #expect(Set(listed) == Set(uris.dropLast()) && listed.count == 3 && second.next == nil)
        var filter = ThumbnailFilter()
        filter.sourcePrefix = "file:///x/"
        #expect(try await client.thumbnails(where: filter).thumbnails.map(\.thumbnail.uri) == [uris[2]])
        filter.label = "of file:///1.jpg"
        #expect(try await client.thumbnails(where: filter).thumbnails.isEmpty)
        filter.sourcePrefix = nil
        #expect(try await client.thumbnails(where: filter).thumbnails.map(\.thumbnail.uri) == [uris[0]])
    }

    @Test func whatCannotBeListedIsNamed() async throws {
        var filter = ThumbnailFilter()
        try await expectInvalid("limit") { _ = try await client.thumbnails(limit: 0) }
        filter.sourcePrefix = ""
        try await expectInvalid("sourcePrefix") { _ = try await client.thumbnails(where: filter) }
        filter.sourcePrefix = String(repeating: "a", count: 501)
        try await expectInvalid("") { _ = try await client.thumbnails(where: filter) }
        try await expectInvalid("") { _ = try await client.thumbnails(after: "7") }
    }
}
