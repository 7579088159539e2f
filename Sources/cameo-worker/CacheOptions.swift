internal import ArgumentParser
package import CameoFetch
internal import CommandSupport

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
