internal import ArgumentParser
internal import CommandSupport
internal import Logging

/// What is logged, and how.
struct LogOptions: ParsableArguments {
    /// How a line looks.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    /// How bad news must be to be told; swift-log's levels.
    enum Level: String, CaseIterable, ExpressibleByArgument {
        case trace, debug, info, notice, warning, error, critical

        var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .info }
    }

    @Option(help: ArgumentHelp("text or json. Logs go to standard error.", valueName: "format"))
    var logFormat = Format.text

    @Option(
        help: ArgumentHelp(
            "trace, debug, info, notice, warning, error or critical. (default: info; error under a progress bar)",
            valueName: "level"
        )
    )
    var logLevel: Level?

    /// As the options say; `quiet` when a progress bar is on the same terminal.
    func level(quiet: Bool) -> Logger.Level { logLevel?.level ?? (quiet ? .error : .info) }

    func logger(_ level: LiveLevel) -> Logger {
        Logger(label: "cameo-worker") { _ in
            switch logFormat {
            case .text: TextLogHandler(level)
            case .json: JSONLogHandler(level)
            }
        }
    }
}
