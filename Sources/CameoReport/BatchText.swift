package import CameoModel
internal import Foundation

/// The progress of a batch, for people to read on a terminal.
package enum BatchText {
    /// The lines of the report. `escape` makes text from outside safe to show.
    package static func lines(_ report: BatchReport, escape: (String) -> String) -> [String] {
        let share = Int(100 * Double(report.finished) / Double(max(1, report.total)))
        var lines = [
            "batch \(escape(report.name)): \(report.finished) of \(AmountText.count(report.total, "job")) "
                + "\(report.finished == 1 ? "has" : "have") ended (\(share) %)"
        ]
        for state in JobState.allCases where report.count(state) > 0 {
            lines.append("  " + state.rawValue.padded(to: 12) + String(report.count(state)).leftPadded(to: 10))
        }
        for failure in report.failures {
            lines.append("  " + failure.code.rawValue.padded(to: 24) + "\(failure.count) discarded")
        }
        if !report.isFinished {
            let rest = report.secondsLeft.map { ", about \(AmountText.duration($0)) left" } ?? ""
            lines.append("last minute: \(report.finishedLastMinute) ended\(rest)")
        }
        return lines
    }
}
