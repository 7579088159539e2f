import CameoModel

/// A job in the model of the queue. Times are in milliseconds.
struct ModelJob {
    let id: Int64
    let source: Int
    let queue: String
    let concurrencyKey: String?
    let tenant: String?
    let maxAttempts: Int
    var priority: Int
    var availableAt: Int64
    var state: JobState
    var batches: Set<String>
    /// False for a row inserted by SQL that is not yet accepted.
    var isAccepted: Bool
    var attempt = 0
    var crashCount = 0
    var worker: String?
    /// The number of the current claim, from 1.
    var claims = 0
    var supersededBy: Int64?

    var waits: Bool { [.scheduled, .available, .retryable].contains(state) }
    var rank: Int64 { availableAt - Int64(priority) * 60_000 }
    /// Whether the job waits, so that requests with its unique key join it.
    var isWaiting: Bool { isAccepted && waits }
    /// What shares a lane with the job, in a queue.
    var lane: String { "\(tenant ?? concurrencyKey ?? "")/\(concurrencyKey ?? "")" }
    var uniqueKey: String { "\(queue)/\(source)" }

    /// Creates a job from the tables, as read by ``ModelRun``.
    var text: String {
        guard isAccepted else { return "\(id) arrived" }
        let duplicate = supersededBy.map(String.init) ?? "-"
        return
            "\(id) \(state.rawValue) \(priority) \(availableAt) \(attempt) \(crashCount) \(worker ?? "-") \(duplicate)"
    }
}
