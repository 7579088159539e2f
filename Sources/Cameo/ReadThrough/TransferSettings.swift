internal import CameoHTTPCache
internal import Foundation

/// The settings of a configuration that concern transfers. Equal settings share one session.
///
/// A protocol instance gets a request without the headers of `httpAdditionalHeaders`, and has no access to its session's
/// configuration. So the settings are copied when the configuration is made. Later changes to it apply only to URLs that
/// are not read through the store.
struct TransferSettings: Hashable, @unchecked Sendable {
    /// Headers that are added to every request without a header of the same name. They count as credentials like others.
    let headers: [HTTPFields.Line]
    /// The program's cookie storage; nil if there is none. Foundation adds cookies to a request before a protocol sees it;
    /// cookies that a response sets have to be stored by the protocol.
    let cookies: HTTPCookieStorage?
    /// The cache policy of requests that do not have their own.
    let cachePolicy: URLRequest.CachePolicy
    private let requestTimeout: TimeInterval
    private let resourceTimeout: TimeInterval
    private let connectionsPerHost: Int
    private let proxies: NSDictionary?
    private let otherProtocols: [ObjectIdentifier]
    // Sendable: made once and only copied afterwards, under the lock of ``ProtocolClasses``.
    private let base: URLSessionConfiguration

    init(_ configuration: URLSessionConfiguration) {
        base = configuration.copy() as? URLSessionConfiguration ?? configuration
        headers = (configuration.httpAdditionalHeaders ?? [:])
            .map { HTTPFields.Line(name: "\($0.key)", value: "\($0.value)") }
            .sorted { $0.name < $1.name }
        cookies = configuration.httpCookieAcceptPolicy == .never ? nil : configuration.httpCookieStorage
        cachePolicy = configuration.requestCachePolicy
        requestTimeout = configuration.timeoutIntervalForRequest
        resourceTimeout = configuration.timeoutIntervalForResource
        connectionsPerHost = configuration.httpMaximumConnectionsPerHost
        proxies = configuration.connectionProxyDictionary.map { NSDictionary(dictionary: $0) }
        otherProtocols = Self.otherProtocols(configuration).map { ObjectIdentifier($0) }
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
        one.headers == other.headers && one.cookies === other.cookies && one.cachePolicy == other.cachePolicy
            && one.requestTimeout == other.requestTimeout
            && one.resourceTimeout == other.resourceTimeout && one.connectionsPerHost == other.connectionsPerHost
            && one.proxies == other.proxies && one.otherProtocols == other.otherProtocols
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(headers)
        hasher.combine(requestTimeout)
    }
}
