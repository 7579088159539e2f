// DESIGN. Families one after another, each with its type and help before its samples, in two formats that differ in
// little. OpenMetrics 1.0 (https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md) also has
// units and `info`, names families of counters without `_total`, and ends with `# EOF`. The older text format of
// Prometheus (0.0.4) is all that node_exporter's textfile collector and `promtool check metrics` read. Sample names and
// labels are the same in both.

/// Numbers as Prometheus and compatible systems collect them.
package struct MetricsText: Sendable {
    /// A text format.
    package enum Format: Sendable {
        case openMetrics, prometheus

        package var mediaType: String {
            switch self {
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            }
        }
    }

    /// The kind of a family.
    package enum Kind: String, Sendable {
        /// Never decreases.
        case counter
        case gauge
        /// Always 1; the labels hold the information.
        case info
        case histogram

        fileprivate var ending: String {
            switch self {
            case .counter: "_total"
            case .info: "_info"
            case .gauge, .histogram: ""
            }
        }
    }

    /// One number of a family.
    package struct Sample: Sendable {
        fileprivate var ending = ""
        fileprivate var labels: [(name: String, value: String)]
        fileprivate let value: Double

        package init(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
            self.value = value
            self.labels = labels.map { ($0.key, $0.value) }
        }

        package init(_ value: Int, _ labels: KeyValuePairs<String, String> = [:]) {
            self.init(Double(value), labels)
        }
    }

    private struct Family: Sendable {
        let name: String
        let kind: Kind
        let unit: String?
        let help: String
        let samples: [Sample]
    }

    private var families: [Family] = []

    package init() {}

    /// Adds a family. Its name has no `_total` or `_info`, and ends with the unit if there is one; `help` is one
    /// sentence.
    package mutating func add(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String, _ samples: [Sample]) {
        families.append(Family(name: name, kind: kind, unit: unit, help: help, samples: samples))
    }

    /// The samples of a histogram: a bucket for each upper bound, the sum and the count.
    package static func histogram(
        _ buckets: [(bound: Double, count: Int)],
        sum: Double,
        count: Int,
        _ labels: KeyValuePairs<String, String>
    ) -> [Sample] {
        func sample(_ ending: String, _ value: Double, _ bound: String? = nil) -> Sample {
            var sample = Sample(value, labels)
            sample.ending = ending
            if let bound { sample.labels.append(("le", bound)) }
            return sample
        }
        // OpenMetrics writes bounds as floating point numbers: 1.0.
        return buckets.map { sample("_bucket", Double($0.count), String($0.bound)) } + [
            sample("_bucket", Double(count), "+Inf"), sample("_sum", sum), sample("_count", Double(count)),
        ]
    }

    /// The whole document.
    package func text(in format: Format) -> String {
        var lines: [String] = []
        for family in families {
            let (name, kind) = (family.name, family.kind)
            switch format {
            case .openMetrics:
                lines.append("# TYPE \(name) \(kind.rawValue)")
                if let unit = family.unit { lines.append("# UNIT \(name) \(unit)") }
                lines.append("# HELP \(name) \(Self.escaped(family.help))")
            case .prometheus:
                lines.append("# HELP \(name)\(kind.ending) \(family.help)")
                lines.append("# TYPE \(name)\(kind.ending) \((kind == .info ? Kind.gauge : kind).rawValue)")
            }
            for sample in family.samples {
                let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
                let all = labels.isEmpty ? "" : "{\(labels)}"
                lines.append("\(name)\(kind.ending)\(sample.ending)\(all) \(Self.text(of: sample.value))")
            }
        }
        if format == .openMetrics { lines.append("# EOF") }
        return lines.joined(separator: "\n") + "\n"
    }

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
