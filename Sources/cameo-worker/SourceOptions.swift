internal import ArgumentParser
internal import CameoFetch
internal import CameoModel
internal import CommandSupport
internal import Foundation

/// The sources that may be read, and the limits.
struct SourceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Allow file: sources below this folder. Repeatable. (default: the working directory unless that is /)",
            valueName: "dir"
        ),
        completion: .directory
    )
    var allowRoot: [String] = []

    @Option(
        help: ArgumentHelp(
            "Allow this host, with or without :port, even if its address is private. Repeatable.",
            valueName: "host"
        )
    )
    var allowHost: [String] = []

    @Option(
        help: ArgumentHelp(
            "Allow this private network (10.1.0.0/16). Repeatable.",
            valueName: "network"
        )
    )
    var allowNetwork: [String] = []

    @Option(help: ArgumentHelp("Concurrent transfers, and reads of files and of the store.", valueName: "number"))
    var fetchConcurrency = 8

    @Option(help: ArgumentHelp("Concurrent transfers from one host.", valueName: "number"))
    var hostConcurrency = 6

    @Option(help: ArgumentHelp("The largest source in bytes, after content decoding.", valueName: "size"))
    var maxSourceBytes = ByteCount(100 << 20)

    @Option(
        help: ArgumentHelp(
            """
            The most bytes of sources in memory at once (500M, 2G), fetched or from the store; further ones wait, and \
            a larger one is fetched alone. (default: an eighth of the memory)
            """,
            valueName: "size"
        )
    )
    var maxBytesInFlight: ByteCount?

    @Option(help: ArgumentHelp("The time limit of one fetch with all its redirects.", valueName: "duration"))
    var fetchTimeout = DurationArgument(.seconds(30))

    @Option(help: ArgumentHelp("The time limit of connecting to a server.", valueName: "duration"))
    var connectTimeout = DurationArgument(.seconds(5))

    @Option(
        help: ArgumentHelp(
            "Give up a transfer that is slower than this, in bytes per second, for 10 seconds.",
            valueName: "size"
        )
    )
    var lowSpeed = ByteCount(1_024)

    @Option(help: ArgumentHelp("The most redirects of one fetch.", valueName: "number"))
    var maxRedirects = 5

    @Option(
        help: ArgumentHelp("Use this proxy; the address guard cannot see behind it. (default: none)", valueName: "url")
    )
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
