internal import CameoModel

/// The route of one request through redirects, and the fields that may be sent to each stop.
///
/// DESIGN: this is the only rule for redirects and credentials. Every field may be a credential unless it is known to be
/// none. If a redirect changes the scheme, host or port, the fields that may be credentials are removed, and a later
/// redirect back to the first origin does not restore them (RFC 9110, section 15.4).
package struct Route<Place: HTTPPlace>: Sendable {
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

    /// Follows a redirect.
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
