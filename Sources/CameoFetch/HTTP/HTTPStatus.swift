internal import CameoModel

/// A final status that is neither 200 nor a followed redirect.
struct HTTPStatus {
    private let code: Int

    init(_ code: Int) {
        self.code = code
    }

    /// `retryAfter` is ignored for a failure that is not retryable.
    func failure(of route: HTTPRoute, retryAfter: Duration?) -> JobFailure {
        let name = Self.phrases[code].map { "\(code) \($0)" } ?? "\(code)"
        let message = "GET \(route.description) answered \(name)"
        switch code {
        case 401, 403: return .fetch(.sourceForbidden, message)
        case 404, 410: return .fetch(.sourceNotFound, message)
        case 408, 425, 429, 500...:
            let wish = retryAfter.map { " and asks to wait \($0.components.seconds) seconds" } ?? ""
            return .fetch(.sourceHTTPStatus, message + wish, isRetryable: true, retryAfter: retryAfter)
        default: return .fetch(.sourceHTTPStatus, message, isRetryable: false)
        }
    }

    /// The phrases of RFC 9110, section 15, and RFC 6585. The server's own text comes from a stranger.
    private static let phrases = [
        201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        205: "Reset Content", 206: "Partial Content", 300: "Multiple Choices", 301: "Moved Permanently",
        302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 412: "Precondition Failed", 414: "URI Too Long",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 421: "Misdirected Request",
        425: "Too Early", 426: "Upgrade Required", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}
