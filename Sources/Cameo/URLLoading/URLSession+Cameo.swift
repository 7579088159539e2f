internal import Foundation

extension URLSessionConfiguration {
    /// A configuration whose sessions also load `cameo:` URLs, from this client's store. It is a copy of `base`. Any
    /// number of clients may have configurations in one process; each stays open until the process ends.
    ///
    /// - Parameters:
    ///   - client: whose store is read.
    ///   - readThrough: how `http:` and `https:` URLs are kept in the store too; nil: they are loaded as ever. Headers,
    ///     timeouts, proxies and cookies for these are those of `base` as it is now.
    ///   - base: all other settings.
    /// - Returns: a configuration of the program's own, to change further.
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
        // The store is the cache, and a second one in front of it would know less.
        if readThrough != nil { configuration.urlCache = nil }
        return configuration
    }

    /// As ``cameo(_:readThrough:basedOn:)`` for the store in this folder, which is made if there is none.
    public static func cameo(
        store path: String,
        readThrough: ReadThrough? = nil,
        basedOn base: URLSessionConfiguration = .default
    ) throws(CameoError) -> URLSessionConfiguration {
        cameo(ProtocolClasses.shared(try Client(store: path)), readThrough: readThrough, basedOn: base)
    }
}

extension URLSession {
    /// A session that also loads `cameo:` URLs, from this client's store, and reads `http:` and `https:` URLs through it
    /// when asked.
    public static func cameo(_ client: Client, readThrough: ReadThrough? = nil) -> URLSession {
        URLSession(configuration: .cameo(client, readThrough: readThrough))
    }

    /// As ``cameo(_:readThrough:)`` for the store in this folder, which is made if there is none.
    public static func cameo(store path: String, readThrough: ReadThrough? = nil) throws(CameoError) -> URLSession {
        URLSession(configuration: try .cameo(store: path, readThrough: readThrough))
    }
}
