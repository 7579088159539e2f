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
        let name = try admit(.operate, ["now", "dryRun"])
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

    private func flag(_ name: String) throws(Problem) -> Bool {
        let text = target.query[name] ?? "false"
        guard ["true", "false"].contains(text) else {
            throw Problem(.badRequest, "\(name)=\(text): must be true or false")
        }
        return text == "true"
    }

    private func forget(_ selector: ForgetSelector, by name: String) async throws -> Response {
        let (isAtOnce, isDry) = (try flag("now"), try flag("dryRun"))
        guard !isAtOnce || !isDry else { throw Problem(.badRequest, "now: not with dryRun") }
        var receipt =
            try await isDry ? site.store.forgettable(selector) : site.store.forget(selector, atOnce: isAtOnce)
        guard receipt.isKnown else {
            throw Problem(.notFound, "no thumbnail is selected, nor was one that was forgotten")
        }
        if isDry { return try Response(message: receipt) }
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
