package import CameoModel
internal import Foundation

/// A status report, for people to read on a terminal.
package enum StatusText {
    /// The lines of the report. `escape` makes text from outside safe to show.
    package static func lines(_ report: StatusReport, escape: (String) -> String) -> [String] {
        var lines = ["jobs"]
        for state in JobState.allCases {
            lines.append("  " + state.rawValue.padded(to: 12) + String(report.count(state)).leftPadded(to: 10))
        }
        lines.append("queues")
        if report.queues.isEmpty { lines.append("  none yet") }
        for queue in report.queues {
            lines.append("  " + QueueText.line(queue, escape: escape))
        }
        let finished = report.finishedLastMinute
        let rate = AmountText.rate(Double(finished.completed + finished.discarded) / 60)
        lines.append("last minute: \(finished.completed) completed, \(finished.discarded) discarded (\(rate)/s)")
        lines.append("workers")
        if report.workers.isEmpty { lines.append("  none") }
        for worker in report.workers {
            lines.append("  " + WorkerText.line(worker, escape: escape))
        }
        let size = AmountText.bytes(report.blobs.bytes)
        lines.append(
            "\(AmountText.count(report.thumbnails, "thumbnail")); \(AmountText.count(report.blobs.count, "blob")), \(size)"
        )
        lines.append(sources(report.sources))
        return lines
    }

    private static func sources(_ sources: StatusReport.Sources) -> String {
        let evicted = sources.evicted > 0 ? " (\(sources.evicted) evicted so far)" : ""
        return
            "source cache: \(AmountText.count(sources.count, "original")), \(AmountText.bytes(sources.bytes))\(evicted)"
    }
}

extension String {
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    package func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
