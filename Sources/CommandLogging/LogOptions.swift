package import ArgumentParser
internal import CommandSupport
package import Logging

/// The format and level of the log.
package struct LogOptions: ParsableArguments {
    /// The format of a log line.
    package enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    /// A level of swift-log.
    package enum Level: String, CaseIterable, ExpressibleByArgument {
        case trace, debug, info, notice, warning, error, critical

        var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .info }
    }

    @Option(help: ArgumentHelp("The format of the log on standard error: text or json.", valueName: "format"))
    package var logFormat = Format.text

    @Option(
        help: ArgumentHelp(
            """
            The lowest level logged: trace, debug, info, notice, warning, error or critical. (default: info; error \
            with a progress bar)
            """,
            valueName: "level"
        )
    )
    package var logLevel: Level?

    package init() {}

    /// The level that was given, or the default; `quiet` is true if a progress bar uses the same terminal.
    package func level(quiet: Bool) -> Logger.Level { logLevel?.level ?? (quiet ? .error : .info) }

    /// Makes a logger in the chosen format; `label` is the command's name. From then on neither work nor shutdown waits for
    /// whoever reads the log.
    package func logger(_ level: LiveLevel, label: String) -> Logger {
        let logger = Logger(label: label) { _ in
            switch logFormat {
            case .text: TextLogHandler(level)
            case .json: JSONLogHandler(level)
            }
        }
        Output.neverWaitForReaders { lines in
            logger.warning("log lines were dropped, because nobody read them", metadata: ["lines": "\(lines)"])
        }
        return logger
    }
}
