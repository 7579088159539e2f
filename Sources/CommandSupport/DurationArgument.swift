internal import ArgumentParser
internal import CameoModel
internal import Foundation

/// A length of time on the command line, as `250ms`, `30s`, `1.5h`, `7d`; a plain number means seconds.
package struct DurationArgument: Hashable, Sendable, ExpressibleByArgument {
    package let duration: Duration

    package init(_ duration: Duration) {
        self.duration = duration
    }

    package init?(argument: String) {
        guard let duration = Duration(parsing: argument) else { return nil }
        self.duration = duration
    }

    package var defaultValueDescription: String { duration.argument }
}

extension Duration {
    /// Units in seconds, the largest first. No month or year: they have no fixed length.
    private static let units: [(suffix: String, seconds: Double)] = [
        ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1), ("ms", 0.001),
    ]

    /// A hundred years: beyond any use, and far from where milliseconds overflow.
    private static let longestSeconds = 3_153_600_000.0

    /// A number that is not negative and a unit (`ms`, `s`, `m`, `h`, `d`); without a unit, seconds. Nil for all else.
    package init?(parsing text: String) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let suffix = text[number.endIndex...]
        guard let unit = suffix.isEmpty ? 1 : Self.units.first(where: { $0.suffix == suffix })?.seconds,
            number.first?.isNumber == true, number.last?.isNumber == true, let amount = Double(number),
            amount * unit <= Self.longestSeconds
        else { return nil }
        self = .milliseconds(Int64((amount * unit * 1_000).rounded()))
    }

    /// The shortest text that ``init(parsing:)`` reads as this duration, to the millisecond.
    package var argument: String {
        for (suffix, seconds) in Self.units {
            let length = Int(seconds * 1_000)
            if milliseconds != 0, milliseconds % length == 0 { return "\(milliseconds / length)\(suffix)" }
        }
        return "0s"
    }
}
