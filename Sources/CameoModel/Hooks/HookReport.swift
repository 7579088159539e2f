package import Foundation

/// The deliveries of one hook. JSON form: `proto-json/hook-report.schema.json`.
package struct HookReport: Hashable, Codable, Sendable {
    /// A delivery that was given up.
    package struct Failure: Hashable, Codable, Sendable {
        package let id: String
        package let job: Int64
        /// How often it was tried.
        package let tries: Int
        /// When it was given up.
        package let failedAt: Date
        package let reason: String

        package init(id: String, job: Int64, tries: Int, failedAt: Date, reason: String) {
            self.id = id
            self.job = job
            self.tries = tries
            self.failedAt = failedAt
            self.reason = reason
        }
    }

    package let name: String
    /// Whether a live worker can deliver to it.
    package let isKnown: Bool
    /// The queues whose jobs all name the hook.
    package let queues: [String]
    package let waiting: Int
    package let running: Int
    package let delivered: Int
    package let failed: Int
    /// The age of the oldest end that waits for its delivery; nil if none waits.
    package let oldestWaitingSeconds: Double?
    /// Why the last try of a waiting delivery failed; nil if none did.
    package let trouble: String?
    /// The latest deliveries that were given up, newest first.
    package let failures: [Failure]

    package init(
        name: String,
        isKnown: Bool,
        queues: [String],
        counts: (waiting: Int, running: Int, delivered: Int, failed: Int),
        oldestWaitingSeconds: Double?,
        trouble: String?,
        failures: [Failure]
    ) {
        self.name = name
        self.isKnown = isKnown
        self.queues = queues
        (waiting, running, delivered, failed) = counts
        self.oldestWaitingSeconds = oldestWaitingSeconds
        self.trouble = trouble
        self.failures = failures
    }
}
