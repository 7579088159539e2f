internal import CameoStore
internal import Foundation

// Sessions that load `cameo:` URLs.
extension URLSessionConfiguration {
    /// A copy of `base` whose sessions also load `cameo:` URLs from this client's store. A process may have configurations for
    /// any number of clients; each client stays open until the process ends.
    ///
    /// - Parameters:
    ///   - client: the client of the store.
    ///   - readThrough: the rules for caching `http:` and `https:` URLs in the store; nil does not cache them. Their headers,
    ///     timeouts, proxies and cookies are taken from the current state of `base`.
    ///   - base: all other settings, but for `URLCache.shared`, which the sessions do not use: without `readThrough`, `http:`
    ///     and `https:` URLs are cached only if `base` has a cache of its own. It is no background configuration: Foundation
    ///     has none on Linux.
    /// - Returns: a configuration that the program may change further.
    public static func cameo(
        _ client: Client,
        readThrough: ReadThrough? = nil,
        basedOn base: URLSessionConfiguration = .default
    ) -> URLSessionConfiguration {
        let configuration = base.copy() as? URLSessionConfiguration ?? base
        let subject = ProtocolClasses.Subject(
            client: client,
            readThrough: readThrough.map { ($0, TransferSettings(base)) }
        )
        configuration.protocolClasses = [ProtocolClasses.type(for: subject)] + (base.protocolClasses ?? [])
        // The store is the cache; a second one in front of it would only get out of step. Foundation also has a thread look
        // into it, on the disk too, before any load, which takes as long as the rest of a load from memory.
        if readThrough != nil || base.urlCache === URLCache.shared { configuration.urlCache = nil }
        return configuration
    }

    /// Like ``cameo(_:readThrough:basedOn:)``, for the store in this folder, which is created if necessary.
    public static func cameo(
        store path: String,
        readThrough: ReadThrough? = nil,
        basedOn base: URLSessionConfiguration = .default
    ) throws(CameoError) -> URLSessionConfiguration {
        cameo(ProtocolClasses.shared(try Client(store: path)), readThrough: readThrough, basedOn: base)
    }
}

extension URLSession {
    /// A session that also loads `cameo:` URLs from this client's store, and optionally reads `http:` and `https:` URLs
    /// through it.
    public static func cameo(_ client: Client, readThrough: ReadThrough? = nil) -> URLSession {
        URLSession(configuration: .cameo(client, readThrough: readThrough))
    }

    /// Like ``cameo(_:readThrough:)``, for the store in this folder, which is created if necessary.
    public static func cameo(store path: String, readThrough: ReadThrough? = nil) throws(CameoError) -> URLSession {
        URLSession(configuration: try .cameo(store: path, readThrough: readThrough))
    }
}
