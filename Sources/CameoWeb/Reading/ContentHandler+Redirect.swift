internal import CameoModel
internal import CameoStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird

// DESIGN. A redirect is to be forgotten before its URL ends. So it is fresh for less time than the URL is valid, has no
// `stale-while-revalidate`, and no validator: with an entity tag, a cache would ask whether it may use the redirect again,
// and 304 would bring back a URL that has ended. A condition is judged here, before: who has the bytes gets 304, with
// nothing signed. A range is none of the redirect's business: the client asks for it again at the URL.
//
// Originals are not redirected to. They need a token here, and the URL would need none.
extension ContentHandler {
    /// A URL has at least this lifetime, so that clients find their own copies: it stays the same for half of it.
    private static let usualLifetime = Duration.seconds(3_600)
    /// How long before the end of its URL a redirect is forgotten: what following it may take.
    private static let margin = Duration.seconds(60)

    /// A redirect to the content's bytes; nil if they are to be served from here: small ones, which are in the store itself,
    /// and all if URLs would end too soon, because the store's credentials do.
    ///
    /// - Throws: ``StoreError``
    func redirect(to content: StoredContent) async throws(StoreError) -> Response? {
        guard let redirects = site.configuration.redirects, Route(target) != .source,
            let type = content.mediaType, Self.harmless.contains(type), !site.memory.holds(content.digest)
        else { return nil }
        let terms = TemporaryURLTerms(
            method: request.method == .head ? .head : .get,
            mediaType: type,
            lifetime: max(Self.usualLifetime, (site.configuration.thumbnailAge + Self.margin) * 2),
            endpoint: redirects.endpoint
        )
        guard let url = try await site.store.temporaryURL(of: content.digest, on: terms), url.remaining > Self.margin
        else { return nil }
        let left = url.remaining - Self.margin
        let age = content.freshness == .forever ? left : min(left, site.configuration.thumbnailAge)
        let headers: HTTPFields = [.location: url.text, .cacheControl: "public, max-age=\(age.components.seconds)"]
        return Response(status: .temporaryRedirect, headers: headers)
    }
}
