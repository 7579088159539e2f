/// The `Cache-Status` of one response (RFC 9211).
enum CacheStatus: Hashable, Sendable {
    /// Why a request was forwarded to the server (section 2.2).
    enum Reason: String, Sendable {
        /// The cache does not store responses to such requests, or its store failed.
        case bypass
        case method
        case missingURI = "uri-miss"
        case missingVariant = "vary-miss"
        /// A response was stored, but its body is damaged.
        case missing = "miss"
        /// The request does not accept stored responses.
        case request
        case stale
        /// The request is for a part of a response that is not stored.
        case partial
    }

    /// - ttl: the remaining freshness in seconds; negative for a stale response, nil for a `cameo:` URL.
    case hit(ttl: Int?, detail: String?)
    /// - status: the server's status, if the response has another.
    case forwarded(Reason, status: Int?, isStored: Bool, detail: String?)
    /// Nothing is stored, and the server was not asked.
    case refused(detail: String)

    /// The detail of a hit whose body was in memory.
    static let memory = "memory"
    /// The detail of a hit that is stale and being refreshed (RFC 5861).
    static let refreshing = "stale-while-revalidate"

    var text: String {
        switch self {
        case .hit(let ttl, let detail): "Cameo; hit" + (ttl.map { "; ttl=\($0)" } ?? "") + Self.text(of: detail)
        case .forwarded(let reason, let status, let isStored, let detail):
            "Cameo; fwd=\(reason.rawValue)" + (status.map { "; fwd-status=\($0)" } ?? "") + (isStored ? "; stored" : "")
                + Self.text(of: detail)
        case .refused(let detail): "Cameo" + Self.text(of: detail)
        }
    }

    /// The detail as a token or a string of RFC 8941: printable ASCII, with quotes and backslashes escaped.
    private static func text(of detail: String?) -> String {
        guard let detail else { return "" }
        if [memory, refreshing].contains(detail) { return "; detail=\(detail)" }
        let text = detail.unicodeScalars.map { scalar in
            switch scalar.value {
            case 0x22, 0x5C: "\\\(scalar)"
            case 0x20...0x7E: "\(scalar)"
            default: "?"
            }
        }
        return "; detail=\"\(text.joined())\""
    }
}
