package import CameoModel

/// A worker, for people to read on a terminal.
package enum WorkerText {
    /// The worker in one line. `escape` makes text from outside safe to show.
    package static func line(_ worker: StatusReport.Worker, escape: (String) -> String) -> String {
        let state = worker.isAlive ? "runs \(worker.running) of \(worker.concurrency) jobs" : "dead"
        let ending =
            switch worker.stopping {
            case .drain: ", was asked to finish and end"
            case .now: ", was asked to end now"
            case nil: ""
            }
        return
            "\(escape(worker.id)) on \(escape(worker.host)) (pid \(worker.pid), \(worker.version)): \(state)\(ending)"
    }
}
