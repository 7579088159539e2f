internal import CameoModel
internal import CommandSupport
internal import Foundation
internal import Logging

/// Logs each event as a line of JSON: an object with `time`, `level`, `message` and the metadata as numbers and strings.
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
        var members = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues(Self.json)
        members["time"] = .string(WireFormat.text(of: Date()))
        members["level"] = .string(event.level.rawValue)
        members["message"] = .string("\(event.message)")
        Output.error(JSONValue.object(members).canonicalText)
    }

    /// A value that was logged as an integer is a number; a text is a string, even if it consists of digits.
    private static func json(_ value: Logger.Metadata.Value) -> JSONValue {
        if case .stringConvertible(let value) = value, let number = value as? any BinaryInteger {
            return Int64(exactly: number).map(JSONValue.integer) ?? .string("\(number)")
        }
        return .string("\(value)")
    }
}
