internal import ArgumentParser

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

    package var defaultValueDescription: String { description }
}
