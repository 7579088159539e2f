internal import ArgumentParser
internal import CameoFetch
internal import CameoModel
internal import CameoWorker
internal import CommandSupport
internal import Foundation

/// The sources that may be read, and the limits.
struct SourceOptions: ParsableArguments {
    @Option(
        help: .value(
            "dir",
            "Allow file: sources below this folder. Repeatable. (default: the working directory unless that is /)"
        ),
        completion: .directory
    )
    var allowRoot: [String] = []

    @Option(help: .value("host", "Allow this host, with or without :port, even if its address is private. Repeatable."))
    var allowHost: [String] = []

    @Option(help: .value("network", "Allow this private network (10.1.0.0/16). Repeatable."))
    var allowNetwork: [String] = []

    @Option(help: .value("number", "Concurrent transfers, and reads of files and of the store."))
    var fetchConcurrency = WorkerConfiguration().fetchConcurrency

    @Option(help: .value("number", "Concurrent transfers from one host."))
    var hostConcurrency = FetchConfiguration().maximumConnectionsPerHost

    @Option(help: .value("size", "The largest source in bytes, after content decoding."))
    var maxSourceBytes = ByteCount(FetchConfiguration().maximumBytes)

    @Option(
        help: .value(
            "size",
            """
            The most bytes of sources in memory at once (500M, 2G), fetched or from the store; further ones wait, and \
            a larger one is fetched alone. (default: an eighth of the memory)
            """
        )
    )
    var maxBytesInFlight: ByteCount?

    @Option(help: .value("duration", "The time limit of one fetch with all its redirects."))
    var fetchTimeout = DurationArgument(FetchConfiguration().totalTimeout)

    @Option(help: .value("duration", "The time limit of connecting to a server."))
    var connectTimeout = DurationArgument(FetchConfiguration().connectTimeout)

    @Option(help: .value("size", "Give up a transfer that is slower than this, in bytes per second, for 10 seconds."))
    var lowSpeed = ByteCount(FetchConfiguration().lowSpeedBytesPerSecond)

    @Option(help: .value("number", "The most redirects of one fetch."))
    var maxRedirects = FetchConfiguration().maximumRedirects

    @Option(help: .value("url", "Use this proxy; the address guard cannot see behind it. (default: none)"))
    var proxy: String?

    func validate() throws {
        try require(fetchConcurrency, atLeast: 1, "--fetch-concurrency")
        try require(hostConcurrency, atLeast: 1, "--host-concurrency")
        try require(maxSourceBytes, atLeast: ByteCount(1), "--max-source-bytes")
        try require(maxBytesInFlight?.bytes ?? 1, atLeast: 1, atMost: .max, "--max-bytes-in-flight")
        try require(fetchTimeout, atLeast: .milliseconds(100), "--fetch-timeout")
        try require(connectTimeout, atLeast: .milliseconds(100), "--connect-timeout")
        try require(lowSpeed, atLeast: ByteCount(0), "--low-speed")
        try require(maxRedirects, atLeast: 0, "--max-redirects")
        _ = try networks()
    }

    func configuration(deniedFolder: String?, budget: ByteBudget) throws -> FetchConfiguration {
        var configuration = FetchConfiguration()
        configuration.allowedRoots = roots
        configuration.deniedDirectory = deniedFolder
        configuration.allowedHosts = allowHost
        configuration.allowedNetworks = try networks()
        configuration.maximumBytes = maxSourceBytes.bytes
        configuration.budget = budget
        configuration.maximumTransfers = fetchConcurrency
        configuration.maximumConnectionsPerHost = hostConcurrency
        configuration.totalTimeout = fetchTimeout.duration
        configuration.connectTimeout = connectTimeout.duration
        configuration.lowSpeedBytesPerSecond = lowSpeed.bytes
        configuration.maximumRedirects = maxRedirects
        configuration.proxy = proxy
        return configuration
    }

    /// The most bytes of sources in memory.
    var bytesInFlight: Int { maxBytesInFlight?.bytes ?? Machine.memory / 8 }

    private func networks() throws -> [AddressRange] {
        try allowNetwork.map { text in
            guard let range = AddressRange(text) else {
                throw ValidationError("--allow-network \(text): must be a network such as 10.1.0.0/16")
            }
            return range
        }
    }

    /// The allowed folders. A service manager starts programs in `/`, which nobody chose as a folder to read from.
    private var roots: [String] {
        guard allowRoot.isEmpty else { return allowRoot }
        let here = FileURI(path: Array(".".utf8))
        return here.path == Array("/".utf8) ? [] : [here.text]
    }
}
