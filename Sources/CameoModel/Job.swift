package import Foundation

/// A job as a report shows it. JSON form: `proto-json/job.schema.json`.
package struct Job: Hashable, Codable, Sendable {
    package let id: Int64
    package let state: JobState
    package let queue: String
    package let priority: Int
    package let batch: String?
    /// Attempts charged so far; the death of a worker gives its attempt back.
    package let attempt: Int
    package let maxAttempts: Int
    /// How often a worker died while it ran this job.
    package let crashCount: Int
    package let createdAt: Date
    /// Due from then on.
    package let availableAt: Date
    package let attemptedAt: Date?
    package let finalizedAt: Date?
    package let worker: String?
    /// The last failure, also of a job that waits for its next attempt.
    package let failure: JobFailure?
    /// The job that took the place of this one, which is cancelled: the other was waiting for the same thumbnails.
    package let supersededBy: Int64?
    /// As it was enqueued. Not yet validated: the table accepts a little more than a worker does.
    package let request: JSONValue
    /// In the order of the request's renditions; empty for a request that is invalid.
    package let thumbnails: [RequestedThumbnail]
    /// Every try, oldest first; nil where only a list of jobs was asked for.
    package let attempts: [JobAttempt]?

    package init(
        id: Int64,
        state: JobState,
        queue: String,
        priority: Int,
        batch: String?,
        attempt: Int,
        maxAttempts: Int,
        crashCount: Int,
        createdAt: Date,
        availableAt: Date,
        attemptedAt: Date?,
        finalizedAt: Date?,
        worker: String?,
        failure: JobFailure?,
        supersededBy: Int64?,
        request: JSONValue,
        thumbnails: [RequestedThumbnail],
        attempts: [JobAttempt]?
    ) {
        self.id = id
        self.state = state
        self.queue = queue
        self.priority = priority
        self.batch = batch
        self.attempt = attempt
        self.maxAttempts = maxAttempts
        self.crashCount = crashCount
        self.createdAt = createdAt
        self.availableAt = availableAt
        self.attemptedAt = attemptedAt
        self.finalizedAt = finalizedAt
        self.worker = worker
        self.failure = failure
        self.supersededBy = supersededBy
        self.request = request
        self.thumbnails = thumbnails
        self.attempts = attempts
    }

    /// The source as it stands in the request; nil if the request has none.
    package var source: String? {
        guard case .object(let members) = request, case .string(let source)? = members["source"] else { return nil }
        return source
    }
}
