internal import ArgumentParser
internal import CameoModel
package import CameoWeb
internal import CommandSupport

/// Where it listens, and how it answers.
struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "HOST:PORT, :PORT for every address of the machine, or unix:PATH. Port 0: any that is free.",
            valueName: "address"
        )
    )
    var listen = ListenAddress.standard

    @Option(
        help: ArgumentHelp(
            "What every path begins with, as /cameo, where a proxy does not take it away.",
            valueName: "path"
        )
    )
    var basePath = ""

    @Option(
        help: ArgumentHelp(
            "For how long browsers and proxies may show a thumbnail before they ask again.",
            valueName: "time"
        )
    )
    var maxAge = DurationArgument(.seconds(60))

    @Option(help: ArgumentHelp("The largest picture that POST /jobs takes; up to 100M.", valueName: "size"))
    var maxUpload = ByteCount(104_857_600)

    @Option(
        help: ArgumentHelp(
            "/health/ready fails when a job has waited longer than this. (default: it may wait)",
            valueName: "time"
        )
    )
    var maxLag: DurationArgument?

    func validate() throws {
        guard basePath.isEmpty || basePath.wholeMatch(of: #/(\/[A-Za-z0-9._~-]+)+/#) != nil, !basePath.contains("/.")
        else {
            throw ValidationError("--base-path \(basePath): must be as /cameo, without a / at its end")
        }
        guard (1...104_857_600).contains(maxUpload.bytes) else {
            throw ValidationError("--max-upload \(maxUpload): must be 1 byte to 100M")
        }
    }
}

extension ListenAddress: ExpressibleByArgument {
    /// As it is written in the help.
    package init?(argument: String) { self.init(argument) }

    /// As it is written in the help.
    package var defaultValueDescription: String { description }
}
