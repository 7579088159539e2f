internal import ArgumentParser
internal import CameoFetch
internal import CameoModel
internal import CameoSystem
internal import CameoWorker
internal import CommandSupport
internal import Foundation

/// The sources that may be read, and the limits.
struct SourceOptions: ParsableArguments {
    @Option(
        help: """
            Allow file: sources below this folder. Repeatable. (default: the working directory unless that is /)
            """.taking("dir"),
        completion: .directory
    )
    var allowRoot: [String] = []

    @Option(help: "Allow this host, with or without :port, even if its address is private. Repeatable.".taking("host"))
    var allowHost: [String] = []

    @Option(help: "Allow this private network (10.1.0.0/16). Repeatable.".taking("network"))
    var allowNetwork: [String] = []

    @Option(help: "Concurrent transfers, and reads of files and of the store.".taking("number"))
    var fetchConcurrency = WorkerConfiguration().fetchConcurrency

    @Option(help: "Concurrent transfers from one host.".taking("number"))
    var hostConcurrency = FetchConfiguration().maximumConnectionsPerHost

    @Option(help: "The largest source in bytes, after content decoding.".taking("size"))
    var maxSourceBytes = ByteCount(FetchConfiguration().maximumBytes)

    @Option(
        help: """
            The most bytes of sources in memory at once (500M, 2G), fetched or from the store; further ones wait, and \
            a larger one is fetched alone. (default: an eighth of the memory)
            """.taking("size")
    )
    var maxBytesInFlight: ByteCount?

    @Option(
        help: """
            The time limit of one fetch with all its redirects; connect, that of connecting to a server; low-speed, the \
            bytes a second below which a transfer is given up after 10 seconds. Repeatable. (default: \
            \(FetchConfiguration().totalTimeout.argument),connect=\(FetchConfiguration().connectTimeout.argument),\
            low-speed=\(ByteCount(FetchConfiguration().lowSpeedBytesPerSecond)))
            """.taking("duration"),
        transform: Change.reading([
            NamedValue("", \.totalTimeout), NamedValue("connect", \.connectTimeout),
            NamedValue("low-speed", \.lowSpeedBytesPerSecond) { try byteCount($0) },
        ])
    )
    var fetchTimeout: [Change<FetchConfiguration>] = []

    @Option(help: "The most redirects of one fetch.".taking("number"))
    var maxRedirects = FetchConfiguration().maximumRedirects

    @Option(help: "Use this proxy; the address guard cannot see behind it. (default: none)".taking("url"))
    var proxy: String?

    func validate() throws {
        try require(fetchConcurrency, atLeast: 1, "--fetch-concurrency")
        try require(hostConcurrency, atLeast: 1, "--host-concurrency")
        try require(maxSourceBytes, atLeast: ByteCount(1), "--max-source-bytes")
        try require(maxBytesInFlight?.bytes ?? 1, atLeast: 1, atMost: .max, "--max-bytes-in-flight")
        var limits = FetchConfiguration()
        fetchTimeout.apply(to: &limits)
        try require(limits.totalTimeout, atLeast: .milliseconds(100), "--fetch-timeout")
        try require(limits.connectTimeout, atLeast: .milliseconds(100), "--fetch-timeout: connect")
        try require(ByteCount(limits.lowSpeedBytesPerSecond), atLeast: ByteCount(0), "--fetch-timeout: low-speed")
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
        fetchTimeout.apply(to: &configuration)
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
