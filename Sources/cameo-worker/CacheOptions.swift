internal import ArgumentParser
internal import CameoFetch
internal import CommandSupport

/// What is kept of sources that were fetched over HTTP, and for how long.
struct CacheOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Bytes of originals kept in the store for the next who want them: 500M, 2G; the least recently used go first. \
            0 keeps none and serves none.
            """,
            valueName: "size"
        )
    )
    var maxCache = ByteCount(2 << 30)

    @Option(
        help: ArgumentHelp(
            """
            How long an answer is fresh whose server says nothing of caching: 1d, or example.com=12h for one host. \
            Repeatable. (default: what RFC 9111 lets its Last-Modified imply)
            """,
            valueName: "[host=]duration"
        )
    )
    var cacheTime: [CacheTime] = []

    @Option(
        help: ArgumentHelp(
            """
            How long past its freshness an answer may stand in for a server that answers 500, 502, 503 or 504, where the \
            answer itself does not allow it. One that cannot be reached at all needs no such leave.
            """,
            valueName: "duration"
        )
    )
    var staleIfError = DurationArgument(.zero)

    @Option(
        help: ArgumentHelp(
            """
            How long a source's failure answers the first attempts of other jobs for it. A Retry-After, or the max-age of \
            a 404, counts instead, up to 5m. 0 asks every time.
            """,
            valueName: "duration"
        )
    )
    var rememberFailures = DurationArgument(.seconds(10))

    /// Nil when nothing is to be cached.
    var budget: Int? { maxCache.bytes == 0 ? nil : maxCache.bytes }

    func configure(_ configuration: inout FetchConfiguration) {
        configuration.caching.lifetimes = cacheTime.map { CacheRules.Lifetime(host: $0.host, $0.time.duration) }
        configuration.caching.staleIfError = staleIfError.duration
        configuration.caching.failureMemory = rememberFailures.duration
    }
}

/// A time for all hosts, or for one: `1d`, `example.com=1d`.
struct CacheTime: ExpressibleByArgument {
    let host: String?
    let time: DurationArgument

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let last = parts.last, let time = DurationArgument(argument: String(last)) else { return nil }
        guard parts.count == 1 || !parts[0].isEmpty else { return nil }
        host = parts.count == 1 ? nil : String(parts[0])
        self.time = time
    }
}
