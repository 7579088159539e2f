public import ArgumentParser
internal import CameoModel
package import Foundation

/// A number of bytes on the command line: `500M`, `2G`, `2GiB`; the units are powers of 1,024.
package struct ByteCount: Comparable, Hashable, Sendable, ExpressibleByArgument, CustomStringConvertible {
    /// The explanation in the help of every command that takes sizes.
    package static let explanation =
        "A size is a number of bytes, or one with a unit, such as 64K, 500M or 2G (powers of 1,024; 2GiB is the same)."

    package let bytes: Int

    package init(_ bytes: Int) {
        self.bytes = bytes
    }

    package init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let units = ["": 0, "B": 0, "K": 10, "M": 20, "G": 30, "T": 40]
        var unit = argument.dropFirst(digits.count).uppercased()
        if unit.count == 3, unit.hasSuffix("IB") { unit = String(unit.prefix(1)) }
        guard let number = Int(digits), let shift = units[unit], number <= Int.max >> shift else { return nil }
        bytes = number << shift
    }

    package static func < (one: ByteCount, other: ByteCount) -> Bool { one.bytes < other.bytes }

    /// The number in the largest unit that divides it.
    package var description: String {
        for (unit, shift) in [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)]
        where bytes > 0 && bytes % (1 << shift) == 0 {
            return "\(bytes >> shift)\(unit)"
        }
        return "\(bytes)"
    }
}

/// A duration on the command line, such as `250ms`, `30s`, `1.5h` or `7d`; a plain number means seconds.
extension Duration: @retroactive ExpressibleByArgument {
    /// The explanation in the help of every command that takes durations.
    package static let explanation =
        "A duration is a number with a unit, such as 250ms, 30s, 10m, 1.5h or 7d; without a unit it is in seconds."

    /// The duration in seconds as it was typed: 4.35 and not 4.3499999999999996.
    package var typedSeconds: Double { Double(milliseconds) / 1_000 }

    /// Reads it as ``init(parsing:)`` does.
    public init?(argument: String) { self.init(parsing: argument) }

    /// The shortest text that is read as this duration.
    public var defaultValueDescription: String { argument }

    /// The units in seconds, largest first. There is no month or year, which have no fixed length.
    private static let units: [(suffix: String, seconds: Double)] = [
        ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1), ("ms", 0.001),
    ]

    /// A hundred years: beyond any use, and far below an overflow of milliseconds.
    private static let longestSeconds = 3_153_600_000.0

    /// Parses a non-negative decimal number with a unit (`ms`, `s`, `m`, `h`, `d`). Without a unit it is in seconds and
    /// may have an exponent. Nil for anything else.
    package init?(parsing text: String) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = Self.units.first { $0.suffix == text[number.endIndex...] }?.seconds
        // Without a unit, accept what `Double` reads except hexadecimal, as some options did before they had units.
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

/// A point in time on the command line: `2030-01-31T12:00:00Z`, or so long from now (`10m`).
package struct TimeArgument: ExpressibleByArgument {
    package let date: Date

    package init?(argument: String) {
        let later = Duration(argument: argument).map { Date.now.addingTimeInterval($0.seconds) }
        guard let date = later ?? WireFormat.date(from: argument) else { return nil }
        self.date = date
    }
}

/// An earlier point in time on the command line: `2030-01-31T12:00:00Z`, or so long ago (`90d`).
package enum PastTime {
    /// - Returns: nil if there is no text.
    /// - Throws: `ValidationError`, which names the option.
    package static func date(_ text: String?, of option: String) throws -> Date? {
        guard let text else { return nil }
        if let age = Duration(argument: text) { return Date.now.addingTimeInterval(-age.typedSeconds) }
        guard let time = WireFormat.date(from: text) else {
            throw ValidationError(
                "\(option) \(text): must be a time such as 2030-01-31T12:00:00Z, or a duration such as 90d"
            )
        }
        return time
    }
}
