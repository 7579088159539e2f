public import ArgumentParser
internal import CameoModel
package import CameoSystem
internal import CommandSupport
internal import Foundation
public import Logging

/// The format and level of the log.
package struct LogOptions: ParsableArguments {
    package enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    @Option(help: "The format of the log on standard error: text or json.".taking("format"))
    package var logFormat = Format.text

    @Option(
        help: """
            The lowest level logged: trace, debug, info, notice, warning, error or critical. (default: info; error \
            with a progress bar)
            """.taking("level")
    )
    package var logLevel: Logger.Level?

    package init() {}

    /// The level that was given, or the default; `quiet` is true if a progress bar uses the same terminal.
    package func level(quiet: Bool) -> Logger.Level { logLevel ?? (quiet ? .error : .info) }

    /// Makes a logger in the chosen format whose copies share the level; `label` is the command's name. From then on neither
    /// work nor shutdown waits for whoever reads the log.
    package func logger(_ level: Live<Logger.Level>, label: String) -> Logger {
        let logger = Logger(label: label) { _ in LineLogHandler(logFormat, level) }
        Output.neverWaitForReaders { lines in
            logger.warning("log lines were dropped, because nobody read them", metadata: ["lines": "\(lines)"])
        }
        return logger
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

/// Logs each event as a line: for people `12:00:00.000 warning  will retry  job=7 code=source.timeout …`, or as JSON an
/// object with `time`, `level`, `message` and the metadata as numbers and strings.
struct LineLogHandler: LogHandler {
    let format: LogOptions.Format
    let live: Live<Logger.Level>
    private var own: Logger.Level?
    var logLevel: Logger.Level {
        get { own ?? live.value }
        set { own = newValue }
    }
    var metadata: Logger.Metadata = [:]

    init(_ format: LogOptions.Format, _ live: Live<Logger.Level>) {
        (self.format, self.live) = (format, live)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let time = WireFormat.text(of: Date())
        switch format {
        case .text:
            let fields = all.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.quoted("\($0.value)"))" }
            let level = event.level.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
            let message = TerminalText.escaped("\(event.message)")
            Output.error("\(time) \(level) \(message)  \(fields.joined(separator: " "))")
        case .json:
            var members = all.mapValues(Self.json)
            members["time"] = .string(time)
            members["level"] = .string(event.level.rawValue)
            members["message"] = .string("\(event.message)")
            Output.error(JSONValue.object(members).canonicalText)
        }
    }

    private static func quoted(_ text: String) -> String {
        let safe = TerminalText.escaped(text)
        return safe.contains(" ") ? "\"\(safe)\"" : safe
    }

    /// A value that was logged as an integer is a number; a text is a string, even if it consists of digits.
    private static func json(_ value: Logger.Metadata.Value) -> JSONValue {
        if case .stringConvertible(let value) = value, let number = value as? any BinaryInteger {
            return Int64(exactly: number).map(JSONValue.integer) ?? .string("\(number)")
        }
        return .string("\(value)")
    }
}
