package import CameoModel
package import Foundation

/// A request to a cache and, if necessary, to the server behind it.
package struct CacheRequest<Place: HTTPPlace>: Sendable {
    package let key: SourceKey
    package let policy: CachePolicy
    package let use: CacheUse
    package let method: String
    package let target: Place
    /// The request's own fields.
    package let fields: HTTPFields
    package let maximumRedirects: Int
    /// The fields that are sent to a stop of the route: the request's own and those that are added there.
    package let sent: @Sendable (RedirectRoute<Place>.Stop) -> SentFields

    package init(
        _ method: String = "GET",
        key: SourceKey,
        policy: CachePolicy,
        use: CacheUse,
        target: Place,
        fields: HTTPFields,
        maximumRedirects: Int,
        sent: @escaping @Sendable (RedirectRoute<Place>.Stop) -> SentFields
    ) {
        (self.method, self.key, self.policy, self.use, self.target) = (method, key, policy, use, target)
        (self.fields, self.maximumRedirects, self.sent) = (fields, maximumRedirects, sent)
    }

    /// Whether request and response are passed on unchanged and the response is not stored: it may be a part of a
    /// representation, or depend on a condition that only the server can evaluate.
    package var isPassedOn: Bool {
        use == .bypass || method != "GET"
            || ["Range", "If-Match", "If-Unmodified-Since"].contains { fields[$0] != nil }
    }

    /// Whether the method may change something on the server (RFC 9110, section 9.2.1).
    package var isUnsafe: Bool { !HTTPMethod.isSafe(method) }

    /// The route, which begins at the target. The requester's own validators are not sent: they are evaluated against the
    /// whole response.
    var route: RedirectRoute<Place> {
        let fields = isPassedOn ? fields : fields.withoutValidators
        return RedirectRoute(method, to: target, fields, maximumRedirects: maximumRedirects)
    }

    /// All fields that are sent along the route: those on which any of its responses varies, and credentials that went to
    /// any of its stops.
    func sent(along route: RedirectRoute<Place>) -> SentFields {
        let sent = route.stops.map(self.sent)
        var seen: Set<HTTPFields.Line> = []
        return SentFields(
            HTTPFields(sent.flatMap(\.fields.lines).filter { seen.insert($0).inserted }),
            isOpenedByOperator: sent.contains(where: \.isOpenedByOperator)
        )
    }
}

/// Which stored responses may be served.
package enum CacheUse: Hashable, Sendable {
    /// Fresh ones, and stale ones if the server cannot be asked and nothing forbids it.
    case fresh
    /// None without validation.
    case validated
    /// None: the server is asked unconditionally, and its response is stored.
    case reload
    /// Any, however old.
    case anyAge
    /// Any, however old; the server is never asked.
    case only
    /// None, and nothing is stored: there is no cache.
    case bypass
}

/// Request fields as a cache compares them with those of other requests.
package struct SentFields: Sendable {
    package let fields: HTTPFields
    /// Whether the operator added a field that may be a credential. It is not part of any request's scope, so the response
    /// would be served to requests without it.
    package let isOpenedByOperator: Bool

    package init(_ fields: HTTPFields, isOpenedByOperator: Bool = false) {
        self.fields = fields
        self.isOpenedByOperator = isOpenedByOperator
    }
}

package enum HTTPMethod {
    /// Whether the method only retrieves (RFC 9110, section 9.2.1). Unknown methods count as unsafe.
    package static func isSafe(_ method: String) -> Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) }
}

extension HTTPFields {
    fileprivate var withoutValidators: HTTPFields {
        let names: Set = ["if-none-match", "if-modified-since", "if-range"]
        return HTTPFields(lines.filter { !names.contains($0.name.asciiLowercased) })
    }
}

/// An `http:` or `https:` URL that redirects can be resolved against.
///
/// Each driver has its own type, based on the URL parser that its connections use: if two parsers disagreed, a request and
/// its credentials could go to a host that was never checked.
package protocol HTTPPlace: Sendable {
    associatedtype Origin: Equatable

    /// The URL without user information and fragment.
    var text: String { get }
    /// The scheme, host and port (RFC 6454). Credentials never leave an origin.
    var origin: Origin { get }

    /// Resolves a reference, such as a `Location`.
    ///
    /// - Returns: an `http:` or `https:` URL without user information, and the `Authorization` that the user information
    ///   of the reference became; nil if it had none.
    /// - Throws: ``RedirectRefusal/malformed(location:reason:)``
    func resolving(_ reference: String) throws(RedirectRefusal) -> (place: Self, authorization: String?)
}

/// Why a redirect is not followed.
package enum RedirectRefusal: Error, Hashable, Sendable {
    /// The maximum number of redirects had already been followed.
    case tooMany(location: String)
    /// It leads to a scheme other than `http` and `https`.
    case unsupportedScheme(location: String)
    case malformed(location: String, reason: String)
}

extension URL: HTTPPlace {
    package var text: String { absoluteString }

    /// `https://example.com:443`
    package var origin: String {
        let host = URLComponents(url: self, resolvingAgainstBaseURL: true)?.encodedHost ?? ""
        let scheme = scheme?.lowercased() ?? ""
        return "\(scheme)://\(host.lowercased()):\(port ?? (scheme == "https" ? 443 : 80))"
    }

    package func resolving(_ reference: String) throws(RedirectRefusal) -> (place: URL, authorization: String?) {
        guard let web = try? WebURL(reference, relativeTo: WebURL(absoluteString)),
            var parts = URLComponents(
                string: "\(web.scheme)://\(web.userInformation.map { $0 + "@" } ?? "")\(web.hostAndPort)\(web.target)"
            ), parts.host?.isEmpty == false
        else { throw .malformed(location: reference, reason: "it names no host") }
        let authorization = parts.authorization
        parts.user = nil
        parts.password = nil
        guard let url = parts.url else { throw .malformed(location: reference, reason: "it cannot be written down") }
        return (url, authorization)
    }
}

extension URLComponents {
    /// The header that a user name and a password become (RFC 7617).
    package var authorization: String? {
        user.map { "Basic \(Data("\($0):\(password ?? "")".utf8).base64EncodedString())" }
    }
}

/// The route of one request through redirects, and the fields that may be sent to each stop.
///
/// DESIGN: this is the only rule for redirects and credentials. Every field may be a credential unless it is known to be
/// none. If a redirect changes the scheme, host or port, the fields that may be credentials are removed, and a later
/// redirect back to the first origin does not restore them (RFC 9110, section 15.4).
package struct RedirectRoute<Place: HTTPPlace>: Sendable {
    package struct Stop: Sendable {
        package let place: Place
        /// The request's own fields, as far as they may be sent here.
        package let fields: HTTPFields
        /// Whether the redirect to this stop has a user name or password, which is used in its own origin alone.
        package var dropsCredentials = false
    }

    /// The places in their order, the target first.
    package private(set) var stops: [Stop]
    /// The responses that led from each stop to the next.
    package private(set) var redirects: [CacheableResponse] = []
    package private(set) var method: String
    private let maximumRedirects: Int

    package init(_ method: String = "GET", to start: Place, _ fields: HTTPFields, maximumRedirects: Int) {
        self.method = method
        self.maximumRedirects = maximumRedirects
        stops = [Stop(place: start, fields: fields)]
    }

    package var start: Place { stops[0].place }
    /// The current stop, to which the request is sent.
    package var stop: Stop { stops[stops.count - 1] }
    package var place: Place { stop.place }

    package mutating func follow(_ redirect: CacheableResponse) throws(RedirectRefusal) {
        guard let location = redirect.redirection else {
            throw .malformed(location: "", reason: "the response is no redirect")
        }
        guard redirects.count < maximumRedirects else { throw .tooMany(location: location) }
        guard ["http", "https", nil].contains(URIScheme.of(location)) else {
            throw .unsupportedScheme(location: location)
        }
        let (next, authorization) = try place.resolving(location)
        let isSameOrigin = next.origin == place.origin
        var fields = isSameOrigin ? stop.fields : stop.fields.withoutCredentials
        if isSameOrigin, let authorization { fields.set("Authorization", authorization) }
        if becomesGET(by: redirect.status) {
            method = "GET"
            // These fields describe a body that is no longer sent.
            fields = HTTPFields(fields.lines.filter { !$0.name.asciiLowercased.hasPrefix("content-") })
        }
        stops.append(Stop(place: next, fields: fields, dropsCredentials: authorization != nil && !isSameOrigin))
        redirects.append(redirect)
    }

    /// The rule of browsers (Fetch, section 4.5), which RFC 9110, sections 15.4.2 to 15.4.4, permits.
    private func becomesGET(by status: Int) -> Bool {
        switch status {
        case 301, 302: method == "POST"
        case 303: method != "GET" && method != "HEAD"
        default: false
        }
    }
}

extension CacheableResponse {
    /// The `Location` of a redirect, unresolved (RFC 9110, section 15.4); nil for any other response. A 300 may name the
    /// server's preferred choice.
    package var redirection: String? {
        [300, 301, 302, 303, 307, 308].contains(status) ? fields.values(of: "Location").first : nil
    }
}
