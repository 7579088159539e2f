internal import CameoModel
internal import CameoStore
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ServiceLifecycle

// DESIGN. A thumbnail's name does not tell who has asked for it, and the store keeps no such index: what is not made yet
// and what nobody has asked for look alike. So the URLs that cameo-web hands out name the job too (`?job=7`); then the
// answer tells that it has failed and why, and what box it will fill.

/// A thumbnail that is not there, or not yet.
struct PendingThumbnail: Sendable {
    /// Pixels; what a browser is shown for a rendition that has only one of them is a square.
    struct Box: Sendable {
        var width = 256
        var height = 256
    }

    private let id: ThumbnailID
    private let job: Int64?
    private let box: Box?

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

    private static func box(_ text: String) throws(Problem) -> Box {
        let edges = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard edges.count == 2, let width = edges[0], let height = edges[1], Rendition.edgeRange.contains(width),
            Rendition.edgeRange.contains(height)
        else { throw Problem(.badRequest, "box=\(text): must be WIDTHxHEIGHT in pixels, as 256x256") }
        return Box(width: width, height: height)
    }

    private static func box(of rendition: Rendition) -> Box? {
        guard let edge = rendition.width ?? rendition.height else { return nil }
        return Box(width: rendition.width ?? edge, height: rendition.height ?? edge)
    }

    /// The thumbnail, if it is made in this time. Ends early where its job has ended without it, and when the server is
    /// to end.
    func wait(_ patience: Duration, on site: Site) async throws -> StoredContent? {
        guard patience > .zero else { return nil }
        enum Look: Sendable {
            case found(StoredContent)
            case ended
        }
        let (id, job) = (id, job)
        let look = try? await cancelWhenGracefulShutdown {
            try await site.changes.first(within: patience) { () async throws -> Look? in
                do throws(StoreError) {
                    return .found(try await site.store.content(of: .thumbnail(id)))
                } catch .notFound {
                    guard let job else { return nil }
                    return try await site.store.jobInPlace(of: job).state.isFinal ? .ended : nil
                }
            }
        }
        if case .found(let content) = look ?? nil { return content }
        return nil
    }

    /// 202 and what can be shown meanwhile; or why it will not come.
    func answer(to request: Request, on site: Site) async throws -> Response {
        var members: [String: JSONValue] = [
            "status": "pending", "uri": .string(CameoURI.thumbnail(id).text),
            "thumbnail": .string(site.path(to: .thumbnail(id))),
        ]
        var box = box
        if let job {
            let asked = try await site.store.job(job)
            guard let index = asked.thumbnails.firstIndex(where: { $0.uri == .thumbnail(id) }) else {
                throw Problem(.notFound, "job \(job) does not make this thumbnail")
            }
            let now = try await site.store.jobInPlace(of: job)
            if now.state.isFinal { throw Self.problem(now) }
            members["job"] = .integer(now.id)
            members["state"] = .string(now.state.rawValue)
            if let failure = now.failure { members["failure"] = .string(failure.code.rawValue) }
            let renditions = (try? ThumbnailRequest(json: asked.request))?.renditions ?? []
            if box == nil, index < renditions.count { box = Self.box(of: renditions[index]) }
        }
        var response: Response
        if Self.wantsPicture(request) {
            let picture = PlaceholderPicture(box: box ?? Box())
            response = Response(
                status: .accepted,
                headers: [
                    .contentType: picture.mediaType, .cacheControl: "no-store",
                    .contentSecurityPolicy: ContentHandler.policy,
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

    /// As browsers ask for an `img`: they name kinds of pictures, and programs do not.
    private static func wantsPicture(_ request: Request) -> Bool {
        request.headers[.accept]?.lowercased().contains("image/") ?? false
    }

    private static func problem(_ job: Job) -> Problem {
        switch job.state {
        case .cancelled: return Problem(.gone, "job \(job.id) was cancelled")
        case .completed: return Problem(.gone, "job \(job.id) has made it, and it has been removed since")
        default: return job.failure.map { Problem($0) } ?? Problem(.gone, "job \(job.id) has ended without it")
        }
    }
}
