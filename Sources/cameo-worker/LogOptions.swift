internal import ArgumentParser
internal import CommandSupport
internal import Logging

/// The format and level of the log.
struct LogOptions: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    /// The levels of swift-log.
    enum Level: String, CaseIterable, ExpressibleByArgument {
        case trace, debug, info, notice, warning, error, critical

        var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .info }
    }

    @Option(help: ArgumentHelp("The log format, text or json. Logs go to standard error.", valueName: "format"))
    var logFormat = Format.text

    @Option(
        help: ArgumentHelp(
            "The lowest level logged: trace, debug, info, notice, warning, error or critical. (default: info; with a progress bar error)",
            valueName: "level"
        )
    )
    var logLevel: Level?

    /// The level of the options; `quiet` if a progress bar is on the same terminal.
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
