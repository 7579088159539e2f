package import ArgumentParser
internal import CommandSupport
package import Logging

/// What is logged, and how.
package struct LogOptions: ParsableArguments {
    /// How a line looks.
    package enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    /// How bad news must be to be told; swift-log's levels.
    package enum Level: String, CaseIterable, ExpressibleByArgument {
        case trace, debug, info, notice, warning, error, critical

        var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .info }
    }

    @Option(help: ArgumentHelp("text or json. Logs go to standard error.", valueName: "format"))
    package var logFormat = Format.text

    @Option(
        help: ArgumentHelp(
            "trace, debug, info, notice, warning, error or critical. (default: info; error under a progress bar)",
            valueName: "level"
        )
    )
    package var logLevel: Level?

    package init() {}

    /// As the options say; `quiet` when a progress bar is on the same terminal.
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
