package import Foundation

extension URL: HTTPPlace {
    package var text: String { absoluteString }

    /// `https://example.com:443`
    package var origin: String {
        let host = URLComponents(url: self, resolvingAgainstBaseURL: true)?.encodedHost ?? ""
        let scheme = scheme?.lowercased() ?? ""
        return "\(scheme)://\(host.lowercased()):\(port ?? (scheme == "https" ? 443 : 80))"
    }

    package func resolving(_ reference: String) throws(RedirectRefusal) -> URL {
        guard let place = URL(string: reference, relativeTo: self)?.absoluteURL,
            var parts = URLComponents(url: place, resolvingAgainstBaseURL: true), parts.host?.isEmpty == false
        else { throw .malformed(location: reference, reason: "it names no host") }
        // Foundation's own protocol for HTTP knows a scheme in lower case only.
        parts.scheme = parts.scheme?.lowercased()
        parts.user = nil
        parts.password = nil
        parts.fragment = nil
        guard let url = parts.url else { throw .malformed(location: reference, reason: "it cannot be written down") }
        return url
    }
}
