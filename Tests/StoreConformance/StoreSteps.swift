package import CameoModel
package import CameoStore
package import Foundation
internal import TestSupport

/// A store for a single test, and the steps that tests of any engine take with it.
package protocol StoreSteps: Sendable {
    /// The store's protocols.
    var faces: any Store { get }
    /// The store's clock.
    var clock: ConformanceClock { get }
    /// The numbers of the pictures that were requested so far.
    var numbers: Numbers { get }
    /// Runs statements that every engine understands, as another program does, and returns their rows, one a line.
    @discardableResult
    func sql(_ statements: String) async throws -> String
}

extension StoreSteps {
    package func register(
        _ id: String = "w1",
        in store: (any Store)? = nil,
        host: String = "host",
        queues: [String]? = nil,
        lacks: [HostLack] = []
    ) async throws {
        let worker = WorkerDescription(
            id: id,
            host: host,
            pid: 1,
            version: "test",
            concurrency: 4,
            queues: queues,
            lacks: lacks
        )
        try await (store ?? faces).register(worker)
    }

    /// Enqueues requests with different sources, because equal ones would join one job.
    @discardableResult
    package func enqueue(_ count: Int = 1, change: (inout ThumbnailRequest) -> Void = { _ in }) async throws
        -> [EnqueueReceipt]
    {
        try await faces.enqueue(numbers.next(count).map { Self.request($0, change: change) })
    }

    /// Enqueues a request for the same thumbnails each time, except for the given change.
    @discardableResult
    package func enqueueDuplicate(_ change: (inout ThumbnailRequest) -> Void = { _ in }) async throws
        -> EnqueueReceipt
    {
        try await faces.enqueue([Self.request(change: change)])[0]
    }

    package static func request(
        _ source: String = "file:///pictures/a.jpg",
        change: (inout ThumbnailRequest) -> Void = { _ in }
    ) -> ThumbnailRequest {
        var request = ThumbnailRequest(source: source, renditions: [Rendition(width: 64, height: 64)])
        change(&request)
        return request
    }

    /// A request for the thumbnails of one of the pictures that ``enqueue(_:change:)`` names, from 0.
    package static func request(_ number: Int, change: (inout ThumbnailRequest) -> Void = { _ in })
        -> ThumbnailRequest
    {
        request("file:///pictures/\(number).jpg", change: change)
    }

    /// What a renderer would have made for each rendition of a claimed job.
    package static func rendered(
        _ job: ClaimedJob,
        bytes: Data = Data("thumbnail".utf8),
        overlay: String? = nil
    ) throws -> [RenderedThumbnail] {
        let request = try job.parsedRequest()
        return zip(try request.thumbnailIDs(), request.renditions).map { id, rendition in
            RenderedThumbnail(
                id: id,
                rendition: rendition,
                encoded: .made(of: bytes, hasAlpha: true),
                overlayDigest: overlay.map { BlobDigest(of: Data($0.utf8)) }
            )
        }
    }

    package static func provenance(
        of name: String = "file:///pictures/a.jpg",
        seen: Int64 = 1,
        source: String = "picture",
        version: String = "test-1",
        isTruncated: Bool = false
    ) throws -> Provenance {
        Provenance(
            source: try SourceIdentity(of: name),
            sourceDigest: BlobDigest(of: Data(source.utf8)),
            sourceSeen: seen,
            rendererVersion: version,
            picture: PictureFacts(format: .gif, width: 640, height: 480, pages: 3, hasAlpha: true),
            isTruncated: isTruncated
        )
    }
}
