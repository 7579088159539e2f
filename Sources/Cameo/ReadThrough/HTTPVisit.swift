internal import CameoHTTPCache
internal import CameoModel
internal import Foundation

/// The way through redirects to an answer.
struct HTTPVisit: Sendable {
    /// As many as Foundation's own sessions follow.
    static let maximumRedirects = 20

    let last: HTTPExchange
    let redirects: [CacheableResponse]
    /// For workers, which judge by them whether they might have loaded it themselves.
    let peers: [Peer]

    /// - Parameter exchanges: at least one.
    init(_ exchanges: [HTTPExchange]) {
        last = exchanges[exchanges.count - 1]
        redirects = exchanges.dropLast().map(\.head)
        peers = exchanges.map { Peer(origin: $0.url.origin, .program) }
    }

    /// What may be kept, or not, as one.
    var chain: [CacheableResponse] { redirects + [last.head] }
}

extension HTTPExchange {
    /// Where the answer sends the requester; nil for one that is to be handed on.
    ///
    /// - Throws: `URLError` for a place that is not on the web.
    var redirection: URL? {
        get throws(URLError) {
            guard [301, 302, 303, 307, 308].contains(head.status), let location = head.fields["Location"] else {
                return nil
            }
            guard let place = URL(string: location, relativeTo: url)?.absoluteURL,
                var parts = URLComponents(url: place, resolvingAgainstBaseURL: true),
                let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme),
                parts.host?.isEmpty == false
            else { throw URLError(.unsupportedURL) }
            parts.scheme = scheme
            // A password in a `Location` would be kept with the answer's place; browsers are asked, here nobody is.
            parts.user = nil
            parts.password = nil
            parts.fragment = nil
            guard let url = parts.url else { throw URLError(.unsupportedURL) }
            return url
        }
    }
}

extension URL {
    /// RFC 6454, section 5.
    func isSameOrigin(as other: URL) -> Bool {
        scheme == other.scheme && host()?.lowercased() == other.host()?.lowercased() && portNumber == other.portNumber
    }

    /// `https://example.com:443`
    var origin: String {
        let host = URLComponents(url: self, resolvingAgainstBaseURL: true)?.encodedHost ?? ""
        return "\(scheme ?? "")://\(host):\(portNumber)"
    }

    private var portNumber: Int { port ?? (scheme == "https" ? 443 : 80) }
}

extension URLError {
    /// Whether no name, connection or answer was there at all (RFC 9111, section 4.2.4). A certificate that does not
    /// hold is an answer, from somebody else.
    var isDisconnection: Bool {
        switch code {
        case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .networkConnectionLost,
            .timedOut, .internationalRoamingOff, .dataNotAllowed, .callIsActive:
            true
        default: false
        }
    }
}
