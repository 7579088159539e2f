internal import ArgumentParser
internal import CameoFetch
internal import CameoModel
internal import CommandSupport
internal import Foundation

/// What goes out with HTTP requests, and where they go instead of where their sources say.
struct HTTPOptions: ParsableArguments {
    @Option(help: ArgumentHelp("HTTP connections open at once, idle ones included.", valueName: "number"))
    var maxConnections = 32

    @Option(help: ArgumentHelp("The User-Agent of requests. (default: Cameo and its version)", valueName: "text"))
    var userAgent: String?

    @Option(
        help: ArgumentHelp(
            """
            A header for every request to one host, such as 'example.com: Authorization: Bearer …'. Repeatable. The host \
            stands for https and port 443; write host:port, or http://host for plain HTTP. It is not sent on by \
            redirects, and a request's own header of the name replaces it. Everybody can see arguments in ps: secrets \
            belong into CAMEO_HOST_HEADER or --host-headers.
            """,
            valueName: "host: name: value"
        )
    )
    var hostHeader: [String] = []

    @Option(
        help: ArgumentHelp(
            "A JSON file of such headers: {\"example.com\": {\"Authorization\": \"Bearer …\"}}. (default: none)",
            valueName: "file"
        ),
        completion: .file()
    )
    var hostHeaders: String?

    @Option(
        help: ArgumentHelp(
            """
            Fetches sources and overlays that begin with the first prefix from the second instead, such as \
            http://img.example/=https://mirror.internal/img/. Repeatable; the longest prefix wins, once. The request's \
            headers go there too; --allow-host and --allow-root hold for where it leads.
            """,
            valueName: "prefix=prefix"
        )
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
        configuration.hostHeaders += try headersOfTheFile()
    }

    private func headersOfTheFile() throws -> [HostHeader] {
        guard let path = hostHeaders else { return [] }
        let data: Data
        do throws(Errno) {
            data = try InputFile.read(path)
        } catch {
            throw CommandFailure("--host-headers \(path): cannot be read: \(error)", .usage)
        }
        do throws(FetchConfigurationError) {
            return try HostHeader.list(parsing: data)
        } catch {
            throw CommandFailure("--host-headers \(path): \(error)", .usage)
        }
    }
}
