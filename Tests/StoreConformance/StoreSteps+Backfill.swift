package import CameoModel
package import CameoStore
package import Foundation
internal import Testing

extension StoreSteps {
    package static var gallery: [Rendition] {
        [Rendition(name: "grid", width: 64, height: 64), Rendition(name: "view", width: 512)]
    }

    package static func shopSource(_ number: Int) -> String { "https://shop.example/\(number).jpg" }

    /// Makes the thumbnails of sources as a worker does.
    package func make(
        _ sources: [String],
        _ renditions: [Rendition] = Self.gallery,
        version: String = "test-1",
        bytes: Data = Data("thumbnail".utf8),
        video: VideoFacts? = nil,
        headers: [String: String] = [:]
    ) async throws {
        _ = try await faces.enqueue(
            sources.map { ThumbnailRequest(source: $0, renditions: renditions, headers: headers) }
        )
        for job in try await faces.claim(limit: sources.count, for: "w1") {
            let source = try SourceIdentity(of: try job.parsedRequest().source)
            let provenance = Provenance(
                source: source,
                sourceDigest: BlobDigest(of: Data("picture".utf8)),
                sourceSeen: 1,
                rendererVersion: version,
                picture: PictureFacts(format: .jpeg, width: 640, height: 480, pages: 1, hasAlpha: false, video: video),
                isTruncated: false
            )
            let product = JobProduct.rendered(try Self.rendered(job, bytes: bytes), provenance)
            try await faces.settle(job.claim, as: .complete(product), timings: AttemptTimings())
        }
    }

    package func backfill(
        _ wanted: [Rendition] = Self.gallery,
        listed: [Rendition] = [],
        version: String? = "test-1",
        select: (inout KnownSourceSelection) -> Void = { _ in }
    ) -> Backfill {
        var selection = KnownSourceSelection()
        select(&selection)
        let rules = BackfillRules(wanted: wanted, listed: listed, rendererVersion: version)
        return Backfill(in: faces, of: selection, by: rules)
    }

    /// The sources of the jobs in the queue, each with the names of its renditions.
    package func enqueued() async throws -> [String: [String]] {
        let requests = try await sql("SELECT request FROM job JOIN task ON task.id = job.id").split(separator: "\n")
        let pairs = try requests.map { text in
            let request = try ThumbnailRequest(parsing: text.utf8)
            #expect(request.queue == "backfill")
            return (request.source, request.renditions.map(\.name))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}
