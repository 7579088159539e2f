internal import ArgumentParser
internal import CameoFetch
internal import CommandSupport
internal import Foundation

/// Which sources may be read, and within which limits.
struct SourceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folders below which file: sources may be read. Repeatable. (default: the working directory unless that is /)",
            valueName: "dir"
        ),
        completion: .directory
    )
    var allowRoot: [String] = []

    @Option(
        help: ArgumentHelp(
            "A host that may be fetched from although its address is private, with or without :port. Repeatable.",
            valueName: "host"
        )
    )
    var allowHost: [String] = []

    @Option(
        help: ArgumentHelp(
            "A private network that may be fetched from: 10.1.0.0/16. Repeatable.",
            valueName: "network"
        )
    )
    var allowNetwork: [String] = []

    @Option(help: ArgumentHelp("Transfers at once; and reads of files and of the store.", valueName: "number"))
    var fetchConcurrency = 8

    @Option(help: ArgumentHelp("Transfers at once from one host.", valueName: "number"))
    var hostConcurrency = 6

    @Option(help: ArgumentHelp("Bytes of one source, after content decoding.", valueName: "size"))
    var maxSourceBytes = ByteCount(100 << 20)

    @Option(
        help: ArgumentHelp(
            """
            Bytes of sources in memory at once, fetched or from the store: 500M, 2G; more wait. A larger one goes alone. \
            (default: an eighth of the memory)
            """,
            valueName: "size"
        )
    )
    var maxBytesInFlight: ByteCount?

    @Option(help: ArgumentHelp("How long one fetch with all its redirects may take.", valueName: "duration"))
    var fetchTimeout = DurationArgument(.seconds(30))

    @Option(help: ArgumentHelp("How long it may take to reach a server.", valueName: "duration"))
    var connectTimeout = DurationArgument(.seconds(5))

    @Option(
        help: ArgumentHelp("Bytes a second below which a transfer is given up after 10 seconds.", valueName: "size")
    )
    var lowSpeed = ByteCount(1_024)

    @Option(help: ArgumentHelp("Redirects of one fetch.", valueName: "number"))
    var maxRedirects = 5

    @Option(
        help: ArgumentHelp("A proxy's URL; the address guard cannot see behind it. (default: none)", valueName: "url")
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

    func configuration(store: String, budget: ByteBudget) throws -> FetchConfiguration {
        var configuration = FetchConfiguration()
        configuration.allowedRoots = roots
        configuration.deniedDirectory = store
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

    /// How many bytes of sources may be in memory.
    var bytesInFlight: Int { maxBytesInFlight?.bytes ?? MachineMemory.bytes / 8 }

    private func networks() throws -> [AddressRange] {
        try allowNetwork.map { text in
            guard let range = AddressRange(text) else {
                throw ValidationError("--allow-network \(text): must be a network such as 10.1.0.0/16")
            }
            return range
        }
    }

    /// A service manager starts programs in `/`: that is nobody's choice of what may be read.
    private var roots: [String] {
        guard allowRoot.isEmpty else { return allowRoot }
        let here = FileManager.default.currentDirectoryPath
        return here == "/" ? [] : [here]
    }
}
