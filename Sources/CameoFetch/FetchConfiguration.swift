package import Foundation

/// What may be fetched, and within which limits.
package struct FetchConfiguration: Sendable {
    /// Folders below which `file:` may be read; none by default.
    package var allowedRoots: [String] = []
    /// The store: nothing below it, and none of its inodes, is ever opened, since closing a descriptor of SQLite's
    /// files drops the locks that this process holds on them.
    package var deniedDirectory: String?
    /// Host names and IP literals, with or without `:port`, that the address guard lets pass.
    package var allowedHosts: [String] = []
    /// Private or reserved ranges that the address guard lets pass.
    package var allowedNetworks: [AddressRange] = []
    /// Bytes of one source, counted after content decoding.
    package var maximumBytes = 100 * 1_048_576
    /// For name look-up, connection and TLS handshake together, at each redirect hop.
    package var connectTimeout: Duration = .seconds(5)
    /// For all hops of one fetch, without the wait for a free connection.
    package var totalTimeout: Duration = .seconds(30)
    /// A transfer that stays below this rate for ``lowSpeedTime`` is given up.
    package var lowSpeedBytesPerSecond = 1_024
    /// Whole seconds; libcurl counts no finer.
    package var lowSpeedTime: Duration = .seconds(10)
    package var maximumRedirects = 5
    /// Connections open at one time, idle ones included.
    package var maximumConnections = 32
    /// Transfers at one time; more wait their turn. Who waits for a host is not among them.
    package var maximumTransfers = 32
    /// Transfers at one time for one scheme, host and port.
    package var maximumConnectionsPerHost = 6
    /// How long somebody waits for a host before all but a few of those behind are sent away (``HostBusy``).
    package var hostPatience: Duration = .seconds(1)
    /// Of what is in memory; others may take from it too.
    package var budget = ByteBudget()
    package var userAgent = "Cameo/1.0"
    /// Sent to the origins that they name. Of one origin each name at most once.
    package var hostHeaders: [HostHeader] = []
    /// From where sources are fetched whose URI begins with a prefix. Each prefix at most once.
    package var rewrites: [SourceRewrite] = []
    /// The URL of a proxy. Nil: never one, the environment's is ignored. Behind a proxy the address guard sees only
    /// hosts that are spelled as an address.
    package var proxy: String?
    /// A PEM file of certificate authorities to trust instead of the system's.
    package var certificateAuthorityFile: String?
    /// How long answers may be kept, where there is a cache to keep them.
    package var caching = CacheRules()
    /// The wall clock: what a cache judges an answer's age by.
    package var now: @Sendable () -> Date = { Date() }

    package init() {}

    func validate() throws(FetchConfigurationError) {
        let limits = [
            ("maximum size of a source", maximumBytes > 0), ("connect timeout", connectTimeout > .zero),
            ("total timeout", totalTimeout > .zero), ("low-speed limit", lowSpeedBytesPerSecond >= 0),
            ("low-speed time", lowSpeedTime > .zero), ("number of redirects", maximumRedirects >= 0),
            ("number of connections", maximumConnections > 0),
            ("number of transfers", maximumTransfers > 0),
            ("number of connections for each host", maximumConnectionsPerHost > 0),
            ("time that an answer is kept", caching.lifetimes.allSatisfy { $0.lifetime >= .zero }),
            ("time that an answer is served beyond its own", caching.staleIfError >= .zero),
            ("time that a failure is remembered", caching.failureMemory >= .zero),
        ]
        if let broken = limits.first(where: { !$0.1 }) { throw .limit(broken.0) }
    }
}
