package import CameoModel

extension StatusReport {
    /// Why due jobs are not worked on, each with the command that helps; empty if a worker may take them.
    package var standstills: [String] {
        let waiting = queues.filter { ($0.jobs[.available] ?? 0) > 0 }
        guard !waiting.isEmpty else { return [] }
        let isWorkedOn = workers.contains { $0.isAlive && $0.stopping == nil }
        return (isWorkedOn ? [] : ["no worker runs: start cameo-worker"])
            + waiting.filter(\.paused).map { "the queue \($0.name) is paused: cameo-admin resume \($0.name)" }
    }
}
