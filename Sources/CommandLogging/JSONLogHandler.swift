internal import CameoModel
internal import CommandSupport
internal import Foundation
internal import Logging

/// Logs each event as a line of JSON: an object with `time`, `level`, `message` and the metadata as strings.
struct JSONLogHandler: LogHandler {
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
        var members = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { JSONValue.string("\($0)") }
        members["time"] = .string(WireFormat.text(of: Date()))
        members["level"] = .string(event.level.rawValue)
        members["message"] = .string("\(event.message)")
        Output.error(JSONValue.object(members).canonicalText)
    }
}
