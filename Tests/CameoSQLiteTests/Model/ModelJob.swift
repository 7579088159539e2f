import CameoModel

/// A job as the model of the queue sees it. Times are milliseconds.
struct ModelJob {
    let id: Int64
    let source: Int
    let queue: String
    let concurrencyKey: String?
    let maxAttempts: Int
    var priority: Int
    var availableAt: Int64
    var state: JobState
    var batches: Set<String>
    /// False of a row that SQL inserted and that no process has looked at.
    var isAccepted: Bool
    var attempt = 0
    var crashCount = 0
    var worker: String?
    /// Which of its claims holds, counted from 1.
    var claims = 0
    var supersededBy: Int64?

    var waits: Bool { [.scheduled, .available, .retryable].contains(state) }
    var rank: Int64 { availableAt - Int64(priority) * 60_000 }
    /// While it waits it stands for its unique key.
    var stands: Bool { isAccepted && waits }
    var uniqueKey: String { "\(queue)/\(source)" }

    /// As ``ModelRun`` reads it from the tables.
    var text: String {
        guard isAccepted else { return "\(id) arrived" }
        let duplicate = supersededBy.map(String.init) ?? "-"
        return
            "\(id) \(state.rawValue) \(priority) \(availableAt) \(attempt) \(crashCount) \(worker ?? "-") \(duplicate)"
    }
}
