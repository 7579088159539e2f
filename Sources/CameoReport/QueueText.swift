package import CameoModel
internal import Foundation

/// A queue, for people to read on a terminal.
package enum QueueText {
    /// The queue in one line. `escape` makes text from outside safe to show.
    package static func line(_ queue: StatusReport.Queue, escape: (String) -> String) -> String {
        var parts = [JobState.available, .running, .retryable, .scheduled].map { state in
            "\(queue.jobs[state] ?? 0) \(state.rawValue)"
        }
        if let limit = queue.maxRunning { parts[1] += " of at most \(limit)" }
        if let seconds = queue.oldestWaitingSeconds { parts.append("oldest waits \(AmountText.duration(seconds))") }
        if let rate = queue.rate { parts.append("starts at most \(rate)") }
        if queue.isBackground { parts.append("background") }
        if let time = queue.opensAt { parts.append(opening(time)) }
        if queue.paused { parts.append("paused") }
        return escape(queue.name).padded(to: 12) + " " + parts.joined(separator: ", ")
    }

    /// That a queue waits for quiet hours, and until when.
    static func opening(_ time: Date) -> String { "waits for quiet hours until \(WireFormat.text(of: time))" }
}
