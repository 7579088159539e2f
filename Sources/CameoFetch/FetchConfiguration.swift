internal import CameoModel
package import CameoSystem
package import Foundation

/// What may be fetched, and the limits.
package struct FetchConfiguration: Sendable {
    /// Folders below which `file:` may be read; none by default.
    package var allowedRoots: [String] = []
    /// The store's folder. Nothing below it and none of its inodes is ever opened, since closing a descriptor of SQLite's
    /// files drops the locks that this process holds on them.
    package var deniedDirectory: String?
    /// Host names and IP literals, with or without `:port`, that the address guard allows.
    package var allowedHosts: [String] = []
    /// Private or reserved ranges that the address guard allows.
    package var allowedNetworks: [AddressRange] = []
    /// The maximum size of one source, after content decoding.
    package var maximumBytes = 100 * 1_048_576
    /// Whether large videos are loaded in the parts that their reader asks for, if their server allows it. The maximum size
    /// then applies to what is loaded.
    package var loadsVideosInParts = false
    /// The time limit for name look-up, connection and TLS handshake together, for each redirect.
    package var connectTimeout: Duration = .seconds(5)
    /// The time limit for all requests of one fetch, without the wait for a free connection.
    package var totalTimeout: Duration = .seconds(30)
    /// A transfer that stays below this rate for ``lowSpeedTime`` is aborted.
    package var lowSpeedBytesPerSecond = 1_024
    /// See ``lowSpeedBytesPerSecond``. Whole seconds: libcurl has no finer unit.
    package var lowSpeedTime: Duration = .seconds(10)
    package var maximumRedirects = 5
    /// The maximum number of open connections, idle ones included.
    package var maximumConnections = 32
    /// The maximum number of concurrent transfers. Transfers that wait for their host do not count.
    package var maximumTransfers = 8
    /// The maximum number of concurrent transfers for one scheme, host and port.
    package var maximumConnectionsPerHost = 6
    /// How long a transfer waits for its host before most of those behind it are turned away (``HostBusy``).
    package var hostPatience: Duration = .seconds(1)
    /// The limit for sources in memory, which may be shared with other users.
    package var budget = ByteBudget()
    package var userAgent = "Cameo/\(CameoVersion.current)"
    /// Headers for certain origins. Each name may occur once for an origin.
    package var hostHeaders: [HostHeader] = []
    /// Rules that replace prefixes of source URIs. Each prefix may occur once.
    package var rewrites: [SourceRewrite] = []
    /// The URL of a proxy. Nil uses none; the environment's is always ignored. Behind a proxy, the address guard can check
    /// only hosts that are spelled as an address.
    package var proxy: String?
    /// A PEM file of certificate authorities to trust instead of the system's.
    package var certificateAuthorityFile: String?
    /// How responses are cached, if there is a cache.
    package var caching = CacheRules()
    /// The wall clock, by which a cache judges the age of responses.
    package var now: @Sendable () -> Date = { Date() }

    /// Told the target of each redirect whose user name or password was not used, because it leads to another origin.
    package var noteDroppedCredentials: @Sendable (_ target: String) -> Void = { _ in }

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

/// Why this configuration is invalid.
package enum FetchConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An allowed root is missing, is not a folder, or is not accessible to this user.
    case root(path: String, Errno)
    /// This host refuses the named system call, or does not know it.
    case systemCall(String, Errno)
    /// The store's folder cannot be opened.
    case store(path: String, Errno)
    /// The text is not a host, with or without a port.
    case host(String)
    /// A rewrite rule is malformed: its text and the reason.
    case rewrite(String, reason: String)
    /// Headers for a host are invalid. The reason never contains a value.
    case hostHeader(String)
    /// The named limit is negative or zero.
    case limit(String)
    /// libcurl is too old, does not start, or cannot have a thread.
    case library(String)

    package var description: String {
        switch self {
        case .root(let path, let errno): "the allowed folder \(path) cannot be used: \(errno)"
        case .systemCall(let name, let errno):
            "this host refuses the system call \(name), which opens sources in files: \(errno); Linux 5.6 or later has it, "
                + "and a container's seccomp profile has to allow it"
        case .store(let path, let errno): "the store's folder \(path) cannot be opened: \(errno)"
        case .host(let text): "\"\(text)\" is not a host name or address, with or without a port"
        case .rewrite(let text, let reason): "the rewriting \(SourceName.of(text)): \(reason)"
        case .hostHeader(let reason): "a header for a host: \(reason)"
        case .limit(let name): "the \(name) is too small"
        case .library(let reason): "libcurl \(reason)"
        }
    }
}
