package import Foundation

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
