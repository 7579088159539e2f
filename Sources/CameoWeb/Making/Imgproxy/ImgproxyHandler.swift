internal import CameoModel
internal import Foundation
internal import HTTPTypes
internal import Hummingbird

/// Serves imgproxy's URLs, so that a site can move without touching its templates.
struct ImgproxyHandler {
    let site: Site
    let request: Request
    let target: RequestTarget

    /// How long a response is held if the query has no `wait`: imgproxy answers with the picture.
    private static let patience = Duration.seconds(10)

    func answer(_ context: WebContext) async throws -> Response {
        let (signature, rest) = target.firstSegment
        guard let rest else { throw Problem(.notFound, "there is nothing at this path") }
        let configuration = site.configuration
        // Every key is tried, so that the response time does not reveal which one matched.
        let verified = configuration.imgproxyKeys.map { $0.verifies(signature, of: "/\(rest)") }
        guard configuration.allowsUnsigned || verified.contains(true) else {
            throw Problem(.forbidden, "the URL's signature is wrong")
        }
        let path = try ImgproxyPath(parsing: rest)
        if let expires = path.options.expires, expires < Int64(Date().timeIntervalSince1970) {
            throw Problem(.gone, "the URL has expired")
        }
        return try await MakeHandler(site: site, request: request, target: target).make(
            path.source,
            as: try path.options.rendition(),
            within: target.query["wait"] == nil ? Self.patience : try target.query.wait(),
            context
        )
    }
}
