internal import ArgumentParser
internal import CameoFetch
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
