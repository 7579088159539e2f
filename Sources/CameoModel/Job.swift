public import Foundation

/// A job as a report shows it. JSON form: `proto-json/job.schema.json`.
public struct Job: Hashable, Codable, Sendable, Identifiable {
    /// The job's number in its store.
    public let id: Int64
    /// At the moment of the look.
    public let state: JobState
    /// As requested.
    public let queue: String
    /// As requested, or raised by a request that joined.
    public let priority: Int
    /// As requested.
    public let batch: String?
    /// Attempts charged so far; the death of a worker gives its attempt back.
    public let attempt: Int
    /// After so many, a failure is final.
    public let maxAttempts: Int
    /// How often a worker died while it ran this job.
    public let crashCount: Int
    /// When its request was accepted.
    public let createdAt: Date
    /// Due from then on.
    public let availableAt: Date
    /// When its last attempt began.
    public let attemptedAt: Date?
    /// Nil until the job ends.
    public let finalizedAt: Date?
    /// The id of the worker that has it, or had it last.
    public let worker: String?
    /// The last failure, also of a job that waits for its next attempt.
    public let failure: JobFailure?
    /// The job that took the place of this one, which is cancelled: the other was waiting for the same thumbnails.
    public let supersededBy: Int64?
    /// As it was enqueued. Not yet validated: the table accepts a little more than a worker does.
    public let request: JSONValue
    /// In the order of the request's renditions; empty for a request that is invalid.
    public let thumbnails: [RequestedThumbnail]
    /// Every try, oldest first; nil where only a list of jobs was asked for.
    public let attempts: [JobAttempt]?

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
    public var source: String? {
        guard case .object(let members) = request, case .string(let source)? = members["source"] else { return nil }
        return source
    }

    /// What its producer attached to it.
    public var metadata: [String: JSONValue] {
        guard case .object(let members) = request, case .object(let data)? = members["metadata"] else { return [:] }
        return data
    }
}
