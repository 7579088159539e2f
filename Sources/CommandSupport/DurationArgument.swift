internal import ArgumentParser
internal import CameoModel
internal import Foundation

/// A length of time on the command line, as `250ms`, `30s`, `1.5h`, `7d`; a plain number means seconds.
package struct DurationArgument: Hashable, Sendable, ExpressibleByArgument {
    /// For the help of every command that takes durations.
    package static let explanation =
        "A duration is a number with a unit, as 250ms, 30s, 10m, 1.5h or 7d; without a unit it is in seconds."

    package let duration: Duration

    /// In seconds, as whoever typed it would write it: 4.35 and not 4.3499999999999996.
    package var seconds: Double { Double(duration.milliseconds) / 1_000 }

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

    /// A decimal number that is not negative and a unit (`ms`, `s`, `m`, `h`, `d`); without a unit seconds, also with an
    /// exponent. Nil for all else.
    package init?(parsing text: String) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = Self.units.first { $0.suffix == text[number.endIndex...] }?.seconds
        // Without a unit what `Double` reads, but for hexadecimal: some options took plain numbers before they knew units.
        guard unit != nil || !text.contains(where: { $0 == "x" || $0 == "X" }),
            let amount = Double(unit == nil ? text : String(number)), amount >= 0
        else { return nil }
        let seconds = amount * (unit ?? 1)
        guard seconds <= Self.longestSeconds else { return nil }
        self = .milliseconds(Int64((seconds * 1_000).rounded()))
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
