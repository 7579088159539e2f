internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ServiceLifecycle

// DESIGN. The store knows which job promises a thumbnail, and for a week why the last one did not make it. The URLs that
// cameo-web issues name the job too (`?job=7`), which tells of a failure for as long as the job is kept.

/// A thumbnail that does not exist, or does not exist yet.
struct PendingThumbnail: Sendable {
    private let id: ThumbnailID
    private let job: Int64?
    /// The size of a placeholder; that of a rendition with only a width or a height is a square.
    private let box: PixelSize?

    init(_ id: ThumbnailID, _ query: QueryItems) throws(Problem) {
        self.id = id
        job = try query.integer("job", in: 1...Int64.max)
        box = try query["box"].map { text throws(Problem) in try Self.box(text) }
    }

    init(_ id: ThumbnailID, job: Int64?, rendition: Rendition) {
        self.id = id
        self.job = job
        box = Self.box(of: rendition)
    }

    private static func box(_ text: String) throws(Problem) -> PixelSize {
        let edges = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard edges.count == 2, let width = edges[0], let height = edges[1], Rendition.edgeRange.contains(width),
            Rendition.edgeRange.contains(height)
        else { throw Problem(.badRequest, "box=\(text): must be WIDTHxHEIGHT in pixels, such as 256x256") }
        return PixelSize(width, height)
    }

    private static func box(of rendition: Rendition) -> PixelSize? {
        // The largest box is that of a picture which keeps its own size.
        guard let edge = rendition.width ?? rendition.height, edge < Rendition.edgeRange.upperBound else { return nil }
        return PixelSize(rendition.width ?? edge, rendition.height ?? edge)
    }

    /// The size that a thumbnail will have if the store knows that of its source; else that of its box.
    private static func box(of rendition: Rendition, from source: String?, on site: Site) async throws -> PixelSize? {
        var filter = ThumbnailFilter()
        filter.source = source
        let known =
            source == nil ? nil : try await site.store.thumbnails(where: filter, after: nil, limit: 1).thumbnails.first
        guard let facts = known?.thumbnail.source, rendition.crop == nil, rendition.rotate == .none else {
            return box(of: rendition)
        }
        return Geometry(of: rendition, source: PixelSize(facts.width, facts.height)).final
    }

    /// What has become of the thumbnail.
    enum Fate: Sendable {
        case made(StoredContent)
        /// It does not exist: the job that is to make it, and whether that has ended without it.
        case missing(Promise?, hasEnded: Bool)
    }

    /// Waits up to `patience` for the thumbnail or the end of its job. Returns early if the server shuts down.
    func wait(_ patience: Duration, on site: Site) async throws -> Fate {
        // One that exists costs no look at its job.
        if let content = try await site.store.made(id) { return .made(content) }
        guard patience > .zero else { return try await fate(on: site) }
        let end = try? await cancelWhenGracefulShutdown {
            try await site.changes.first(of: job, within: patience) { () async throws -> Fate? in
                let fate = try await fate(on: site)
                if case .missing(_, hasEnded: false) = fate { return nil }
                return fate
            }
        }
        if let end { return end }
        return try await fate(on: site)
    }

    private func fate(on site: Site) async throws(StoreError) -> Fate {
        // Before the thumbnail: a job that has ended by then has stored it. One that does not exist may have been removed
        // since it ended.
        let promise: Promise? =
            if let job { Promise(job: job, code: nil) } else { try await site.store.promise(of: id) }
        var hasEnded = false
        if let job = promise?.job { hasEnded = try await site.store.places(of: [job])[job]?.state.isFinal ?? true }
        return try await site.store.made(id).map { .made($0) } ?? .missing(promise, hasEnded: hasEnded)
    }

    static let forgotten = Problem(
        .gone,
        "this was forgotten, and comes back only if somebody asks for it again"
    )

    /// Responds 202 with a placeholder or the job's state, unless the job `hasEnded` without the thumbnail. Without a request, never
    /// with a placeholder.
    ///
    /// - Throws: ``Problem`` with the reason if the thumbnail will not be made; ``StoreError``.
    func answer(to request: Request?, on site: Site, _ promise: Promise?, hasEnded: Bool) async throws -> Response {
        // A job that has failed was asked for since.
        let isOver = promise.map { $0.code == nil && hasEnded } ?? true
        if isOver, try await site.store.wasForgotten(.thumbnail(id)) { throw Self.forgotten }
        guard let promise else {
            // A producer may show it before its request is accepted.
            throw Problem(
                .notFound,
                "nobody has asked for this thumbnail, or it was removed",
                headers: [.cacheControl: "no-store"]
            )
        }
        if let code = promise.code, try await site.store.places(of: [promise.job])[promise.job] == nil {
            throw Problem(JobFailure(code, at: .worker, "job \(promise.job) did not make it, and was removed since"))
        }
        var members: [String: JSONValue] = [
            "status": "pending", "uri": .string(CameoURI.thumbnail(id).text),
            "thumbnail": .string(site.path(to: .thumbnail(id))),
        ]
        var box = box
        let asked = try await site.store.job(promise.job)
        guard let index = asked.thumbnails.firstIndex(where: { $0.uri == .thumbnail(id) }) else {
            throw Problem(.notFound, "job \(promise.job) does not make this thumbnail")
        }
        let now = try await site.store.jobInPlace(of: promise.job)
        if hasEnded, now.state.isFinal { throw Self.problem(now) }
        members["job"] = .integer(now.id)
        members["state"] = .string(now.state.rawValue)
        if let failure = now.failure { members["failure"] = .string(failure.code.rawValue) }
        let renditions = (try? ThumbnailRequest(json: asked.request))?.renditions ?? []
        if box == nil, index < renditions.count {
            box = try await Self.box(of: renditions[index], from: asked.source, on: site)
        }
        var response: Response
        // Browsers name image types for an `img`, and programs do not.
        if request?.headers[.accept]?.lowercased().contains("image/") == true {
            let picture = PlaceholderPicture(box ?? PixelSize(256, 256))
            response = Response(
                status: .accepted,
                headers: [
                    .contentType: picture.mediaType, .cacheControl: "no-store",
                    .contentSecurityPolicy: WebExchange.policy,
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: picture.bytes))
            )
        } else {
            response = Response(json: .object(members), status: .accepted)
        }
        response.headers[.retryAfter] = "1"
        response.headers[.vary] = "Accept"
        return response
    }

    private static func problem(_ job: Job) -> Problem {
        switch job.state {
        case .cancelled: return Problem(.gone, "job \(job.id) was cancelled")
        case .completed: return Problem(.gone, "job \(job.id) made the thumbnail, which has since been removed")
        default:
            return job.failure.map { Problem($0) } ?? Problem(.gone, "job \(job.id) ended without making the thumbnail")
        }
    }
}

/// A picture of at most a few kilobytes, shown in place of a thumbnail.
struct PlaceholderPicture: Sendable {
    let mediaType: String
    let bytes: [UInt8]
}

extension PlaceholderPicture {
    /// Makes a box for a picture of which only the size is known, of a mid grey that is neither light nor dark.
    init(_ box: PixelSize, color: String = "#a8a8a8") {
        let size = "width=\"\(box.width)\" height=\"\(box.height)\""
        let text =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" \(size)><rect width=\"100%\" height=\"100%\" fill=\"\(color)\"/></svg>"
        self.init(mediaType: "image/svg+xml", bytes: Array(text.utf8))
    }

    /// Draws the thumbnail's ThumbHash, or a box of its dominant colour if the hash cannot be decoded.
    init(of thumbnail: Thumbnail) {
        let placeholder = thumbnail.placeholder
        if let hash = Data(base64Encoded: placeholder.thumbHash).flatMap({ ThumbHash(Array($0)) }) {
            let picture = PNGFile.picture(hash.pixels(), width: hash.width, height: hash.height)
            self.init(mediaType: "image/png", bytes: Array(picture))
        } else {
            self.init(PixelSize(thumbnail.width, thumbnail.height), color: placeholder.dominantColorText)
        }
    }
}
