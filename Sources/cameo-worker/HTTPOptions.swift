internal import ArgumentParser
package import CameoFetch
internal import CameoModel
internal import CommandSupport
internal import Foundation

/// The headers and destinations of HTTP requests.
struct HTTPOptions: ParsableArguments {
    @Option(help: "The most open HTTP connections, including idle ones.".taking("number"))
    var maxConnections = FetchConfiguration().maximumConnections

    @Option(help: "The User-Agent of requests. (default: Cameo and its version)".taking("text"))
    var userAgent: String?

    @Option(
        help: """
            Send a header with every request to one host: 'example.com: Authorization: Bearer …'. Repeatable. The host \
            means https and port 443; write host:port for another port or http://host for plain HTTP. Redirects do not \
            forward it, and a request's own header of the same name replaces it. Arguments are visible in ps: pass \
            secrets in CAMEO_HOST_HEADER or --host-headers.
            """.taking("host: name: value")
    )
    var hostHeader: [String] = []

    @Option(
        help: """
            A JSON file of host headers: {"example.com": {"Authorization": "Bearer …"}}. (default: none)
            """.taking("file"),
        completion: .file()
    )
    var hostHeaders: String?

    @Option(
        help: """
            Fetch sources and overlays that begin with the first prefix from the second instead: \
            http://img.example/=https://mirror.internal/img/. Repeatable; the longest prefix wins, once. The request's \
            headers are sent there too; --allow-host and --allow-root apply to the destination.
            """.taking("prefix=prefix")
    )
    var rewrite: [String] = []

    func validate() throws {
        try require(maxConnections, atLeast: 1, atMost: 10_000, "--max-connections")
    }

    func configure(_ configuration: inout FetchConfiguration) throws {
        configuration.maximumConnections = maxConnections
        if let userAgent { configuration.userAgent = userAgent }
        for text in rewrite { configuration.rewrites.append(try SourceRewrite(parsing: text)) }
        for text in hostHeader { configuration.hostHeaders.append(try HostHeader(parsing: text)) }
        guard let path = hostHeaders else { return }
        let origin = "--host-headers \(path)"
        let data = try InputFile.read(path, of: origin)
        configuration.hostHeaders += try CommandFailure.naming(origin) { try HostHeader.list(parsing: data) }
    }
}

/// The cache of sources fetched over HTTP.
struct CacheOptions: ParsableArguments {
    @Option(
        help: """
            The most bytes of originals cached in the store (500M, 2G); the least recently used are evicted first. 0 \
            disables the cache.
            """.taking("size")
    )
    var maxCache = ByteCount(2 << 30)

    @Option(
        help: """
            How long a response without caching headers stays fresh: 1d, or example.com=12h for one host. Repeatable. \
            (default: what RFC 9111 derives from Last-Modified)
            """.taking("[host=]duration")
    )
    var cacheTime: [CacheRules.Lifetime] = []

    @Option(
        help: """
            How long a stale response may be served when the server answers 500, 502, 503 or 504, unless the response \
            sets this itself. An unreachable server needs no such permission.
            """.taking("duration")
    )
    var staleIfError = CacheRules().staleIfError

    @Option(
        help: """
            How long a source's failure is reused for the first attempts of other jobs. A Retry-After, or the max-age \
            of a 404, takes precedence, up to 5m. 0 disables this.
            """.taking("duration")
    )
    var rememberFailures = CacheRules().failureMemory

    /// The cache's budget in bytes, or nil if the cache is disabled.
    var budget: Int? { maxCache.bytes == 0 ? nil : maxCache.bytes }

    func configure(_ configuration: inout FetchConfiguration) {
        configuration.caching.lifetimes = cacheTime
        configuration.caching.staleIfError = staleIfError
        configuration.caching.failureMemory = rememberFailures
    }
}

extension CacheRules.Lifetime: ExpressibleByArgument {
    /// Parses a duration for all hosts or for one: `1d`, `example.com=1d`.
    package init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let last = parts.last, let time = Duration(argument: String(last)) else { return nil }
        guard parts.count == 1 || !parts[0].isEmpty else { return nil }
        self.init(host: parts.count == 1 ? nil : String(parts[0]), time)
    }
}

extension FetchConfigurationError {
    /// The failure, naming the option at fault.
    func failure(of command: CameoWorkerCommand) -> CommandFailure {
        let option: String? =
            switch self {
            case .root: "--allow-root"
            case .host(let text): command.sources.allowHost.contains(text) ? "--allow-host" : "--cache-time"
            case .rewrite: "--rewrite"
            case .hostHeader: "--host-header"
            case .systemCall, .store, .limit, .library: nil
            }
        return CommandFailure((option.map { "\($0): " } ?? "") + description, .usage)
    }
}
