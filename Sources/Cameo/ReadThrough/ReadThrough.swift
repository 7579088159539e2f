internal import CameoHTTPCache
internal import Foundation

/// The rules for reading `http:` and `https:` URLs through the store: loaded responses are stored, and fresh stored responses
/// are served without loading them again (RFC 9111). See <doc:ReadingTheWeb>.
public struct ReadThrough: Hashable, Sendable {
    /// How responses to requests with credentials are cached. Credentials are cookies, a user name in the URL, and all headers
    /// except those that only state the requester's preferences.
    public enum Credentials: Hashable, Sendable {
        /// Each set of credentials has a separate cache, so a response is never served to other credentials.
        case keptApart
        /// The responses are never stored.
        case notKept
    }

    /// How long a picture or redirect without caching information is fresh; nil uses the heuristic of RFC 9111, section
    /// 4.2.2.
    public var defaultLifetime: Duration?
    /// How long a stale response may be served after a server error, even if neither the response nor the request allows it.
    /// Directives that forbid staleness (`must-revalidate`, `no-cache`) take precedence.
    public var staleIfError: Duration
    /// The maximum size of a stored response in bytes. A larger one is passed on but not stored.
    public var maximumBytes: Int
    /// The maximum size of all cached originals in the store in bytes, including those of workers. Beyond it, the least
    /// recently used ones are evicted. Nil evicts nothing.
    public var budget: Int?
    /// How responses to requests with credentials are cached.
    public var credentials: Credentials

    /// - Parameters:
    ///   - defaultLifetime: the lifetime of responses without caching information.
    ///   - staleIfError: the allowed staleness after a server error.
    ///   - maximumBytes: the maximum size of a stored response; 100 MiB, the workers' limit for a source.
    ///   - budget: the maximum size of all cached originals in bytes.
    ///   - credentials: how responses to requests with credentials are cached.
    public init(
        defaultLifetime: Duration? = nil,
        staleIfError: Duration = .zero,
        maximumBytes: Int = 104_857_600,
        budget: Int? = nil,
        credentials: Credentials = .keptApart
    ) {
        (self.defaultLifetime, self.staleIfError, self.maximumBytes) = (defaultLifetime, staleIfError, maximumBytes)
        (self.budget, self.credentials) = (budget, credentials)
    }
}

/// The settings of a configuration that concern transfers. Equal settings share one session.
///
/// A protocol instance gets a request without the headers of `httpAdditionalHeaders`, and has no access to its session's
/// configuration. So the settings are copied when the configuration is made. Later changes to it apply only to URLs that
/// are not read through the store.
///
/// Unchecked because Foundation's configuration is not Sendable: it is a copy that nobody changes, read only under the lock
/// of ``ProtocolClasses``.
struct TransferSettings: Equatable, @unchecked Sendable {
    /// Headers that are added to every request without a header of the same name. They count as credentials like others.
    let headers: [HTTPFields.Line]
    /// The program's cookie storage; nil if there is none. Foundation adds cookies to a request before a protocol sees it;
    /// cookies that a response sets have to be stored by the protocol.
    let cookies: HTTPCookieStorage?
    /// The cache policy of requests that do not have their own.
    let cachePolicy: URLRequest.CachePolicy
    private let base: URLSessionConfiguration

    init(_ configuration: URLSessionConfiguration) {
        base = configuration.copy() as? URLSessionConfiguration ?? configuration
        headers = HTTPFields(configuration.httpAdditionalHeaders ?? [:]).lines
        cookies = configuration.httpCookieAcceptPolicy == .never ? nil : configuration.httpCookieStorage
        cachePolicy = configuration.requestCachePolicy
    }

    /// The configuration of the session that carries out the transfers. It adds nothing to requests, which already contain
    /// headers and cookies; it caches nothing; and it has no protocol of Cameo, so that requests do not come back here. A
    /// mark on the request would not work: swift-corelibs-foundation loses the values of `URLProtocol.setProperty` when it
    /// converts `NSMutableURLRequest` to `URLRequest`.
    var transferConfiguration: URLSessionConfiguration {
        let configuration = base.copy() as? URLSessionConfiguration ?? base
        configuration.protocolClasses = Self.otherProtocols(base)
        configuration.httpAdditionalHeaders = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        return configuration
    }

    /// Stores the cookies of a response, as a session would. They are sent with later requests and count as credentials.
    /// Those that are for the chain of redirects to which the response belongs do not: they tell nothing about who asks.
    func storeCookies(of exchange: HTTPExchange, along chain: inout HTTPCookieStorage?) {
        guard let cookies, exchange.head.fields["Set-Cookie"] != nil else { return }
        let fields = exchange.response.allHeaderFields.reduce(into: [:]) { $0["\($1.key)"] = "\($1.value)" }
        let found = HTTPCookie.cookies(withResponseHeaderFields: fields, for: exchange.url)
        chain = chain ?? URLSessionConfiguration.ephemeral.httpCookieStorage
        for storage in [cookies, chain] { storage?.setCookies(found, for: exchange.url, mainDocumentURL: nil) }
    }

    private static func otherProtocols(_ configuration: URLSessionConfiguration) -> [AnyClass] {
        (configuration.protocolClasses ?? []).filter { !($0 is CameoURLProtocol.Type) }
    }

    static func == (one: Self, other: Self) -> Bool {
        func proxies(_ settings: Self) -> NSDictionary? {
            settings.base.connectionProxyDictionary.map { NSDictionary(dictionary: $0) }
        }
        return one.headers == other.headers && one.cookies === other.cookies && one.cachePolicy == other.cachePolicy
            && one.base.timeoutIntervalForRequest == other.base.timeoutIntervalForRequest
            && one.base.timeoutIntervalForResource == other.base.timeoutIntervalForResource
            && one.base.httpMaximumConnectionsPerHost == other.base.httpMaximumConnectionsPerHost
            && proxies(one) == proxies(other)
            && otherProtocols(one.base).map { ObjectIdentifier($0) }
                == otherProtocols(other.base).map { ObjectIdentifier($0) }
    }
}

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

extension Answer {
    /// The response to a request for a whole representation, by the request's conditions. The body is decoded.
    init(whole data: Data, _ fields: HTTPFields, at url: URL, to request: URLRequest, _ status: CacheStatus) throws {
        try self.init(url, Self.headers(fields.decoded(bytes: data.count), status), data, to: request)
    }

    /// A response that is passed on unchanged.
    init(_ url: URL, _ code: Int, _ fields: HTTPFields, _ body: Data, _ status: CacheStatus) throws {
        try self.init(url, code, Self.headers(fields, status), body)
    }

    private static func headers(_ fields: HTTPFields, _ status: CacheStatus) -> [String: String] {
        var fields = fields
        // Each cache on the way adds a member; the nearest is the last (RFC 9211, section 2).
        fields.append("Cache-Status", status.text)
        var headers: [String: String] = [:]
        for line in fields.lines {
            let name = canonical[line.name.lowercased()] ?? line.name
            headers[name] = headers[name].map { "\($0), \(line.value)" } ?? line.value
        }
        // swift-corelibs-foundation asks its own protocol alone to answer a challenge that it can read, and a load by any
        // other never ends (https://github.com/swiftlang/swift-corelibs-foundation/issues/5456). White space before a value is
        // no part of it, but hides the challenge.
        headers["WWW-Authenticate"] = headers["WWW-Authenticate"].map { " \($0)" }
        return headers
    }

    /// The spellings that the initializers expect.
    private static let canonical = [
        "etag": "ETag", "last-modified": "Last-Modified", "content-length": "Content-Length",
        "www-authenticate": "WWW-Authenticate",
    ]
}
