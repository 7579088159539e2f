package import CameoModel

/// A worker, for people to read on a terminal.
package enum WorkerText {
    /// The worker in one line. `escape` makes text from outside safe to show.
    package static func line(_ worker: StatusReport.Worker, escape: (String) -> String) -> String {
        "\(escape(worker.id)) on \(escape(worker.host)) (pid \(worker.pid), \(worker.version)): \(state(worker))"
    }

    /// What the worker does, and how it was asked to end.
    static func state(_ worker: StatusReport.Worker) -> String {
        let state = worker.isAlive ? "runs \(worker.running) of \(worker.concurrency) jobs" : "dead"
        let quiet = worker.quietHours.map { ", background jobs \($0)" } ?? ""
        let queues = worker.queues.map { ", of \($0.joined(separator: ", "))" } ?? ""
        let lacks = lacks(worker).map { ", \($0)" } ?? ""
        switch worker.stopping {
        case .drain: return "\(state), was asked to finish and end"
        case .now: return "\(state), was asked to end now"
        case nil: return state + queues + quiet + lacks
        }
    }

    /// What the worker's host cannot do: `cannot write AVIF`. What a newer version reported is shown as it stands.
    static func lacks(_ worker: StatusReport.Worker) -> String? {
        worker.lacks.map { lacks in "cannot " + lacks.map { HostLack($0)?.activity ?? $0 }.joined(separator: ", ") }
    }
}
