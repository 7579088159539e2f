internal import Foundation

/// Durations and amounts for people to read.
package enum AmountText {
    /// `850 ms`, `4.2 s`, `3 min`, `5 h`, `2 d`.
    package static func duration(_ seconds: Double) -> String {
        switch seconds {
        case ..<1: "\(Int(seconds * 1_000)) ms"
        case ..<100: String(format: "%.1f s", seconds)
        case ..<7_200: "\(Int(seconds / 60)) min"
        case ..<172_800: "\(Int(seconds / 3_600)) h"
        default: "\(Int(seconds / 86_400)) d"
        }
    }

    /// `512 B`, `3.4 KiB`, `12.0 MiB`.
    package static func bytes(_ count: Int) -> String {
        var amount = Double(count)
        var unit = "B"
        for next in ["KiB", "MiB", "GiB", "TiB"] where amount >= 1_024 {
            amount /= 1_024
            unit = next
        }
        return unit == "B" ? "\(count) B" : String(format: "%.1f %@", amount, unit)
    }

    /// `3.4`. The caller adds the unit, as in `3.4/s`.
    package static func rate(_ rate: Double) -> String { String(format: "%.1f", rate) }

    /// `1 job`, `2 jobs`; `2 retries` if the plural is given.
    package static func count(_ count: Int, _ noun: String, plural: String? = nil) -> String {
        "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
    }
}
