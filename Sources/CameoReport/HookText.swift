package import CameoModel

/// The deliveries of a hook, for people to read on a terminal.
package enum HookText {
    /// The hook in one line, and one for each of its latest failures. `escape` makes text from outside safe to show.
    package static func lines(_ report: HookReport, escape: (String) -> String) -> [String] {
        var parts = ["\(report.waiting) waiting", "\(report.delivered) delivered", "\(report.failed) failed"]
        if report.running > 0 { parts.insert("\(report.running) running", at: 1) }
        if let seconds = report.oldestWaitingSeconds {
            parts.append("oldest waits \(AmountText.duration(seconds))")
        }
        if !report.isKnown, report.waiting > 0 { parts.append("no live worker knows this hook") }
        if !report.queues.isEmpty { parts.append("for the queues \(report.queues.joined(separator: ", "))") }
        if let trouble = report.trouble { parts.append("last trouble: \(trouble)") }
        return [escape(report.name).padded(to: 12) + " " + escape(parts.joined(separator: ", "))]
            + report.failures.map { failure in
                "  \(failure.id)  job \(failure.job), given up after \(AmountText.count(failure.tries, "try", plural: "tries")): "
                    + escape(failure.reason)
            }
    }
}
