internal import CameoHTTPCache
internal import Foundation

/// What a configuration says about transfers. Two that say the same are equal, and share one session.
///
/// A protocol instance is given a request, which has no header of `httpAdditionalHeaders` yet, and no way to its
/// session's configuration. So these are taken when the configuration is made; what is changed in it later counts only
/// for URLs that are not read through the store.
struct TransferSettings: Hashable, @unchecked Sendable {
    /// Sent with every request that has none of the name. They are credentials like any other header.
    let headers: [HTTPFields.Line]
    /// Where the program keeps cookies. Foundation puts those into the request before a protocol sees it; those that an
    /// answer sets are stored by whoever does the transfer. Nil: nowhere.
    let cookies: HTTPCookieStorage?
    /// For requests that have none of their own.
    let cachePolicy: URLRequest.CachePolicy
    private let requestTimeout: TimeInterval
    private let resourceTimeout: TimeInterval
    private let connectionsPerHost: Int
    private let proxies: NSDictionary?
    private let otherProtocols: [ObjectIdentifier]
    // Sendable: made once, then only copied from, under the lock of ``ProtocolClasses``.
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

    /// The configuration of the session that does the transfers: it adds nothing to a request (headers and cookies are in
    /// it already, and have been counted), caches nothing, and has no protocol of Cameo's, so that no request comes back
    /// here. A mark on the request would not do: swift-corelibs-foundation loses `URLProtocol.setProperty`'s values on
    /// the way from `NSMutableURLRequest` to `URLRequest`.
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

    /// As a session does it that keeps cookies. They go out again with later requests, and count there.
    func storeCookies(of exchange: HTTPExchange) {
        guard let cookies, exchange.head.fields["Set-Cookie"] != nil else { return }
        let fields = exchange.response.allHeaderFields.reduce(into: [:]) { $0["\($1.key)"] = "\($1.value)" }
        let found = HTTPCookie.cookies(withResponseHeaderFields: fields, for: exchange.url)
        cookies.setCookies(found, for: exchange.url, mainDocumentURL: nil)
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
