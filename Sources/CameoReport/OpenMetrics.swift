internal import Foundation

// DESIGN. https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md: families one after another,
// each with its type, unit and help before its samples; a counter's sample ends in `_total`; the last line is `# EOF`.

/// Numbers as Prometheus and its like collect them.
package struct OpenMetrics: Sendable {
    /// Of a document.
    package static let mediaType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// What a number is.
    package enum Kind: String, Sendable {
        /// Never goes back.
        case counter
        case gauge
        /// Always 1: what it tells stands in its labels.
        case info
    }

    /// One number of a family.
    package struct Sample: Sendable {
        let labels: [(name: String, value: String)]
        let value: Double

        package init(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
            self.value = value
            self.labels = labels.map { ($0.key, $0.value) }
        }

        package init(_ value: Int, _ labels: KeyValuePairs<String, String> = [:]) {
            self.init(Double(value), labels)
        }
    }

    private var lines: [String] = []

    package init() {}

    /// One family. Its name is without `_total` or `_info`, and with the unit at its end if there is one; `help` is one
    /// sentence.
    package mutating func add(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String, _ samples: [Sample]) {
        lines.append("# TYPE \(name) \(kind.rawValue)")
        if let unit { lines.append("# UNIT \(name) \(unit)") }
        lines.append("# HELP \(name) \(Self.escaped(help))")
        let ending =
            switch kind {
            case .counter: "_total"
            case .info: "_info"
            case .gauge: ""
            }
        for sample in samples {
            let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
            lines.append("\(name)\(ending)\(labels.isEmpty ? "" : "{\(labels)}") \(Self.text(of: sample.value))")
        }
    }

    /// The whole document.
    package var text: String { lines.joined(separator: "\n") + "\n# EOF\n" }

    private static func text(of value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
    }

    private static func escaped(_ text: String) -> String {
        var safe = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": safe += "\\\\"
            case "\"": safe += "\\\""
            case "\n": safe += "\\n"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}
