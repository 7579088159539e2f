internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Hummingbird
internal import Logging

/// Removes thumbnails.
extension WebExchange {
    private static let maximumBody = 65_536

    /// `POST /forget` with a selector.
    func forget() async throws -> Response {
        guard target.firstSegment.rest == nil else { throw Problem(.notFound, "nothing here: the path is /forget") }
        try check(allows: .post)
        let name = try admit(.operate, ["now"])
        let body = try RequestBodyReader(request, context, site)
        let bytes = try await body.read(atMost: Self.maximumBody, "a selector")
        return try await forget(ForgetSelector(json: JSONValue(reading: bytes, atMost: bytes.count)), by: name)
    }

    /// `DELETE /thumb/ID` and `DELETE /source/URL`.
    func forget(named route: Route) async throws -> Response {
        let caller = try admit(.operate, ["now"])
        guard let rest = target.firstSegment.rest, case let name = try RequestTarget.decoded(rest), !name.isEmpty else {
            throw Problem(.notFound, "nothing here: the paths are /thumb/ID and /source/…")
        }
        if route == .source { return try await forget(ForgetSelector(.source(name)), by: caller) }
        guard let id = ThumbnailName(name[...])?.id else {
            throw Problem(.notFound, "nothing here: the path is /thumb/ID")
        }
        return try await forget(ForgetSelector(.uri(id)), by: caller)
    }

    private func forget(_ selector: ForgetSelector, by name: String) async throws -> Response {
        let now = target.query["now"] ?? "false"
        guard ["true", "false"].contains(now) else { throw Problem(.badRequest, "now=\(now): must be true or false") }
        var receipt = try await site.store.forget(selector, atOnce: now == "true")
        let configuration = site.configuration
        let age = configuration.thumbnailAge + configuration.thumbnailStaleness
        receipt.cachedUntil = Date(timeIntervalSinceNow: age.seconds)
        if configuration.redirects != nil {
            receipt.urlsValidUntil = Date(timeIntervalSinceNow: Self.lifetime(of: configuration).seconds)
        }
        site.logger.notice(
            "forgotten",
            metadata: [
                "by": "\(name)", "selector": "\(selector.shown)", "thumbnails": "\(receipt.thumbnails)",
                "bytes": "\(receipt.bytes)",
            ]
        )
        return try Response(message: receipt)
    }
}
