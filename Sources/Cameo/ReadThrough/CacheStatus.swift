/// What a `Cache-Status` field says about one answer (RFC 9211).
enum CacheStatus: Hashable, Sendable {
    /// Why a request went on to the server (section 2.2).
    enum Reason: String, Sendable {
        /// This cache keeps nothing of such requests, or its store is in trouble.
        case bypass
        case method
        case missingURI = "uri-miss"
        case missingVariant = "vary-miss"
        /// There was something, but its bytes were damaged.
        case missing = "miss"
        /// The request wanted nothing that is kept.
        case request
        case stale
        /// A part of what is not kept.
        case partial
    }

    /// - ttl: seconds for which the answer is still fresh; negative for a stale one.
    case hit(ttl: Int, detail: String?)
    /// - status: of the server's answer, where what is handed on has another.
    case forwarded(Reason, status: Int?, isStored: Bool, detail: String?)
    /// Neither kept nor asked for.
    case refused(detail: String)

    var text: String {
        switch self {
        case .hit(let ttl, let detail): "Cameo; hit; ttl=\(ttl)" + Self.text(of: detail)
        case .forwarded(let reason, let status, let isStored, let detail):
            "Cameo; fwd=\(reason.rawValue)" + (status.map { "; fwd-status=\($0)" } ?? "") + (isStored ? "; stored" : "")
                + Self.text(of: detail)
        case .refused(let detail): "Cameo" + Self.text(of: detail)
        }
    }

    /// A string of RFC 8941: printable ASCII, with backslashes before what would end it.
    private static func text(of detail: String?) -> String {
        guard let detail else { return "" }
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
