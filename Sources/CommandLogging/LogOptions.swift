package import ArgumentParser
internal import CommandSupport
package import Logging

/// The format and level of the log.
package struct LogOptions: ParsableArguments {
    /// The form of a line.
    package enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    /// The levels of swift-log.
    package enum Level: String, CaseIterable, ExpressibleByArgument {
        case trace, debug, info, notice, warning, error, critical

        var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .info }
    }

    @Option(help: ArgumentHelp("The log format, text or json. Logs go to standard error.", valueName: "format"))
    package var logFormat = Format.text

    @Option(
        help: ArgumentHelp(
            "The lowest level logged: trace, debug, info, notice, warning, error or critical. (default: info; with a progress bar error)",
            valueName: "level"
        )
    )
    package var logLevel: Level?

    package init() {}

    /// The level of the options; `quiet` if a progress bar is on the same terminal.
    package func level(quiet: Bool) -> Logger.Level { logLevel?.level ?? (quiet ? .error : .info) }

    /// The label is the command's name.
    package func logger(_ level: LiveLevel, label: String) -> Logger {
        Logger(label: label) { _ in
            switch logFormat {
            case .text: TextLogHandler(level)
            case .json: JSONLogHandler(level)
            }
        }
    }
}
