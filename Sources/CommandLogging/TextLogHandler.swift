internal import CameoModel
internal import CommandSupport
internal import Foundation
internal import Logging

/// Logs each event as a line for people: `12:00:00.000 warning  will retry  job=7 code=source.timeout …`.
struct TextLogHandler: LogHandler {
    let live: LiveLevel
    private var own: Logger.Level?
    var logLevel: Logger.Level {
        get { own ?? live.level }
        set { own = newValue }
    }
    var metadata: Logger.Metadata = [:]

    init(_ live: LiveLevel) {
        self.live = live
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let fields = all.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.quoted("\($0.value)"))" }
        let time = WireFormat.text(of: Date())
        let level = event.level.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
        Output.error("\(time) \(level) \(TerminalText.escaped("\(event.message)"))  \(fields.joined(separator: " "))")
    }

    private static func quoted(_ text: String) -> String {
        let safe = TerminalText.escaped(text)
        return safe.contains(" ") ? "\"\(safe)\"" : safe
    }
}
