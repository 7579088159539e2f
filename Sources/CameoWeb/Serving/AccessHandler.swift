internal import CameoModel
internal import Foundation
internal import HTTPTypes
internal import Hummingbird

// DESIGN. The dashboard signs in with a cookie: no script can read it, and a new tab has it. It holds the token itself, so
// that a server that starts again, and each of several, knows it, and a token that leaves the file leaves at once. A
// browser sends it along with what pages of the same site ask for, on other ports and under other names of a domain;
// who asks is told by `Sec-Fetch-Site`, and by `Origin` where the connection is not encrypted.

extension WebExchange {
    /// Tells what a request may do, and signs the dashboard in and out.
    func access() throws -> Response {
        try target.query.allow()
        let tokens = site.configuration.tokens
        let path = "\(site.configuration.basePath)/"
        switch request.method {
        case .get, .head: return Response(json: tokens.access(of: request))
        case .post:
            var response = Response(json: tokens.access(of: request))
            guard !tokens.isEmpty else { return response }
            _ = try tokens.token(of: request)
            let text = tokens.text(in: request)
            response.headers[.setCookie] = AccessCookie(of: request).field(keeping: text, below: path)
            return response
        case .delete:
            var response = Response(json: AccessTokens.nothing)
            response.headers[.setCookie] = AccessCookie(of: request).field(keeping: nil, below: path)
            return response
        default: throw Problem.methodNotAllowed("GET, HEAD, POST, DELETE")
        }
    }
}

/// The cookie with the token of whoever has signed in.
struct AccessCookie {
    private let request: Request
    /// A browser keeps the cookies of all ports of a host together.
    private let name: String

    init(of request: Request) {
        self.request = request
        let port = request.head.authority?.split(separator: ":").last.flatMap { Int($0) }
        name = "cameo\(port.map { "-\($0)" } ?? "")"
    }

    /// The token; nil if there is none, or another site's page sends it.
    var token: String? {
        guard isOfOwnPage else { return nil }
        for field in request.headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                guard parts.count == 2, parts[0] == name else { continue }
                return try? RequestTarget.decoded(parts[1][...])
            }
        }
        return nil
    }

    private var isOfOwnPage: Bool {
        let isReading = request.method == .get || request.method == .head
        if let site = HTTPField.Name("Sec-Fetch-Site").flatMap({ request.headers[$0] }) {
            return site == "same-origin" || site == "none" && isReading
        }
        guard let origin = request.headers[.origin] else { return isReading }
        return origin.lowercased().split(separator: "/").last.map(String.init) == request.head.authority?.lowercased()
    }

    /// The value of `Set-Cookie`, which removes the cookie if there is no token.
    func field(keeping token: String?, below path: String) -> String {
        let isEncrypted = request.headers[.origin]?.hasPrefix("https:") ?? false
        return "\(name)=\(token.map(PercentEncoding.encoded) ?? ""); Path=\(path); HttpOnly; SameSite=Strict"
            + (token == nil ? "; Max-Age=0" : "") + (isEncrypted ? "; Secure" : "")
    }
}
