package import CameoStore
internal import HTTPTypes
internal import Hummingbird

// DESIGN. What a browser sends along by itself, such as the dashboard's cookie, never counts for a page of another origin
// (``AccessCookie``), and `Access-Control-Allow-Credentials` is never sent. So a page may do what anybody may, and with a
// token of its own what that permits. An `<img>` sends no `Origin`, so what concerns it is said in every answer.

/// The origins whose pages may read the answers of this server
/// (https://fetch.spec.whatwg.org/#http-cors-protocol).
package struct AllowedOrigins: Sendable {
    /// Nil: all.
    private let texts: Set<String>?
    /// What an answer says to whomever it goes.
    private let always: HTTPFields

    /// Creates a rule for these origins, or for all if there are none.
    package init(_ origins: [Endpoint]) {
        texts = origins.isEmpty ? nil : Set(origins.map(\.text))
        var always: HTTPFields = [.crossOriginResourcePolicy: "cross-origin", .accessControlExposeHeaders: "*"]
        if let name = HTTPField.Name("Timing-Allow-Origin") {
            always[name] = texts?.sorted().joined(separator: ", ") ?? "*"
        }
        always[texts == nil ? .accessControlAllowOrigin : .vary] = texts == nil ? "*" : "Origin"
        self.always = always
    }

    /// What any answer says, also an error or 304, to a request with this `Origin`.
    func fields(for origin: String?) -> HTTPFields {
        guard let origin, let texts, texts.contains(origin) else { return always }
        var fields = always
        fields[.accessControlAllowOrigin] = origin
        return fields
    }

    /// The answer to a browser that asks whether a page may send its request; nil if that is not what it asks.
    ///
    /// - Throws: ``Problem`` with status 403 if the page's origin is not allowed.
    func preflight(_ request: Request) throws(Problem) -> Response? {
        guard request.method == .options, let origin = request.headers[.origin],
            request.headers[.accessControlRequestMethod] != nil
        else { return nil }
        guard texts?.contains(origin) ?? true else {
            throw Problem(.forbidden, "this server was not started with --allow-origin \(origin)")
        }
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: "GET, HEAD, POST, DELETE",
                // The wildcard does not include it.
                .accessControlAllowHeaders: "Authorization, *", .accessControlMaxAge: "7200",
            ]
        )
    }
}
