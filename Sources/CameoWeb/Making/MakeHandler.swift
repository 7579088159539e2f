internal import CameoModel
internal import CameoStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird

// DESIGN. `/make/RENDITION/SOURCE` is for the first view of a picture: what is made already is served as it is, and all else
// becomes a job. A URL must be signed, or whoever finds the server could have it make every size of every picture there
// is. What is signed is the rendition, the source and the expiry as they are decoded, with line feeds between them, so that
// a proxy which spells a URL otherwise breaks nothing. How long to wait is the client's own business.

/// Makes thumbnails when they are first asked for.
struct MakeHandler {
    let site: Site
    let request: Request
    let target: RequestTarget

    private static let queue = "web"
    /// Somebody is looking: worth so many minutes of waiting.
    private static let priority = 20
    private static let schemes: Set = ["http", "https", "cameo", "initials"]

    func answer(_ context: WebContext) async throws -> Response {
        try target.query.allow("sig", "expires", "wait")
        let configuration = site.configuration
        guard configuration.allowsUnsigned || !configuration.signingKeys.isEmpty else {
            throw Problem(.notFound, "this server makes nothing on demand: it was started without --sign-key")
        }
        let (first, rest) = RequestTarget.split(target.firstSegment.rest ?? "")
        guard let rest, !rest.isEmpty else { throw Problem(.notFound, "there is /make/RENDITION/SOURCE") }
        let (text, source) = (try RequestTarget.decoded(first), try RequestTarget.decoded(rest))
        if !configuration.allowsUnsigned { try verify(text, source) }
        // Files are of this machine, and a stranger need not know which there are.
        guard let scheme = URIScheme.of(source), Self.schemes.contains(scheme) else {
            let known = Self.schemes.sorted().joined(separator: ", ")
            throw Problem(
                .badRequest,
                "the source must be of \(known), percent-encoded",
                code: .sourceUnsupportedScheme
            )
        }
        let rendition = try RenditionName.rendition(text, configuration.presets)
        return try await answer(try thumbnailRequest(source, rendition), rendition, context)
    }

    private func verify(_ rendition: String, _ source: String) throws(Problem) {
        let expires = target.query["expires"]
        let message = Array("\(rendition)\n\(source)\n\(expires ?? "")".utf8)
        guard let signature = target.query["sig"] else {
            throw Problem(.forbidden, "the URL is not signed: it has no sig=")
        }
        // Every key is tried, so that the time does not tell which of them it was.
        let verified = site.configuration.signingKeys.map { $0.verifies(signature, of: message) }
        guard verified.contains(true) else { throw Problem(.forbidden, "the URL's signature is wrong") }
        guard let expires else { return }
        guard let time = Int64(expires) else { throw Problem(.badRequest, "expires must be seconds since 1970") }
        guard Int64(Date().timeIntervalSince1970) <= time else { throw Problem(.gone, "the URL has expired") }
    }

    private func thumbnailRequest(_ source: String, _ rendition: Rendition) throws(InvalidRequest) -> ThumbnailRequest {
        let asked = ThumbnailRequest(
            source: source,
            renditions: [rendition],
            queue: Self.queue,
            priority: Self.priority,
            refresh: .never
        )
        try asked.validate()
        return asked
    }

    private func answer(
        _ asked: ThumbnailRequest,
        _ rendition: Rendition,
        _ context: WebContext
    ) async throws -> Response {
        let id = try asked.thumbnailIDs()[0]
        let contents = ContentHandler(site: site, request: request, target: target)
        if let content = try await made(id) { return try await contents.serve(content, context) }
        let patience = try target.query.wait()
        let job: Int64?
        if let known = try await site.making.job(of: id, in: site.store) {
            job = known
        } else {
            job = try await site.store.enqueue([asked])[0].id
            if let job { site.making.note(job, of: id) }
        }
        let pending = PendingThumbnail(id, job: job, rendition: rendition)
        if let content = try await pending.wait(patience, on: site) {
            return try await contents.serve(content, context)
        }
        do {
            return try await pending.answer(to: request, on: site)
        } catch var problem as Problem where problem.code != nil {
            problem.headers[.retryAfter] = "\(MakingJobs.patience.components.seconds)"
            throw problem
        }
    }

    private func made(_ id: ThumbnailID) async throws(StoreError) -> StoredContent? {
        do throws(StoreError) {
            return try await site.store.content(of: .thumbnail(id))
        } catch .notFound {
            return nil
        }
    }
}
